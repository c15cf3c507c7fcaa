/** Checks of the variables in change request templates. */
import { didYouMean } from '../core/text/suggest.ts';
import { parseTemplate } from '../core/text/template.ts';

/** Variables that produce one line of text, for subjects and descriptions. */
export const LINE_NAMES = [
  'label',
  'id',
  'impact',
  'impactMeaning',
  'trend',
  'issues',
  'conversations',
  'sources',
  'since',
  'url',
] as const;
/** Variables that produce blocks of Markdown, for descriptions only. */
export const BLOCK_NAMES = ['summary', 'issueList', 'pageList'] as const;

/** All variables that a description may contain. */
export const TEMPLATE_NAMES = [...LINE_NAMES, ...BLOCK_NAMES] as const;

export type LineName = (typeof LINE_NAMES)[number];
export type BlockName = (typeof BLOCK_NAMES)[number];

/** A problem in a template. `at` is its offset in the template; the message contains the solution. */
export interface TemplateProblem {
  readonly at: number;
  readonly message: string;
}

/** Returns the problems of a template that may contain the variables `names`. */
export function templateProblems(template: string, names: readonly string[]): readonly TemplateProblem[] {
  const { parts, unclosed } = parseTemplate(template);
  const unknown = parts.flatMap(({ name, at }) =>
    name === undefined || names.includes(name) ? [] : [{ at, message: unknownName(name, names) }],
  );
  return unclosed === null ? unknown : [...unknown, { at: unclosed, message: 'has {{ without }} on the same line' }];
}

function unknownName(name: string, names: readonly string[]): string {
  return `uses {{${name}}}, which is not a known variable${didYouMean(name, names, `; valid variables: ${names.join(', ')}`)}`;
}
