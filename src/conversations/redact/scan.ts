import { type Finder, type Found, settle } from './found.ts';
import { viewOf } from './view.ts';

/** What a scan looks for, and what it leaves. */
export interface Scan {
  /** In order: where two find the same, the first one names it. */
  readonly finders: readonly Finder[];
  readonly isAllowed: (found: Found) => boolean;
}

/** Rounds at most: each finds what only shows once something beside it is gone. Two are usual, more is a made-up text. */
const ROUNDS = 16;

/**
 * All that is to be taken out of a text, in order and apart. Looked for again in what remains, until nothing is found:
 * so that redacting what is redacted changes nothing.
 */
export function scanText(text: string, { finders, isAllowed }: Scan): readonly Found[] {
  let spans: readonly Found[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const draft = draftOf(text, spans);
    const view = viewOf(draft.text);
    const all = finders.flatMap((find) => find(view.text));
    const allowed = all.filter((found) => isAllowed(found));
    const wanted = allowed.length === 0 ? all : all.filter((found) => !isAllowed(found));
    const fresh = settle(wanted, allowed, view.text);
    if (fresh.length === 0) {
      return spans;
    }
    const placed = fresh.map((found) => {
      const { start, end } = view.place(found.start, found.end);
      return { ...found, start: draft.origin(start), end: draft.origin(end - 1) + 1 };
    });
    spans = [...spans, ...placed].sort((a, b) => a.start - b.start);
  }
  return spans;
}

/** A text with its spans replaced, each by the same placeholder, and where its other characters come from. */
function draftOf(text: string, spans: readonly Found[]): { readonly text: string; origin(at: number): number } {
  const drafted = replaceSpans(text, spans, ({ label }) => `[${label}_1]`);
  const starts: { readonly draft: number; readonly origin: number }[] = [{ draft: 0, origin: 0 }];
  let shift = 0;
  for (const { start, end, label } of spans) {
    shift += label.length + 4 - (end - start);
    starts.push({ draft: end + shift, origin: end });
  }
  return {
    text: drafted,
    origin(at) {
      let low = 0;
      let high = starts.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if ((starts[middle]?.draft ?? 0) <= at) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      const piece = starts[low] ?? { draft: 0, origin: 0 };
      return piece.origin + at - piece.draft;
    },
  };
}

/** A text with each span replaced. Spans are in order and apart. */
export function replaceSpans<S extends { readonly start: number; readonly end: number }>(
  text: string,
  spans: readonly S[],
  by: (span: S) => string,
): string {
  const pieces: string[] = [];
  let from = 0;
  for (const span of spans) {
    pieces.push(text.slice(from, span.start), by(span));
    from = span.end;
  }
  return pieces.join('') + text.slice(from);
}
