/** Pages of what people did, newest first: of all organizations, and of one. */

import { html } from 'hono/html';
import { type Actor, type AuditEntry, type AuditQuery, DAEMON_HISTORY, type History } from '../../store/history.ts';
import {
  age,
  checksumText,
  link,
  organizationLink,
  paging,
  personText,
  queryOf,
  shown,
  stateDot,
} from '../html/elements.ts';
import {
  defineOrganizationPage,
  definePage,
  type Html,
  type OrganizationState,
  type PageRequest,
  visibilityOf,
} from '../model/page.ts';
import { isoTime, organizationPath, planPath, questionPath, resourcePath } from '../model/words.ts';

/** Number of entries in a page. */
const LISTED = 50;

/** Position in the audit: the entry with this time, organization and number. */
interface Position {
  readonly at: number;
  readonly organization: string;
  readonly number: number;
}

/** History of an organization, or of what concerns no single one. */
type AuditedHistory = Pick<OrganizationState, 'id'> & { readonly history: Pick<History, 'audit'> };

export type AuditView = Awaited<ReturnType<typeof auditView>>;

/**
 * Returns the entries after a position, as `next` of the page before gave it. `organization`: null for all organizations that
 * the viewer may see. Throws StoreError.
 */
async function auditView(organizations: readonly AuditedHistory[], organization: string | null, before = '') {
  const start = readPosition(before);
  const found: (AuditEntry & { readonly organization: string })[] = [];
  for (const { id, history } of await newestFirst(organizations, start)) {
    // One more than fits shows whether there is another page.
    for (const entry of await history.audit({ before: positionIn(id, start), limit: LISTED + 1 })) {
      found.push({ ...entry, organization: id });
    }
  }
  const rest = found.sort(compare);
  const shown = rest.slice(0, LISTED);
  const last = shown.at(-1);
  return {
    organization,
    /** The organization of an entry is empty for what concerns no single one. */
    entries: shown.map(({ at, ...entry }) => ({ ...entry, at: isoTime(at) })),
    /** Value of `before` for the next page; null if this is the last one. */
    next: rest.length > LISTED && last !== undefined ? `${last.at}-${last.number}-${last.organization}` : null,
  };
}

/**
 * Returns the organizations with the newest entries. A page has entries of few organizations, and reading a page of each of
 * 1,000 organizations takes too long.
 */
async function newestFirst(
  organizations: readonly AuditedHistory[],
  start: Position | null,
): Promise<readonly AuditedHistory[]> {
  const newest: (Position & { readonly state: AuditedHistory })[] = [];
  for (const state of organizations) {
    for (const { at, number } of await state.history.audit({ before: positionIn(state.id, start), limit: 1 })) {
      newest.push({ state, at, number, organization: state.id });
    }
  }
  return newest
    .sort(compare)
    .slice(0, LISTED + 1)
    .map(({ state }) => state);
}

/** Returns where the entries of an organization begin on a page. */
function positionIn(organization: string, start: Position | null): AuditQuery['before'] {
  if (start === null || organization === start.organization) {
    return start ?? undefined;
  }
  // Of entries of the same millisecond, those of other organizations were shown if their id is smaller.
  return { at: start.at, number: organization < start.organization ? 0 : Number.MAX_SAFE_INTEGER };
}

/** Newest first. The numbers of an organization grow with time, unless the clock was set back. */
function compare(a: Position, b: Position): number {
  return (
    b.at - a.at ||
    (a.organization < b.organization ? -1 : Number(a.organization > b.organization)) ||
    b.number - a.number
  );
}

function readPosition(text: string): Position | null {
  const [, at, number, organization] = /^(\d{1,16})-(\d{1,16})-(.*)$/s.exec(text) ?? [];
  return at === undefined || organization === undefined
    ? null
    : { at: Number(at), number: Number(number), organization };
}

export const auditPage = definePage<AuditView>({
  path: '/audit',
  load: (backend, { viewer, query }) => {
    const visible = backend.organizations().filter(({ id }) => viewer.role(id) !== null);
    const { seesAll } = visibilityOf(backend, viewer);
    const daemon = seesAll ? [{ id: DAEMON_HISTORY, history: backend.history }] : [];
    return auditView([...visible, ...daemon], null, query.before);
  },
  title: () => 'Audit',
  render,
  topics: () => ['*', 'audit'],
});

export const organizationAuditPage = defineOrganizationPage<AuditView>({
  path: '/audit',
  load: (state, { query }) => auditView([state], state.id, query.before),
  title: () => 'Audit',
  render,
  topic: ({ organization }) => organization ?? '',
});

function render({ organization, entries, next }: AuditView, request: PageRequest): Html {
  const path = organization === null ? '/audit' : organizationPath(organization, '/audit');
  return html`<h1>Audit</h1>
<p class="faint">What people asked Octavo to do, and how Octavo knows who they are.</p>
${
  entries.length === 0
    ? html`<p class="empty">Nobody has asked for anything yet.</p>`
    : html`<ul class="rows">${entries.map((entry) => item(entry, organization === null, request))}</ul>`
}
${paging(null, next === null ? null : `${path}${queryOf({ before: next })}`, 'the audit')}`;
}

/** Beginning of actions whose subject is a question. */
const OF_QUESTIONS = 'clusters ';

/** Verbs of the sentences about what a person did; an action that is not here is shown by its name. */
const VERBS: ReadonlyMap<string, string> = new Map([
  ['approve', 'approved the plan'],
  ['reject', 'rejected the plan'],
  ['pause', 'paused'],
  ['resume', 'resumed'],
  ['reconcile', 'asked for a check'],
  ['conversations dead show', 'read the refused conversation'],
  ['conversations dead retry', 'sent refused conversations again'],
  ['conversations dead drop', 'discarded refused conversations'],
  ['conversations resync', 'had the source read again:'],
  ['conversations push', 'sent files'],
  [`${OF_QUESTIONS}open`, 'opened a change request for the question'],
  [`${OF_QUESTIONS}mute`, 'muted the question'],
  [`${OF_QUESTIONS}unmute`, 'unmuted the question'],
  ['notify retry', 'sent messages again to'],
  ['sessions end', 'signed out'],
  ['sign in', 'tried wrong tokens, from'],
]);

/** `ana@acme.example (token) approved the plan 7fed9a4 of Acme: "checked with Bo"`. */
function item(entry: AuditView['entries'][number], isOfAll: boolean, { titleOf, now }: PageRequest): Html {
  const { actor, organization, outcome, detail, reason, subject, action } = entry;
  const of =
    organization === DAEMON_HISTORY
      ? html` of all organizations`
      : html` of ${organizationLink(organization, titleOf(organization))}`;
  return html`<li>${stateDot({ tone: outcome === 'done' ? 'ok' : 'bad', word: outcome })} <span>${personText(actor.name, actor.method)} ${VERBS.get(action) ?? shown(action)}${subject === '' ? '' : html` ${subjectText(organization, subject, action)}`}${isOfAll ? of : ''}${reasonText(reason, actor.method)}</span>
${outcome === 'done' ? '' : html`<b>${shown(outcome)}</b>`} <span class="faint">${shown(detail)}</span><span class="end faint">${age(entry.at, now)}</span></li>
`;
}

/** Returns why a person did something; for a comment, a link to it. Empty if they gave no reason. */
function reasonText(reason: string, method: Actor['method']): Html {
  if (method === 'comment') {
    return html` in ${link(reason, 'a comment')}`;
  }
  return reason === '' ? html`` : html`: “${shown(reason)}”`;
}

/** A plan, a question and a resource have a page. */
function subjectText(organization: string, subject: string, action: string): Html {
  if (/^sha256:[0-9a-f]{64}$/.test(subject)) {
    return link(planPath(organization, subject), checksumText(subject));
  }
  const text = html`<code>${shown(subject)}</code>`;
  if (action.startsWith(OF_QUESTIONS)) {
    return link(questionPath(organization, subject), text);
  }
  return /^[a-z-]+\/\S+$/.test(subject) && organization !== DAEMON_HISTORY
    ? link(resourcePath(organization, subject), text)
    : text;
}
