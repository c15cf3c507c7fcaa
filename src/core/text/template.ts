/** A piece of a template: text that stays as it is, or a name whose value is put there. Offsets are in the template. */
export type TemplatePart =
  | { readonly text: string; readonly name?: undefined; readonly at: number }
  | { readonly name: string; readonly text?: undefined; readonly at: number };

/** A template in pieces, in their order. `unclosed` is where a `{{` stands that nothing closes; null: nowhere. */
export interface Template {
  readonly parts: readonly TemplatePart[];
  readonly unclosed: number | null;
}

/** What stands between two braces, on one line; spaces around the name do not count. */
const PLACE = /\{\{[ \t]*([^{}\r\n]*?)[ \t]*\}\}/g;

/** Takes `{{name}}` apart. Whether a name is known is its caller's to say. */
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
