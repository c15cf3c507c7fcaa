/** Page of the passes of an organization, by commit. */
import { html } from 'hono/html';
import { counted } from '../../plan/render/words.ts';
import { organizationPath, withQuery } from '../../views/model/paths.ts';
import { type CommitPasses, type PassesView, type PassRow, passesView } from '../../views/passes.ts';
import { age } from '../html/age.ts';
import { link } from '../html/link.ts';
import { paging } from '../html/paging.ts';
import { OUTCOME_LABELS, stateBadge } from '../html/state.ts';
import { table } from '../html/table.ts';
import { commitText, shown } from '../html/text.ts';
import { definePage, type Html } from '../page.ts';

export const passesPage = definePage<PassesView & { readonly isFirst: boolean }>({
  path: '/o/:organization/passes',
  load: async (backend, { params, query }) => {
    const before = /^\d{1,15}$/.test(query.before ?? '') ? Number(query.before) : null;
    const view = await passesView(backend, params.organization ?? '', before);
    return view === null ? null : { ...view, isFirst: before === null };
  },
  title: ({ organization }) => `Passes of ${shown(organization, 80)}`,
  render: (view, { now }) => {
    const path = organizationPath(view.organization, '/passes');
    return html`<h1>Passes</h1>
<p>Each pass compares the manifests with the platform, and applies what differs. Consecutive passes with the same
result that wrote nothing are one row.</p>
${view.commits.length === 0 ? html`<p class="empty">No pass has ended yet.</p>` : view.commits.map((group) => commitSection(group, now))}
${paging(view.isFirst ? null : path, view.next === null ? null : withQuery(path, { before: view.next }), 'passes')}`;
  },
  topics: ({ organization }) => [organization],
});

function commitSection({ commit, commitUrl, subject, author, passes }: CommitPasses, now: number): Html {
  const by = author === null ? '' : html` <span class="faint">by ${shown(author)}</span>`;
  return html`<section class="commit"><h2>${commitText(commit, commitUrl)} ${shown(subject)}${by}</h2>
${passTable(passes, now)}</section>
`;
}

/** Returns a table of passes. */
export function passTable(passes: readonly PassRow[], now: number): Html {
  return table({
    caption: 'Passes, newest first',
    head: ['Pass', 'Ended', 'Outcome', 'Cause', 'Changes', 'Requests'],
    rows: passes.map((pass) => [
      link(pass.path, `#${pass.number}`),
      html`${age(pass.endedAt, now)}${pass.times === 1 ? '' : html` <span class="faint">${pass.times} times since ${age(pass.firstEndedAt, now)}</span>`}`,
      html`${stateBadge(OUTCOME_LABELS[pass.outcome])}${pass.error === null ? '' : html` ${shown(pass.error, 120)}`}`,
      shown(pass.trigger),
      pass.planPath === null ? 'none' : link(pass.planPath, pass.summary),
      requestWords(pass),
    ]),
    empty: 'No pass has ended yet.',
  });
}

/** `14 reads, 3 writes, 1 refused`. */
export function requestWords({ reads, writes, refused }: Pick<PassRow, 'reads' | 'writes' | 'refused'>): string {
  return `${counted(reads, 'read')}, ${counted(writes, 'write')}${refused === 0 ? '' : `, ${refused} refused`}`;
}
