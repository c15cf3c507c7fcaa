/** Page of one organization: its state, what waits for a person, its resources and its last passes. */

import { html } from 'hono/html';
import { DesiredStateError } from '../../core/errors.ts';
import { counted, spanWords } from '../../plan/render/words.ts';
import type { LastPush, PushStatus } from '../../reconcile/push-receiver.ts';
import type { ManualPause } from '../../store/history.ts';
import { outcomeBars } from '../charts/outcome-bars.ts';
import { actionWord } from '../html/changes.ts';
import { actionForm, pauseForm, pauseNotice } from '../html/form.ts';
import { link } from '../html/link.ts';
import { RESOURCE_LABELS, STATUS_LABELS, stateBadge } from '../html/state.ts';
import { paging } from '../html/table.ts';
import { age, commitText, shown, shownLines } from '../html/text.ts';
import { isOperator } from '../html/visibility.ts';
import type { OrganizationState } from '../model/backend.ts';
import { forgeLinks, organizationPath, planPath, resourcePath, withQuery } from '../model/paths.ts';
import {
  listResources,
  type ResourcePage,
  type ResourceRow,
  resourceStates,
  resourceTree,
} from '../model/resources.ts';
import { errorSentence, heldChanges, pauseSentence, pauseView, summarize } from '../model/status.ts';
import { isoTime } from '../model/words.ts';
import { defineOrganizationPage, type Html, type PageRequest } from '../page.ts';
import { type PassRow, passRow, passTable } from './passes.ts';

/** Passes that are shown as bars. */
const PASSES = 60;
const PROBLEMS = 50;
const FAILURES = 20;

export type OrganizationView = Awaited<ReturnType<typeof load>>;

async function load(state: OrganizationState, { query, now }: PageRequest) {
  const { id, reconciler, history, config } = state;
  const { kind = '', state: wanted = '', q: text = '', after = '' } = query;
  const pauses = await history.pauses(now);
  const summary = await summarize(state, pauses, now);
  const passes = await history.passes({ limit: PASSES });
  const links = forgeLinks(config.source);
  const plan = reconciler?.lastCheck?.plan ?? null;
  const resources = await state.resources();
  const waiting = [
    ...waitingForPerson(state, now),
    ...(await inConversations(state)),
    ...inClusters(state),
    ...pauses.map((pause) => pauseItem(id, pause, now)),
  ];
  const rows = passes.map((pass) => passRow(id, pass, links));
  return {
    ...summary,
    /** Page of the commit at the forge. */
    commitUrl: summary.commit === null ? null : links.commit(summary.commit),
    /** Seconds between checks for new commits; null if changes are noticed as they happen, or there is no source. */
    pollSeconds: state.pollInterval === null || reconciler === null ? null : Math.round(state.pollInterval / 1000),
    /** Null if no webhook is configured. */
    webhook: state.webhook === null ? null : webhookView(await state.webhook.status()),
    waiting,
    pauses: pauses.map((pause) => pauseView(pause, now)),
    /** Pass of the first commit whose manifests were invalid; null if they are valid, or have no commit. */
    brokenBy: brokenBy(state, rows),
    /** Problems of the manifests, causes first; of many, the first ones. */
    problems: problemsOf(state),
    plan:
      plan === null || plan.changes.length === 0
        ? null
        : { checksum: plan.checksum, path: planPath(id, plan.checksum), changes: plan.changes.length },
    /** Null before the manifests were read. */
    list:
      reconciler === null || resources === null
        ? null
        : listResources(id, resourceTree(resources.declared), resourceStates(reconciler, summary.freshness.isStale), {
            kind,
            state: wanted,
            text,
            after,
          }),
    /** Newest first. */
    passes: rows,
  };
}

function waitingForPerson({ id, reconciler }: OrganizationState, now: number): readonly WaitingItem[] {
  if (reconciler === null) {
    return [];
  }
  const { lastCheck, lastEnd } = reconciler;
  const plan = lastCheck?.plan;
  const items: WaitingItem[] = [];
  const text = errorSentence(reconciler, now);
  if (text !== null) {
    items.push({ kind: 'problems', text, path: organizationPath(id, '/passes') });
  }
  if (plan?.verdict.state === 'refused') {
    const text = `The plan is refused: ${plan.verdict.reasons.join('; ')}`;
    items.push({ kind: 'refused', text, path: planPath(id, plan.checksum) });
  }
  const held = plan === undefined ? 0 : heldChanges(plan);
  if (plan !== undefined && held > 0) {
    const text = `${counted(held, 'change')} ${held === 1 ? 'waits' : 'wait'} for approval`;
    items.push({ kind: 'approval', text, path: planPath(id, plan.checksum) });
  }
  const failed = (lastEnd?.results ?? []).filter(({ status }) => status === 'failed');
  for (const { address, error } of failed.slice(0, FAILURES)) {
    items.push({ kind: 'failed', text: `${address} failed: ${error ?? ''}`, path: resourcePath(id, address) });
  }
  if (failed.length > FAILURES) {
    const text = `${counted(failed.length - FAILURES, 'more change')} failed`;
    items.push({ kind: 'failed', text, path: withQuery(organizationPath(id), { state: 'failed' }) });
  }
  return items;
}

function pauseItem(id: string, pause: ManualPause, now: number): WaitingItem {
  const { address } = pause;
  const about = address === '' ? '' : `${address}: `;
  const path = address === '' ? organizationPath(id) : resourcePath(id, address);
  return { kind: 'pause', text: `${about}${pauseSentence(pause, now)}`, path };
}

/** A pass that applied something in spite of the problems is recorded with the last valid commit. */
function brokenBy({ reconciler }: OrganizationState, newestFirst: readonly PassRow[]) {
  if (!(reconciler?.lastEnd?.error instanceof DesiredStateError)) {
    return null;
  }
  const lastGood = newestFirst.findIndex(({ error }) => error === null);
  const failing = lastGood === -1 ? newestFirst : newestFirst.slice(0, lastGood);
  const valid = reconciler.lastDesired?.commit ?? null;
  const pass = failing.findLast(({ commit }) => commit !== null && commit !== valid);
  return pass === undefined
    ? null
    : { commit: pass.commit, commitUrl: pass.commitUrl, author: pass.author, subject: pass.subject };
}

function problemsOf({ reconciler }: OrganizationState) {
  const error = reconciler?.lastEnd?.error;
  return error instanceof DesiredStateError
    ? error.problems.slice(0, PROBLEMS).map(({ file, line, address, message }) => ({ file, line, address, message }))
    : [];
}

/** Something that a person should see to. */
interface WaitingItem {
  readonly kind:
    | 'approval'
    | 'refused'
    | 'failed'
    | 'problems'
    | 'pause'
    | 'conversations'
    | 'dead-letters'
    | 'clusters';
  readonly text: string;
  readonly path: string;
}

async function inConversations({ id, config, conversations }: OrganizationState): Promise<readonly WaitingItem[]> {
  if (config.conversations.sources.length === 0) {
    return [];
  }
  const { sources, sender } = await conversations.status();
  const letters = sources.reduce((sum, { deadLetters }) => sum + deadLetters, 0);
  const failing = sources.filter(({ error }) => error !== null);
  const path = organizationPath(id, '/conversations');
  const items: WaitingItem[] = [];
  if (sender.kind === 'refused') {
    items.push({ kind: 'conversations', text: `Conversations are not sent: ${sender.reason}`, path });
  }
  for (const { source, error } of failing) {
    items.push({ kind: 'conversations', text: `Source ${source} cannot be read: ${error}`, path });
  }
  if (letters > 0) {
    const text = `${counted(letters, 'dead letter')} ${letters === 1 ? 'was' : 'were'} refused by the platform`;
    items.push({ kind: 'dead-letters', text, path: organizationPath(id, '/dead-letters') });
  }
  return items;
}

function inClusters({ id, config, clusters }: OrganizationState): readonly WaitingItem[] {
  const { lastRun } = clusters.overview;
  if (!config.clusters.enabled || lastRun === null || lastRun.outcome !== 'failed') {
    return [];
  }
  const text = `The last run over issue clusters failed: ${lastRun.error ?? 'it was interrupted'}`;
  return [{ kind: 'clusters', text, path: organizationPath(id, '/clusters') }];
}

/** Describes the state of a webhook. */
function webhookView({ last, refusedAt }: PushStatus) {
  const isRefused = refusedAt !== null && refusedAt > (last?.at ?? Number.NEGATIVE_INFINITY);
  const refused = isRefused ? '; requests are refused since then: the secret or the format differs' : '';
  return {
    /** Time of the last delivery with a valid signature; null if there was none. */
    lastAt: isoTime(last?.at ?? null),
    /** The last delivery, and refused requests since then. */
    sentence: `${last === null ? 'no delivery has arrived yet' : describeLast(last)}${refused}`,
    /** Time of the last refused request since the daemon started, if it is later than the last delivery. */
    refusedAt: isRefused ? isoTime(refusedAt) : null,
    /** True if the forge has to be set up, or set up differently. */
    needsAttention: isRefused || last === null,
  };
}

function describeLast({ outcome, mismatch }: LastPush): string {
  return outcome === 'ignored' ? IGNORED[mismatch ?? 'event'] : DELIVERED[outcome];
}

const DELIVERED: Readonly<Record<Exclude<LastPush['outcome'], 'ignored'>, string>> = {
  accepted: 'a push, which was fetched at once',
  repeated: 'a push that was received before',
  ping: 'a ping',
};
const IGNORED: Readonly<Record<NonNullable<LastPush['mismatch']>, string>> = {
  event: 'ignored, because it was not a push',
  repository: 'ignored, because it was a push to another repository',
  ref: 'ignored, because it was a push to another branch or tag',
};

export const organizationPage = defineOrganizationPage<OrganizationView>({
  path: '',
  load,
  title: ({ title }) => shown(title, 80),
  render: (view, request) => html`<h1>${shown(view.title)}</h1>
${stateSection(view, request)}
${waitingSection(view)}
${problemsSection(view)}
${resourcesSection(view)}
${passesSection(view, request.now)}
${actionsSection(view, request)}`,
  topic: ({ id }) => id,
});

function stateSection(view: OrganizationView, { now }: PageRequest): Html {
  const { state, sentence, commit, commitUrl, freshness, nextCheck, pollSeconds, plan, webhook, replica } = view;
  const poll = pollSeconds === null ? '' : html` New commits are fetched every ${spanWords(pollSeconds * 1000)}.`;
  return html`<p class="sentence ${state}">${stateBadge(STATUS_LABELS[state])} ${shown(sentence)}</p>
<dl class="facts">
<div><dt>Last check</dt><dd>${age(freshness.asOf, now)}</dd></div>
<div><dt>Next check</dt><dd>${nextCheck === null ? 'when something changes' : age(nextCheck, now)}.${poll}</dd></div>
<div><dt>Commit</dt><dd>${commitText(commit, commitUrl)}</dd></div>
${webhook === null ? '' : html`<div><dt>Webhook</dt><dd>${webhook.lastAt === null ? '' : html`${age(webhook.lastAt, now)}: `}${webhook.sentence}</dd></div>`}
${replica === null ? '' : html`<div><dt>Replica</dt><dd>${link('/replicas', shown(replica))}</dd></div>`}
${plan === null ? '' : html`<div><dt>Last plan</dt><dd>${link(plan.path, counted(plan.changes, 'change'))}</dd></div>`}
</dl>
${view.pauses.map(pauseNotice)}`;
}

function waitingSection({ waiting }: OrganizationView): Html {
  const items = waiting.map(({ text, path }) => html`<li>${link(path, shown(text))}</li>`);
  return html`<section aria-labelledby="waiting"><h2 id="waiting">Needs attention</h2>
${items.length === 0 ? html`<p class="empty">Nothing.</p>` : html`<ul>${items}</ul>`}</section>`;
}

function problemsSection({ problems, brokenBy }: OrganizationView): Html {
  if (problems.length === 0) {
    return html``;
  }
  return html`<section aria-labelledby="problems"><h2 id="problems">Problems in the manifests</h2>
${brokenBy === null ? '' : html`<p>Invalid since commit ${commitText(brokenBy.commit, brokenBy.commitUrl)}${brokenBy.author === null ? '' : html` by ${shown(brokenBy.author)}`}${brokenBy.subject === '' ? '' : html`: ${shown(brokenBy.subject)}`}</p>`}
<ul class="problems">${problems.map(
    ({ file, line, address, message }) =>
      html`<li><code>${shown(file)}:${line}</code> ${address === '' ? '' : html`<code>${shown(address)}</code> `}${shownLines(message)}</li>`,
  )}</ul></section>`;
}

function resourcesSection({ id, list }: OrganizationView): Html {
  if (list === null) {
    return html``;
  }
  const { filter, rows, selected, total, next } = list;
  const path = organizationPath(id);
  const query = { kind: filter.kind, state: filter.state, q: filter.text };
  const isFiltered = Object.values(query).some((value) => value !== '');
  return html`<section aria-labelledby="resources"><h2 id="resources">Resources</h2>
${filterForm(path, list)}
<p class="count" role="status">${isFiltered ? `${selected} of ${counted(total, 'resource')}` : counted(total, 'resource')}</p>
${rows.length === 0 ? html`<p class="empty">No resource matches. ${link(path, 'Show all')}</p>` : resourceList(rows)}
${paging(
  filter.after === '' ? null : withQuery(path, query),
  next === null ? null : withQuery(path, { ...query, after: next }),
  'resources',
)}</section>`;
}

function filterForm(path: string, { filter, kinds, states }: ResourcePage): Html {
  const option = (value: string, text: string, chosen: string) =>
    html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`;
  return html`<form class="filter" method="get" action="${path}" role="search">
<p class="field"><label for="q">Address or title</label> <input id="q" name="q" type="search" value="${filter.text}" autocomplete="off"></p>
<p class="field"><label for="kind">Kind</label> <select id="kind" name="kind"><option value="">all</option>
${kinds.map(({ kind, count }) => option(kind, `${kind} (${count})`, filter.kind))}</select></p>
<p class="field"><label for="state">State</label> <select id="state" name="state"><option value="">all</option>
${states.map((state) => option(state, RESOURCE_LABELS[state].word, filter.state))}</select></p>
<button>Filter</button>
</form>`;
}

function passesSection({ id, passes }: OrganizationView, now: number): Html {
  return html`<section aria-labelledby="passes"><h2 id="passes">Last passes</h2>
${passes.length === 0 ? '' : outcomeBars('outcomes', passes)}
${passTable(passes.slice(0, 5), now)}
<p>${link(organizationPath(id, '/passes'), 'All passes')}</p></section>`;
}

function actionsSection({ id, pauses, path, list }: OrganizationView, request: PageRequest): Html {
  if (list === null || !isOperator(request, id)) {
    return html``;
  }
  const pause = pauses.find(({ address }) => address === '') ?? null;
  return html`<section aria-labelledby="actions"><h2 id="actions">Actions</h2>
${actionForm({ organization: id, action: 'reconcile', button: 'Check now', back: path })}
${pauseForm({ organization: id, address: '', pause, back: path })}</section>`;
}

/** A resource of the page, or one that only contains some. */
interface Branch {
  readonly address: string;
  row: ResourceRow | null;
  readonly children: Branch[];
}

/** Returns the rows as a tree. Rows come after what they are part of; that may be on an earlier page. */
function resourceList(rows: readonly ResourceRow[]): Html {
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
