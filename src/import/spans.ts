import { isMap, isScalar, type ParsedNode, visit, type YAMLMap, type YAMLSeq } from 'yaml';
import { afterComments, contentEnd, lineEnd } from './append.ts';
import { type Edit, hasComments } from './patch.ts';

/** A piece of a text, its end excluded. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Pieces of a text that stand in another order: the first place is taken by that of `pieces` whose index is `order[0]`. */
export interface Order {
  readonly pieces: readonly Span[];
  readonly order: readonly number[];
}

/** The list that has an item which begins at an offset. */
export function listWith(contents: ParsedNode | null, offset: number): YAMLSeq.Parsed | null {
  let found: YAMLSeq.Parsed | null = null;
  visit(contents, {
    Seq: (_key, node) => {
      if (node.items.some((item) => isMap(item) && item.range?.[0] === offset)) {
        found = node as YAMLSeq.Parsed;
        return visit.BREAK;
      }
      return undefined;
    },
  });
  return found;
}

/**
 * Each item of a list with the comments that are its own: on its lines, inside of it, and right above it. What is between
 * two items otherwise, such as an empty line and a comment above that, is nobody's. Null where items cannot be told apart
 * by their lines.
 */
export function piecesOf(text: string, list: YAMLSeq.Parsed): readonly Span[] | null {
  if (list.flow === true) {
    return hasComments(list) ? null : list.items.map(({ range }) => ({ from: range[0], to: range[1] }));
  }
  const pieces = list.items.map((item) => linesOf(text, item, item));
  return pieces.some((piece) => piece === null) ? null : (pieces as Span[]);
}

/** How an entry, or an item of a list, that begins at an offset is taken out. Null where it cannot be by itself. */
export function removalAt(text: string, contents: ParsedNode | null, offset: number): Edit | null {
  const list = listWith(contents, offset);
  if (list !== null) {
    const index = list.items.findIndex(({ range }) => range[0] === offset);
    const pieces = piecesOf(text, list);
    return pieces === null ? null : cut(pieces, index, list);
  }
  const holder = mapWith(contents, offset);
  if (holder === null) {
    return null;
  }
  const index = holder.items.findIndex(({ key }) => key.range[0] === offset);
  const pieces =
    holder.flow === true
      ? holder.items.map(({ key, value }) => ({ from: key.range[0], to: Math.max(key.range[1], value?.range[1] ?? 0) }))
      : holder.items.map(({ key, value }) => linesOf(text, key, value ?? key));
  const isWhole = !pieces.includes(null) && !(holder.flow === true && hasComments(holder));
  return isWhole ? cut(pieces as Span[], index, holder) : null;
}

function mapWith(contents: ParsedNode | null, offset: number): YAMLMap.Parsed | null {
  let found: YAMLMap.Parsed | null = null;
  visit(contents, {
    Map: (_key, node) => {
      if (node.items.some(({ key }) => isScalar(key) && key.range?.[0] === offset)) {
        // The innermost: a mapping begins where its first key does.
        found = node as YAMLMap.Parsed;
      }
    },
  });
  return found;
}

/** The lines of what begins with one node and ends with another, and comments right above them. */
function linesOf(text: string, first: ParsedNode, last: ParsedNode): Span | null {
  const start = text.lastIndexOf('\n', first.range[0] - 1) + 1;
  const before = text.slice(start, first.range[0]);
  const indent = /^( *)(?:- *)?$/.exec(before)?.[1]?.length;
  if (indent === undefined) {
    return null;
  }
  const end = contentEnd(last);
  const own = end > 0 && text[end - 1] === '\n' ? end : lineEnd(text, end);
  return { from: withCommentsAbove(text, start, indent), to: afterComments(text, own, indent + 1) };
}

function withCommentsAbove(text: string, start: number, indent: number): number {
  let from = start;
  while (from > 0) {
    const above = text.lastIndexOf('\n', from - 2) + 1;
    const comment = /^( *)#/.exec(text.slice(above, from));
    if (comment === null || (comment[1] ?? '').length !== indent) {
      break;
    }
    from = above;
  }
  return from;
}

function cut(pieces: readonly Span[], index: number, holder: YAMLMap.Parsed | YAMLSeq.Parsed): Edit | null {
  const [piece, before, after] = [pieces[index], pieces[index - 1], pieces[index + 1]];
  if (piece === undefined || (before === undefined && after === undefined)) {
    // A list or a section with nothing in it is written otherwise.
    return null;
  }
  if (holder.flow !== true) {
    return { ...piece, text: '' };
  }
  const span =
    before === undefined ? { from: piece.from, to: after?.from ?? piece.to } : { from: before.to, to: piece.to };
  return { ...span, text: '' };
}

/** The text with all edits made and all pieces in their new order; edits may lie inside of pieces, and orders too. */
export function arranged(text: string, edits: readonly Edit[], orders: readonly Order[]): string {
  return new Arrangement(text, edits, orders).render(0, text.length);
}

type Step = Edit & { readonly order: Order | null };

class Arrangement {
  readonly #text: string;
  readonly #newline: string;
  readonly #steps: readonly Step[];

  constructor(text: string, edits: readonly Edit[], orders: readonly Order[]) {
    this.#text = text;
    this.#newline = text.includes('\r\n') ? '\r\n' : '\n';
    this.#steps = [
      ...edits.map((edit) => ({ ...edit, order: null })),
      ...orders.map((order) => ({
        from: order.pieces[0]?.from ?? 0,
        to: order.pieces.at(-1)?.to ?? 0,
        text: '',
        order,
      })),
    ];
  }

  render(from: number, to: number): string {
    const inside = this.#steps.filter((step) => isInside(step, { from, to }));
    const outermost = inside.filter((step) => !inside.some((other) => other !== step && contains(other, step)));
    let at = from;
    let done = '';
    for (const step of outermost.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
      done += this.#text.slice(at, step.from);
      done += step.order === null ? step.text.replace(/\r?\n/g, this.#newline) : this.#ordered(step.order);
      at = step.to;
    }
    return done + this.#text.slice(at, to);
  }

  /** What is between pieces stays where it is. */
  #ordered({ pieces, order }: Order): string {
    const parts = pieces.map(({ from, to }) => this.render(from, to));
    const isLines = pieces.slice(1).every(({ from }) => this.#text[from - 1] === '\n');
    const whole = pieces.map(({ to }, index) => {
      const part = parts[order[index] ?? index] ?? '';
      const gap = this.#text.slice(to, pieces[index + 1]?.from ?? to);
      return `${part}${isLines && part !== '' && !part.endsWith('\n') ? this.#newline : ''}${gap}`;
    });
    const hasEnd = !isLines || this.#text[(pieces.at(-1)?.to ?? 0) - 1] === '\n';
    return hasEnd ? whole.join('') : whole.join('').replace(/\r?\n$/, '');
  }
}

/** What is put in between two pieces is at the end of the first. */
function isInside(step: Span, { from, to }: Span): boolean {
  const isAfterStart = step.from > from || (step.from === from && (step.to > from || from === 0));
  return isAfterStart && step.to <= to;
}

/** Whether two pieces have something in common, and neither lies inside the other. */
export function overlaps(one: Span, other: Span): boolean {
  const isApart = one.to <= other.from || other.to <= one.from;
  return !isApart && !contains(one, other) && !contains(other, one);
}

function contains(outer: Span, inner: Span): boolean {
  return outer.from <= inner.from && outer.to >= inner.to && outer.to - outer.from > inner.to - inner.from;
}
