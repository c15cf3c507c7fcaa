/** Tables in pages: with a caption and column headings, and scrolled on their own where they are too wide. */
import { html } from 'hono/html';
import type { Html } from '../page.ts';

export interface TableOptions {
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
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
<caption>${caption}</caption>
<thead><tr>${head.map((text) => html`<th scope="col">${text}</th>`)}</tr></thead>
<tbody>${rows.map(row)}</tbody>
</table></div>`;
}

function row([name = '', ...cells]: readonly (Html | string | number)[]): Html {
  return html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>
`;
}
