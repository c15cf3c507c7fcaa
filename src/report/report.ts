import type { Problem } from '../core/errors.ts';

/** Result of a check of manifests. Paths are relative to the repository's root, with forward slashes. */
export interface Report {
  /** All manifests, those without a problem included. */
  readonly files: readonly string[];
  readonly problems: readonly Problem[];
}

/** The tool that reports. */
export interface Tool {
  readonly version: string;
  /** One for each kind of resource. */
  readonly rules: readonly Rule[];
}

export interface Rule {
  readonly id: string;
  /** One sentence. */
  readonly description: string;
}

/** The rule of problems that concern no resource: files, YAML, sections. */
export const MANIFEST_RULE: Rule = { id: 'manifest', description: 'Manifests must be readable.' };

/** The rule a problem breaks: that of the kind its address names, else that of manifests. */
export function ruleOf(problem: Problem, rules: readonly Rule[]): Rule {
  const kind = problem.address.split('/', 1)[0];
  return rules.find(({ id }) => id === kind) ?? MANIFEST_RULE;
}
