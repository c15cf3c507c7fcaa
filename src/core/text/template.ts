/** Templates with `{{name}}` placeholders. */
import { didYouMean } from './suggest.ts';

/** Part of a template: literal text, or a name to replace by its value. `at` is an offset in the template. */
export type TemplatePart =
  | { readonly text: string; readonly name?: undefined; readonly at: number }
  | { readonly name: string; readonly text?: undefined; readonly at: number };

/** Parsed template. `unclosed` is the offset of the first `{{` without a `}}`; null if there is none. */
export interface Template {
  readonly parts: readonly TemplatePart[];
  readonly unclosed: number | null;
}

/** Placeholder on one line; spaces around the name are ignored. */
const PLACE = /\{\{[ \t]*([^{}\r\n]*?)[ \t]*\}\}/g;

/** Parses a template with `{{name}}` placeholders. The caller checks the names. */
export function parseTemplate(template: string): Template {
  const parts: TemplatePart[] = [];
  let unclosed: number | null = null;
  const literal = (from: number, to: number) => {
    const text = template.slice(from, to);
    const open = text.indexOf('{{');
    unclosed ??= open < 0 ? null : from + open;
    if (text !== '') {
      parts.push({ text, at: from });
    }
  };
  let from = 0;
  for (const match of template.matchAll(PLACE)) {
    literal(from, match.index);
    parts.push({ name: match[1] ?? '', at: match.index });
    from = match.index + match[0].length;
  }
  literal(from, template.length);
  return { parts, unclosed };
}

/** Returns the problems of a template that may contain the variables `names`, with their offsets in it. */
export function templateProblems(template: string, names: readonly string[]) {
  const { parts, unclosed } = parseTemplate(template);
  const unknown = parts.flatMap(({ name, at }) =>
    name === undefined || names.includes(name) ? [] : [{ at, message: unknownName(name, names) }],
  );
  return unclosed === null ? unknown : [...unknown, { at: unclosed, message: 'has {{ without }} on the same line' }];
}

function unknownName(name: string, names: readonly string[]): string {
  return `uses {{${name}}}, which is not a known variable${didYouMean(name, names, `; valid variables: ${names.join(', ')}`)}`;
}
