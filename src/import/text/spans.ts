import { isPair, type Pair, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml';
import { afterComments, contentEnd, lineEnd } from './append.ts';
import type { ManifestText } from './manifest-text.ts';
import { type Edit, hasComments } from './patch.ts';

/** Part of a text; the end is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** New order of parts of a text: the part with the index `order[0]` comes first. */
export interface Reordering {
  readonly pieces: readonly Span[];
  readonly order: readonly number[];
}

/**
 * Returns each item of a list with its comments: on its lines, inside it, and right above it. Other text between two
 * items, such as an empty line and a comment above it, belongs to neither. Null if items cannot be separated by lines.
 */
export function itemSpans(text: string, list: YAMLSeq.Parsed): readonly Span[] | null {
  if (list.flow === true) {
    return hasComments(list) ? null : list.items.map(({ range }) => ({ from: range[0], to: range[1] }));
  }
  const pieces = list.items.map((item) => linesOf(text, item, item));
  return pieces.some((piece) => piece === null) ? null : (pieces as Span[]);
}

/** Returns the edit that removes the entry or list item at an offset. Null if it cannot be removed on its own. */
export function removalAt(manifest: ManifestText, offset: number): Edit | null {
  const { text } = manifest;
  const item = manifest.itemAt(offset);
  const { holder, index } = item ?? manifest.keyAt(offset) ?? { holder: null, index: 0 };
  if (holder === null || holder.items.length < 2) {
    // Removing the last item would need another notation for the empty list or section.
    return null;
  }
  const [first, last] = endsOf(holder, index);
  if (holder.flow !== true) {
    const lines = linesOf(text, first, last);
    return lines === null ? null : { ...lines, text: '' };
  }
  if (manifest.hasComments(holder)) {
    return null;
  }
  const to = endOf(holder, index);
  return index === 0
    ? { from: first.range[0], to: endsOf(holder, 1)[0].range[0], text: '' }
    : { from: endOf(holder, index - 1), to, text: '' };
}

/** Returns the first and last node of an entry. */
function endsOf(holder: YAMLMap.Parsed | YAMLSeq.Parsed, index: number): readonly [ParsedNode, ParsedNode] {
  const entry = holder.items[index];
  if (isPair(entry)) {
    const { key, value } = entry as Pair<ParsedNode, ParsedNode | null>;
    return [key, value ?? key];
  }
  return [entry as ParsedNode, entry as ParsedNode];
}

function endOf(holder: YAMLMap.Parsed | YAMLSeq.Parsed, index: number): number {
  const [first, last] = endsOf(holder, index);
  return Math.max(first.range[1], last.range[1]);
}

/** Returns the lines from one node to another, with the comments right above them. */
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

/** Applies all edits and reorders all parts. Edits and orders may be nested in parts. */
export function applyEdits(text: string, edits: readonly Edit[], orders: readonly Reordering[]): string {
  return new Arrangement(text, edits, orders).render(0, text.length);
}

type Step = Edit & { readonly order: Reordering | null };

class Arrangement {
  readonly #text: string;
  readonly #newline: string;
  /** Steps by start, longest first. */
  readonly #steps: readonly Step[];

  constructor(text: string, edits: readonly Edit[], orders: readonly Reordering[]) {
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
    ].toSorted((a, b) => a.from - b.from || b.to - a.to);
  }

  /** Renders a part with its outermost steps; steps inside a reordered part are applied with it. */
  render(from: number, to: number): string {
    const done: string[] = [];
    let at = from;
    let isInserted = true;
    for (let index = this.#firstFrom(from); index < this.#steps.length; index += 1) {
      const step = this.#steps[index] as Step;
      if (step.from > to) {
        break;
      }
      const isNested = step.from < at || (step.from === at && step.to === at && !isInserted);
      if (isNested || !isInside(step, { from, to })) {
        continue;
      }
      done.push(this.#text.slice(at, step.from));
      done.push(step.order === null ? step.text.replace(/\r?\n/g, this.#newline) : this.#ordered(step.order));
      at = step.to;
      // An insertion at the end of a longer piece belongs to that.
      isInserted = step.from === step.to;
    }
    done.push(this.#text.slice(at, to));
    return done.join('');
  }

  #firstFrom(from: number): number {
    let [low, high] = [0, this.#steps.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#steps[middle]?.from ?? 0) < from) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Text between pieces stays where it is. */
  #ordered({ pieces, order }: Reordering): string {
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

/** An insertion between two pieces belongs to the end of the first. */
function isInside(step: Span, { from, to }: Span): boolean {
  const isAfterStart = step.from > from || (step.from === from && (step.to > from || from === 0));
  return isAfterStart && step.to <= to;
}

/** Returns true if two parts overlap and neither contains the other. */
export function overlaps(one: Span, other: Span): boolean {
  const isApart = one.to <= other.from || other.to <= one.from;
  return !isApart && !contains(one, other) && !contains(other, one);
}

function contains(outer: Span, inner: Span): boolean {
  return outer.from <= inner.from && outer.to >= inner.to && outer.to - outer.from > inner.to - inner.from;
}
