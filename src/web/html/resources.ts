/** Tree of resources in a page: nested lists that can be folded. */
import { html } from 'hono/html';
import type { ResourceRow } from '../../views/model/resource-list.ts';
import type { Html } from '../page.ts';
import { actionWord } from './changes.ts';
import { link } from './link.ts';
import { RESOURCE_LABELS, stateBadge } from './state.ts';
import { shown } from './text.ts';

/** A resource of the page, or one that only contains some. */
interface Branch {
  readonly address: string;
  row: ResourceRow | null;
  readonly children: Branch[];
}

/** Returns the rows as a tree. Rows come after what they are part of; that may be on an earlier page. */
export function resourceList(rows: readonly ResourceRow[]): Html {
  const roots: Branch[] = [];
  const known = new Map<string, Branch>();
  const branch = (address: string, siblings: Branch[]): Branch => {
    const before = known.get(address);
    if (before !== undefined) {
      return before;
    }
    const created = { address, row: null, children: [] };
    known.set(address, created);
    siblings.push(created);
    return created;
  };
  for (const row of rows) {
    let siblings = roots;
    for (const ancestor of row.ancestors) {
      siblings = branch(ancestor, siblings).children;
    }
    // A resource that is deleted and declared again has two rows.
    const own = known.has(row.address) ? undefined : branch(row.address, siblings);
    if (own === undefined) {
      siblings.push({ address: row.address, row, children: [] });
    } else {
      own.row = row;
    }
  }
  return html`<ul class="tree">${roots.map(item)}</ul>`;
}

function item({ address, row, children }: Branch): Html {
  const label = row === null ? html`<span class="faint">${shown(address, 100)} (continued)</span>` : rowText(row);
  return children.length === 0
    ? html`<li>${label}</li>
`
    : html`<li>${label}<details open><summary>${children.length} inside</summary><ul>${children.map(item)}</ul></details></li>
`;
}

function rowText({ address, title, path, state, action, isDrift, isDeclared }: ResourceRow): Html {
  const isChanging = action !== null;
  const change = isChanging ? html` <span class="faint">to ${actionWord(action).toLowerCase()}</span>` : '';
  const drift = isDrift ? html` <span class="faint">drift</span>` : '';
  const gone = isDeclared ? '' : html` <span class="faint">(no longer declared)</span>`;
  return html`${stateBadge(RESOURCE_LABELS[state])} ${link(path, shown(address, 100))}${
    title === '' ? '' : html` <span class="title">${shown(title, 80)}</span>`
  }${gone}${change}${drift}`;
}
