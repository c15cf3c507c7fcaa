/** Pages of what people did: of all organizations, and of one. */
import { html } from 'hono/html';
import { type AuditEntryView, type AuditView, auditView } from '../../views/audit.ts';
import { link, pathTo } from '../html/link.ts';
import { age, badge, pager, table } from '../html/parts.ts';
import { definePage, type Html } from '../page.ts';

export const auditPage = definePage<AuditView>({
  path: '/audit',
  load: async (backend, { viewer, query }) => {
    const visible = backend.organizations().filter(({ id }) => viewer.role(id) !== null);
    return auditView(visible, null, query.before || null);
  },
  title: () => 'Audit',
  render,
  topics: ({ entries }) => [...new Set(entries.map(({ organization }) => organization))],
});

export const organizationAuditPage = definePage<AuditView>({
  path: '/o/:organization/audit',
  load: async (backend, { params, query }) => {
    const { organization = '' } = params;
    const own = backend.organizations().filter(({ id }) => id === organization);
    return auditView(own, organization, query.before || null);
  },
  title: ({ organization }) => `Audit of ${organization}`,
  render,
  topics: ({ organization }) => (organization === null ? [] : [organization]),
});

function render({ organization, entries, next }: AuditView, { now }: { readonly now: number }): Html {
  const rows = entries.map((entry) => toRow(entry, organization === null, now));
  const columns = ['When', 'Who', ...(organization === null ? ['Organization'] : []), 'Action', 'Result', 'Reason'];
  return html`<h1>Audit</h1>
<p>What people asked Octavo to do, and how it is known who they are.</p>
${rows.length === 0 ? html`<p class="sentence">Nothing yet.</p>` : table('Audit', columns, rows)}
${pager(null, next === null ? null : { before: next })}`;
}

function toRow(entry: AuditEntryView, hasOrganization: boolean, now: number): readonly (Html | string)[] {
  const { at, actor, organization, action, subject, outcome, detail, reason } = entry;
  const result = outcome === 'done' ? badge('good', 'done') : badge('bad', 'refused');
  return [
    age(at, now),
    html`${actor.name === '' ? 'unknown' : actor.name} <small>(${actor.method})</small>`,
    ...(hasOrganization ? [link(pathTo(['o', organization]), organization)] : []),
    html`${action}${subject === '' ? '' : html` <code>${subject}</code>`}`,
    html`${result}${detail === '' ? '' : html` ${detail}`}`,
    html`${reason}`,
  ];
}
