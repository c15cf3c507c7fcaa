/** Pages of what people did: of all organizations, and of one. */
import { html } from 'hono/html';
import { DAEMON_HISTORY } from '../../store/history.ts';
import { type AuditEntryView, type AuditView, auditView } from '../../views/audit.ts';
import { auditCells } from '../html/audit-line.ts';
import { link, pathTo, queryOf } from '../html/link.ts';
import { paging } from '../html/paging.ts';
import { table } from '../html/table.ts';
import { shown } from '../html/text.ts';
import { visibilityOf } from '../html/visibility.ts';
import { definePage, type Html } from '../page.ts';

export const auditPage = definePage<AuditView>({
  path: '/audit',
  load: async (backend, { viewer, query }) => {
    const visible = backend.organizations().filter(({ id }) => viewer.role(id) !== null);
    const { seesAll } = visibilityOf(backend, viewer);
    const daemon = seesAll ? [{ id: DAEMON_HISTORY, history: backend.history }] : [];
    return auditView([...visible, ...daemon], null, query.before || null);
  },
  title: () => 'Audit',
  render,
  topics: () => ['*'],
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
  const path = organization === null ? '/audit' : pathTo(['o', organization, 'audit']);
  const isOfAll = organization === null;
  const head = ['When', 'Who', 'Action', 'Reason', 'Result', ...(isOfAll ? ['Organization'] : [])];
  const rows = entries.map((entry) => toRow(entry, isOfAll, now));
  return html`<h1>Audit</h1>
<p>What people asked Octavo to do, and how it is known who they are.</p>
${table({ caption: 'Actions, newest first', head, rows, empty: 'Nobody has asked for anything yet.' })}
${paging(null, next === null ? null : `${path}${queryOf({ before: next })}`, 'the audit')}`;
}

function toRow({ actor, organization, ...entry }: AuditEntryView, isOfAll: boolean, now: number): readonly Html[] {
  const cells = auditCells({ ...entry, by: actor.name, method: actor.method }, now);
  const about =
    organization === DAEMON_HISTORY
      ? html`<span class="faint">all</span>`
      : link(pathTo(['o', organization]), shown(organization));
  return isOfAll ? [...cells, about] : cells;
}
