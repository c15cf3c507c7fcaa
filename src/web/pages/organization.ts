/** Page of one organization: its state, what waits for a person, its resources and its last passes. */

import { html } from 'hono/html';
import { type Address, kindOf } from '../../core/address.ts';
import { DesiredStateError } from '../../core/errors.ts';
import { heldChanges } from '../../plan/render/sentence.ts';
import { counted, kindWords, spanWords } from '../../plan/render/words.ts';
import type { LastPush, PushStatus } from '../../reconcile/push-receiver.ts';
import type { ManualPause } from '../../store/history.ts';
import { actionWord } from '../html/changes.ts';
import { formatCount, runStrip } from '../html/charts.ts';
import { decisionCard, decisionView } from '../html/decision.ts';
import {
  age,
  commitText,
  kindIcon,
  link,
  OUTCOME_LABELS,
  paging,
  RESOURCE_LABELS,
  STATUS_LABELS,
  type StateLabel,
  shown,
  shownLines,
  stateBadge,
  stateDot,
} from '../html/elements.ts';
import { actionForm, pauseForm, pauseNotice } from '../html/form.ts';
import {
  defineOrganizationPage,
  type Html,
  isOperator,
  type OrganizationState,
  type PageRequest,
} from '../model/page.ts';
import {
  countStates,
  listResources,
  type ResourcePage,
  type ResourceRow,
  resourceStates,
  resourceTree,
  STATE_GROUPS,
} from '../model/resources.ts';
import { errorSentence, pauseSentence, pauseView, summarize } from '../model/status.ts';
import { forgeLinks, isoTime, organizationPath, planPath, resourcePath, withQuery } from '../model/words.ts';
import { type PassRow, passRow } from './passes.ts';
import { growingQuestions, growingSection, questionsProblem } from './questions.ts';

/** Passes that are shown as bars. */
const PASSES = 60;
const PROBLEMS = 50;
const FAILURES = 20;

export type OrganizationView = Awaited<ReturnType<typeof load>>;

async function load(state: OrganizationState, { query, viewer, now }: PageRequest) {
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
  const tree = resources === null ? null : resourceTree(resources.declared);
  const states = reconciler === null ? null : resourceStates(reconciler, summary.freshness.isStale);
  const rows = passes.map((pass) => passRow(id, pass, links));
  return {
    ...summary,
    /** Page of the commit at the forge. */
    commitUrl: summary.commit === null ? null : links.commit(summary.commit),
    /** Seconds between checks for new commits; null if changes are noticed as they happen, or there is no source. */
    pollSeconds: state.pollInterval === null || reconciler === null ? null : Math.round(state.pollInterval / 1000),
    /** Null if no webhook is configured. */
    webhook: state.webhook === null ? null : webhookView(await state.webhook.status()),
    decision: await decisionView(state, viewer.actor),
    waiting,
    growingQuestions: growingQuestions(state),
    pauses: pauses.map((pause) => pauseView(pause, now)),
    /** Pass of the first commit whose manifests were invalid; null if they are valid, or have no commit. */
    brokenBy: brokenBy(state, rows),
    /** Problems of the manifests, causes first; of many, the first ones. */
    problems: problemsOf(state),
    plan:
      plan === null || plan.changes.length === 0
        ? null
        : { checksum: plan.checksum, path: planPath(id, plan.checksum), changes: plan.changes.length },
    /** Number of resources by state. Null before the manifests were read. */
    counts: tree === null || states === null ? null : countStates(tree, states),
    /** Null before the manifests were read. */
    list:
      tree === null || states === null ? null : listResources(id, tree, states, { kind, state: wanted, text, after }),
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
    // Its problems are listed on the same page.
    const isListed = lastEnd?.error instanceof DesiredStateError && lastEnd.error.problems.length > 0;
    items.push({ kind: 'problems', text, path: organizationPath(id, isListed ? '#problems' : '/history') });
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
    const text = `${counted(letters, 'conversation')} ${letters === 1 ? 'was' : 'were'} refused by the platform`;
    items.push({ kind: 'dead-letters', text, path: organizationPath(id, '/refused') });
  }
  return items;
}

function inClusters(state: OrganizationState): readonly WaitingItem[] {
  const text = questionsProblem(state);
  return text === null ? [] : [{ kind: 'clusters', text, path: organizationPath(state.id, '/questions') }];
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
  title: () => 'Overview',
  render: (view, request) => html`${titleSection(view, request)}
${view.decision === null ? '' : decisionCard(view.decision, request)}
${attentionSection(view)}
${problemsSection(view)}
${figures(view)}
${growingSection(view.growingQuestions)}
${resourcesSection(view)}
${runsSection(view, request.now)}
${sourceSection(view, request)}`,
  topic: ({ id }) => id,
});

/** The name and the state, with the actions next to them. */
function titleSection(view: OrganizationView, request: PageRequest): Html {
  const { id, title, path, state, sentence, pauses, list, decision, commit, commitUrl, freshness } = view;
  const pause = pauses.find(({ address }) => address === '') ?? null;
  const actions =
    list === null || !isOperator(request, id)
      ? ''
      : html`<div class="actions">${actionForm({ organization: id, action: 'reconcile', button: 'Check now', back: path })}
${pauseForm({ organization: id, address: '', pause, back: path })}</div>`;
  // The card says what waits.
  const words = decision === null ? html`<p class="lead">${shown(sentence)}</p>` : '';
  const checked =
    commit === null && freshness.asOf === null
      ? ''
      : html`<p class="faint small">${commitText(commit, commitUrl)}, checked ${age(freshness.asOf, request.now)}</p>`;
  return html`<div class="head"><h1>${shown(title)} <span class="badge">${stateBadge(STATUS_LABELS[state])}</span></h1>${actions}</div>
${checked}
${words}
${pauses.map(pauseNotice)}`;
}

const WAITS: StateLabel = { tone: 'wait', word: 'waits' };
const PROBLEM: StateLabel = { tone: 'bad', word: 'problem' };

/** Things that a person should see to, other than the decision that the card is about. */
function attentionSection({ waiting, decision }: OrganizationView): Html {
  const items = waiting.filter(({ kind }) => kind !== 'approval' || decision === null);
  return items.length === 0
    ? html``
    : html`<section aria-labelledby="attention"><h2 id="attention">Needs attention</h2>
<ul class="rows">${items.map(({ kind, text, path }) => html`<li>${stateDot(kind === 'pause' || kind === 'approval' ? WAITS : PROBLEM)} ${link(path, shown(text))}</li>`)}</ul></section>`;
}

function problemsSection({ problems, brokenBy }: OrganizationView): Html {
  if (problems.length === 0) {
    return html``;
  }
  return html`<section aria-labelledby="problems"><h2 id="problems">Problems in the manifests</h2>
${brokenBy === null ? '' : html`<p>Invalid since commit ${commitText(brokenBy.commit, brokenBy.commitUrl)}${brokenBy.author === null ? '' : html` by ${shown(brokenBy.author)}`}${brokenBy.subject === '' ? '' : html`: ${shown(brokenBy.subject)}`}</p>`}
<ul class="rows problems">${problems.map(
    ({ file, line, address, message }) =>
      html`<li><code>${shown(file)}:${line}</code> ${address === '' ? '' : html`<code>${shown(address)}</code> `}${shownLines(message)}</li>`,
  )}</ul></section>`;
}

/** The number of resources by state; each links to the list of these. */
function figures({ id, counts, freshness }: OrganizationView): Html {
  if (counts === null) {
    return html``;
  }
  const figure = (state: keyof typeof counts, words: string, tone: string) =>
    html`<li><a class="${counts[state] === 0 ? '' : tone}" href="${withQuery(organizationPath(id), { state })}#resources"><b>${formatCount(counts[state])}</b> ${words}</a></li>`;
  return html`<ul class="figures">${figure('in-sync', freshness.isStale ? 'not checked lately' : 'in sync', '')}${figure('waiting', 'waiting for a person', 'wait')}${figure('pending', 'pending', '')}${figure('failed', 'failed', 'bad')}</ul>`;
}

function resourcesSection({ id, list }: OrganizationView): Html {
  if (list === null) {
    return html``;
  }
  const { filter, rows, selected, total, undeclared, next } = list;
  if (total === 0 && rows.length === 0) {
    return html`<p class="empty">The manifests declare no resource yet.</p>`;
  }
  const path = organizationPath(id);
  const query = { kind: filter.kind, state: filter.state, q: filter.text };
  const isFiltered = Object.values(query).some((value) => value !== '');
  const all = `${counted(total, 'resource')}${undeclared === 0 ? '' : ` and ${undeclared} no longer declared`}`;
  return html`<section aria-labelledby="resources"><div class="head"><h2 id="resources">Resources</h2>
<p class="count" role="status">${isFiltered ? `${selected} of ${all}` : all}</p></div>
${filterForm(path, list)}
${rows.length === 0 ? html`<p class="empty">No resource matches. ${link(path, 'Show all')}</p>` : resourceGroups(list)}
${paging(
  filter.after === '' ? null : withQuery(path, query),
  next === null ? null : withQuery(path, { ...query, after: next }),
  'resources',
)}</section>`;
}

function filterForm(path: string, { filter, kinds, states }: ResourcePage): Html {
  const option = (value: string, text: string, chosen: string) =>
    html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`;
  return html`<form class="filter live" method="get" action="${path}#resources" role="search">
<p class="field"><label for="q">Title or address</label> <input id="q" name="q" type="search" value="${filter.text}" autocomplete="off"></p>
<p class="field"><label for="kind">Kind</label> <select id="kind" name="kind"><option value="">all</option>
${kinds.map(({ kind, count }) => option(kind, `${kindWords(kind)} (${count})`, filter.kind))}</select></p>
<p class="field"><label for="state">State</label> <select id="state" name="state"><option value="">all</option>
${Object.keys(STATE_GROUPS).map((group) => option(group, GROUP_WORDS[group] ?? group, filter.state))}
${states.filter((state) => !(state in STATE_GROUPS)).map((state) => option(state, RESOURCE_LABELS[state].word, filter.state))}</select></p>
<button>Filter</button>
</form>`;
}

const GROUP_WORDS: Readonly<Record<string, string>> = {
  'in-sync': 'in sync',
  waiting: 'waiting for a person',
  pending: 'pending',
  failed: 'failed',
};

/** Runs that are listed, newest first; those that changed nothing are only in the strip. */
const LAST_CHANGES = 5;

function runsSection({ id, passes }: OrganizationView, now: number): Html {
  if (passes.length === 0) {
    return html``;
  }
  const changed = passes.filter(({ summary, error }) => summary !== 'none' || error !== null).slice(0, LAST_CHANGES);
  return html`<section aria-labelledby="runs"><div class="head"><h2 id="runs">What changed last</h2>
<p>${link(organizationPath(id, '/history'), 'History')}</p></div>
${runStrip(passes)}
${changed.length === 0 ? html`<p class="empty">Nothing has changed in the last runs.</p>` : html`<ul class="rows">${changed.map((run) => runItem(run, now))}</ul>`}</section>`;
}

function runItem(
  { path, outcome, summary, error, subject, commit, commitUrl, author, endedAt }: PassRow,
  now: number,
): Html {
  const by = author === null ? '' : html` <span class="faint">by ${shown(author)}</span>`;
  return html`<li>${stateDot(OUTCOME_LABELS[outcome])} ${link(path, shown(error ?? summary, 120), { class: 'name' })}
<span>${commitText(commit, commitUrl)} ${shown(subject)}${by}</span><span class="end faint">${age(endedAt, now)}</span></li>
`;
}

/** The source of the manifests, and when they are compared. */
function sourceSection(view: OrganizationView, { now }: PageRequest): Html {
  const { id, nextCheck, pollSeconds, plan, webhook, replica } = view;
  const poll = pollSeconds === null ? '' : html` New commits are fetched every ${spanWords(pollSeconds * 1000)}.`;
  return html`<section aria-labelledby="source"><h2 id="source">Source</h2>
<dl class="facts">
<div><dt>Next check</dt><dd>${nextCheck === null ? 'when something changes' : age(nextCheck, now)}.${poll}</dd></div>
${webhook === null ? '' : html`<div><dt>Webhook</dt><dd>${webhook.lastAt === null ? '' : html`${age(webhook.lastAt, now)}: `}${webhook.sentence}</dd></div>`}
${replica === null ? '' : html`<div><dt>Replica</dt><dd>${link('/replicas', shown(replica))}</dd></div>`}
${plan === null ? '' : html`<div><dt>Last plan</dt><dd>${link(plan.path, counted(plan.changes, 'change'))}</dd></div>`}
<div><dt>See also</dt><dd>${link(withQuery('/alerts', { organization: id }), 'Alerts')}, ${link('/limits', 'API limits')}, ${link(withQuery('/log', { organization: id }), 'Log')}</dd></div>
</dl></section>`;
}

/** A resource of the page, or one that only contains some. */
interface Branch {
  readonly address: string;
  row: ResourceRow | null;
  readonly children: Branch[];
}

/** Returns the rows under a heading for each kind, and as a tree. Rows come after what they are part of; that may be on an earlier page. */
function resourceGroups(list: ResourcePage): Html {
  const { rows } = list;
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
  const groups = Map.groupBy(roots, ({ address, row }) =>
    row?.isDeclared === false ? 'removed' : (row?.kind ?? kindOf(address as Address)),
  );
  const sections = [...groups].map(([kind, branches]) => {
    const heading = kindHeading(kind);
    const count = kind === 'removed' ? branches.length : countOf(kind, list);
    return html`<section class="kind" aria-label="${heading}"><h3>${heading} <span class="count">${count}</span></h3>
<ul class="tree">${branches.map(item)}</ul></section>`;
  });
  return html`<div class="kinds">${sections}</div>`;
}

/** `5, 1 in collections`: the resources of a kind, also those in the tree of another one; all if the list has more pages. */
function countOf(kind: string, { rows, kinds, filter, next }: ResourcePage): string {
  if (filter.after !== '' || next !== null) {
    return String(kinds.find((each) => each.kind === kind)?.count ?? '');
  }
  const own = rows.filter((row) => row.kind === kind && row.isDeclared);
  const trees = own.map(({ ancestors: [root] }) => (root === undefined ? kind : kindOf(root)));
  const others = Map.groupBy(
    trees.filter((tree) => tree !== kind),
    (tree) => tree,
  );
  return [String(own.length), ...[...others].map(([tree, { length }]) => `${length} in ${kindWords(tree)}s`)].join(
    ', ',
  );
}

function kindHeading(kind: string): string {
  const words = kind === 'removed' ? 'No longer declared' : kind === 'organization' ? kind : `${kindWords(kind)}s`;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function item({ address, row, children }: Branch): Html {
  const label = row === null ? html`<span class="faint">${shown(address, 100)} (continued)</span>` : rowText(row);
  return html`<li>${label}${children.length === 0 ? '' : html`<ul>${children.map(item)}</ul>`}</li>
`;
}

/** A title first, then the address; the state in words only if it is not in sync. */
function rowText({ address, kind, title, path, state, action, isDrift }: ResourceRow): Html {
  const label = RESOURCE_LABELS[state];
  const change = action === null ? '' : html` <span class="faint">to ${actionWord(action).toLowerCase()}</span>`;
  const drift = isDrift ? html` <span class="faint">changed on the platform</span>` : '';
  const name = title === '' ? nameOf(address) : title;
  const small = name === address ? '' : html` <span class="address">${shown(address, 100)}</span>`;
  return html`${kindIcon(kind)} ${link(path, shown(name, 80), { class: 'name' })} ${state === 'in-sync' ? stateDot(label) : stateBadge(label)}${change}${drift}${small}`;
}

/** Returns the last part of an address, which people recognize it by. */
function nameOf(address: string): string {
  return address.slice(address.lastIndexOf('/') + 1);
}
