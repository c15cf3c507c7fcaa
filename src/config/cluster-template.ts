import { didYouMean } from '../core/text/suggest.ts';
import { parseTemplate } from '../core/text/template.ts';

/** The names that stand for a line of text: the subject and the description may hold them. */
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
/** The names that stand for whole blocks: only the description may hold them. */
export const BLOCK_NAMES = ['summary', 'issueList', 'pageList'] as const;

/** The names that a description may hold. */
export const TEMPLATE_NAMES = [...LINE_NAMES, ...BLOCK_NAMES] as const;

export type LineName = (typeof LINE_NAMES)[number];
export type BlockName = (typeof BLOCK_NAMES)[number];

/** Something that is wrong with a template. `at` is the offset in it; the message holds what would be right. */
export interface TemplateProblem {
  readonly at: number;
  readonly message: string;
}

/** All that is wrong with a template that may hold these names. */
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
