/** Tables in pages: with a caption and column headings, scrolled on their own where they are too wide, and divided into pages. */
import { html } from 'hono/html';
import type { Html } from '../page.ts';
import { link } from './link.ts';

export interface TableOptions {
  /** For screen readers: a heading says the same to others. */
  readonly caption: string;
  readonly head: readonly string[];
  /** The first cell names its row. */
  readonly rows: readonly (readonly (Html | string | number)[])[];
  /** Shown instead of a table without rows. */
  readonly empty: string;
}

export function table({ caption, head, rows, empty }: TableOptions): Html {
  if (rows.length === 0) {
    return html`<p class="empty">${empty}</p>`;
  }
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table role="table">
<caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${head.map((text) => html`<th scope="col" role="columnheader">${text}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map((cells) => row(cells, head))}</tbody>
</table></div>`;
}

/** Roles are repeated, because narrow windows show a row as a block, and some browsers drop the roles of blocks. */
function row([name = '', ...cells]: TableOptions['rows'][number], [, ...labels]: readonly string[]): Html {
  return html`<tr role="row"><th scope="row" role="rowheader">${name}</th>${cells.map(
    (cell, index) => html`<td role="cell" data-label="${labels[index] ?? ''}">${cell}</td>`,
  )}</tr>
`;
}

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
