/** Links between the pages of a list. */
import { html } from 'hono/html';
import type { Html } from '../page.ts';
import { link } from './link.ts';

/** Returns links to the first and the next page. Null: this is the first, or the last one. */
export function paging(first: string | null, next: string | null, what: string): Html {
  if (first === null && next === null) {
    return html``;
  }
  return html`<nav class="paging" aria-label="Pages of ${what}">
${first === null ? '' : link(first, 'First page')}
${next === null ? '' : link(next, 'Next page')}
</nav>`;
}
