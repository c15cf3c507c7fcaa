/** Small parts of pages: times, states, tables and links between pages of a list. */
import { html } from 'hono/html';
import type { Freshness } from '../../views/freshness.ts';
import { ageWords, spanWords } from '../../views/model/words.ts';
import type { Html } from '../page.ts';
import { link, queryOf } from './link.ts';

/** Meaning of a state. The stylesheet has a color for each; the word of the state says the same. */
export type StateTone = 'good' | 'wait' | 'bad' | 'calm';

/** Renders a state as a word. */
export function badge(tone: StateTone, word: string): Html {
  return html`<span class="badge tone-${tone}">${word}</span>`;
}

/** Renders the age of a time, such as `2 minutes ago`. `at` is ISO 8601. */
export function age(at: string, now: number): Html {
  return html`<time datetime="${at}">${ageWords(Date.parse(at), now)}</time>`;
}

/** Renders when something was observed, and says so if that is too long ago. */
export function observed({ asOf, ageSeconds, isStale }: Freshness, now: number, never: string): Html {
  if (asOf === null || ageSeconds === null) {
    return html`${never}`;
  }
  return isStale
    ? html`<time class="stale" datetime="${asOf}">not for ${spanWords(ageSeconds * 1000)}</time>`
    : age(asOf, now);
}

/** Renders a table that scrolls on narrow screens. `label`: its name. */
export function table(
  label: string,
  columns: readonly string[],
  rows: readonly (readonly (Html | string | number)[])[],
): Html {
  const head = columns.map((column) => html`<th scope="col">${column}</th>`);
  const body = rows.map(([first = '', ...others]) => {
    const cells = others.map((cell) => html`<td>${typeof cell === 'number' ? cell.toLocaleString('en') : cell}</td>`);
    return html`<tr><th scope="row">${first}</th>${cells}</tr>`;
  });
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${label}"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** Renders the links to the pages before and after this one; null: there is none. */
export function pager(before: Readonly<Record<string, string | number | null>> | null, after: typeof before): Html {
  if (before === null && after === null) {
    return html``;
  }
  const item = (query: typeof before, text: string) =>
    query === null ? '' : html`<li>${link(queryOf(query) || '?', text)}</li>`;
  return html`<nav class="pager" aria-label="Pages of the list"><ul>${item(before, 'Previous')}${item(after, 'Next')}</ul></nav>`;
}

/** Reads a number from a query; `otherwise` if it is missing or not a whole number. */
export function wholeNumber<T>(text: string | undefined, otherwise: T): number | T {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : otherwise;
}
