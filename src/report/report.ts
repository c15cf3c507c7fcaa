/** Result of a check of manifests. */
import type { Problem } from '../core/errors.ts';

/** Result of a check of manifests. Paths are relative to the repository's root, with forward slashes. */
export interface Report {
  /** All manifests, including those without a problem. */
  readonly files: readonly string[];
  readonly problems: readonly Problem[];
  /** Probable mistakes, which do not fail the check. */
  readonly warnings: readonly Problem[];
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

/** Rule of problems that are not about a resource: files, YAML, sections. */
export const MANIFEST_RULE: Rule = { id: 'manifest', description: 'Manifests must be readable.' };

/** Returns the rule of a problem: that of the kind in its address, otherwise that of manifests. */
export function ruleOf(problem: Problem, rules: readonly Rule[]): Rule {
  const kind = problem.address.split('/', 1)[0];
  return rules.find(({ id }) => id === kind) ?? MANIFEST_RULE;
}
