/** Times in pages: ages in words, with the exact time. */
import { html } from 'hono/html';
import { ageWords } from '../../views/model/words.ts';
import type { Html } from '../page.ts';

/** Returns `2 minutes ago`, or `in 5 minutes` for a time to come. `at` is ISO 8601; null: `never`. */
export function age(at: string | null, now: number): Html {
  const time = at === null ? Number.NaN : Date.parse(at);
  if (at === null || Number.isNaN(time)) {
    return html`<span class="faint">never</span>`;
  }
  return html`<time datetime="${at}" title="${at}">${ageWords(time, now)}</time>`;
}
