/** History of an organization: its runs as a timeline, and one of them: what it found, did and could not do. A run is a pass. */

import { html } from 'hono/html';
import { readPlan } from '../../plan/render/document.ts';
import { counted } from '../../plan/render/words.ts';
import type { PassCounts, PassRecord } from '../../store/history.ts';
import { actionWord, changeRows, planContent, statusesOf, WHOLE_PLAN } from '../html/changes.ts';
import { runStrip } from '../html/charts.ts';
import {
  age,
  commitText,
  link,
  OUTCOME_LABELS,
  paging,
  RESULT_LABELS,
  shown,
  shownLines,
  stateBadge,
  stateDot,
  table,
} from '../html/elements.ts';
import { defineOrganizationPage, type Html, type OrganizationState, type PageRequest } from '../model/page.ts';
import {
  type ForgeLinks,
  forgeLinks,
  isoTime,
  organizationPath,
  passPath,
  planPath,
  resourcePath,
  secondsWords,
  withQuery,
} from '../model/words.ts';

const PAGE_SIZE = 50;
/** Changes of a pass that are listed. */
const MAX_CHANGES = 100;

export type PassesView = Awaited<ReturnType<typeof loadList>>;

/** Lists passes by commit, before a number of the query. */
async function loadList({ id, history, config }: OrganizationState, { query }: PageRequest) {
  const before = readNumber(query.before);
  const found = await history.passes({ before, limit: PAGE_SIZE + 1 });
  const links = forgeLinks(config.source);
  const rows = found.slice(0, PAGE_SIZE).map((pass) => passRow(id, pass, links));
  const opened = readNumber(query.run);
  const details = opened === undefined ? null : await history.pass(opened);
  return {
    organization: id,
    /** The run whose changes are shown in the list; null if none is. */
    opened: details === null ? null : { number: details.pass.number, changes: changesOf(id, details.changes) },
    /** Newest first. */
    commits: groupByCommit(rows),
    /** Value of `before` for the next page; null on the last one. */
    next: found.length > PAGE_SIZE ? (rows.at(-1)?.number ?? null) : null,
    isFirst: before === undefined,
  };
}

function readNumber(text: string | undefined): number | undefined {
  return /^\d{1,15}$/.test(text ?? '') ? Number(text) : undefined;
}

type PassView = NonNullable<Awaited<ReturnType<typeof loadPass>>>;

/** Describes a pass; null if it does not exist any more. */
async function loadPass({ id, history, config }: OrganizationState, { params }: PageRequest) {
  const number = readNumber(params.number);
  const details = number === undefined ? null : await history.pass(number);
  if (details === null) {
    return null;
  }
  const links = forgeLinks(config.source);
  const plan = readPlan(details.plan);
  return {
    organization: id,
    ...passRow(id, details.pass, links),
    changes: changesOf(id, details.changes),
    /** Changes that are not listed; see the plan. */
    unlisted: Math.max(0, details.changes.length - MAX_CHANGES),
    /** Changes of the plan that the history does not keep. */
    notKept: Math.max(0, sum(details.pass.counts, ACTIONS) - details.changes.length),
    /** The plan as it was kept; null if it had no changes, or is not kept any more. */
    plan: plan === null ? null : planContent(id, plan, links, WHOLE_PLAN, statusesOf(details.changes)),
  };
}

function changesOf<T extends { readonly address: string }>(id: string, changes: readonly T[]) {
  return changes.slice(0, MAX_CHANGES).map((each) => ({ ...each, path: resourcePath(id, each.address) }));
}

/** A pass in a list. Consecutive passes that ended the same way and wrote nothing are one entry. */
export type PassRow = ReturnType<typeof passRow>;

/** Describes a pass in a list. */
export function passRow(organization: string, pass: PassRecord, links: ForgeLinks) {
  const { endedAt, firstEndedAt, hasPlan, ...rest } = pass;
  return {
    ...rest,
    /** `3 applied, 1 held`; `none` without changes. */
    summary: resultWords(pass.counts),
    path: passPath(organization, pass.number),
    commitUrl: pass.commit === null ? null : links.commit(pass.commit),
    endedAt: isoTime(endedAt),
    /** End of the first of the passes. */
    firstEndedAt: isoTime(firstEndedAt),
    /** Page of the plan; null if it had no changes, or is not kept any more. */
    planPath: pass.checksum === null || !hasPlan ? null : planPath(organization, pass.checksum),
  };
}

/** Results of the changes, if any was tried, and what was planned otherwise. */
const RESULTS = ['applied', 'failed', 'skipped'];
const ACTIONS = ['create', 'update', 'move', 'delete'];

function sum(counts: PassCounts, names: readonly string[]): number {
  return names.reduce((total, name) => total + (counts[name] ?? 0), 0);
}

function resultWords(counts: PassCounts): string {
  const planned = sum(counts, RESULTS) === 0 ? sum(counts, ACTIONS) : 0;
  const all = { ...counts, planned };
  const parts = [...RESULTS, 'planned', 'held', 'paused'].flatMap((name) => {
    const count = sum(all, [name]);
    return count > 0 ? [`${count} ${name}`] : [];
  });
  return parts.length === 0 ? 'none' : parts.join(', ');
}

/** Groups consecutive passes of one commit. */
function groupByCommit(rows: readonly PassRow[]) {
  const groups: (Pick<PassRow, 'commit' | 'commitUrl' | 'subject' | 'author'> & { readonly passes: PassRow[] })[] = [];
  for (const row of rows) {
    const { commit, commitUrl, subject, author } = row;
    const last = groups.at(-1);
    if (last?.commit === commit) {
      last.passes.push(row);
    } else {
      groups.push({ commit, commitUrl, subject, author, passes: [row] });
    }
  }
  return groups;
}

export const passesPage = defineOrganizationPage<PassesView>({
  path: '/history',
  load: loadList,
  title: () => 'History',
  render: (view, { now }) => {
    const path = organizationPath(view.organization, '/history');
    const runs = view.commits.flatMap(({ passes }) => passes);
    return html`<h1>History</h1>
<p class="faint">Each run compares the manifests with the platform, and applies what differs. Runs in a row with the same result
that wrote nothing are one line.</p>
${
  runs.length === 0
    ? html`<p class="empty">Nothing has run yet.</p>`
    : html`${runStrip(runs)}
<ol class="rows timeline">${view.commits.map((each) => commitItem(view, each, now))}</ol>`
}
${paging(view.isFirst ? null : path, view.next === null ? null : withQuery(path, { before: view.next }), 'runs')}`;
  },
  topic: ({ organization }) => organization,
});

const CAUSES: ReadonlyMap<string, string> = new Map([
  ['start', 'the daemon started'],
  ['commit', 'new commit'],
  ['schedule', 'regular check'],
  ['manual', 'asked for by a person'],
  ['retry', 'another try'],
  ['window', 'the window opened'],
  ['approval', 'approved'],
]);

/** A commit with its runs: several are folded under what they did together. */
function commitItem(view: PassesView, group: PassesView['commits'][number], now: number): Html {
  const { commit, commitUrl, subject, author, passes } = group;
  const [latest] = passes;
  if (latest === undefined) {
    return html``;
  }
  const by = author === null ? '' : html` <span class="faint">by ${shown(author)}</span>`;
  const items = html`<ol class="runs">${passes.map((run) => runItem(view, run, now))}</ol>`;
  const isOpen = passes.some(({ number }) => number === view.opened?.number);
  const runs = passes.reduce((sum, { times }) => sum + times, 0);
  const lines =
    passes.length === 1
      ? items
      : html`<details id="runs-${passes.at(-1)?.number ?? 0}"${isOpen ? html` open` : ''}><summary>${counted(runs, 'run')}: ${groupWords(passes)}</summary>${items}</details>`;
  return html`<li>${stateDot(OUTCOME_LABELS[latest.outcome])}
<div class="commit"><p>${commitText(commit, commitUrl)} <b>${shown(subject, 80)}</b>${by}</p>${lines}</div><span class="end faint">${age(latest.endedAt, now)}</span></li>
`;
}

/** Returns what the runs of a commit applied together, and what the last one left: `34 applied, 1 held`. */
function groupWords(passes: readonly PassRow[]): string {
  const applied = passes.reduce((total, { counts }) => total + (counts.applied ?? 0), 0);
  const { applied: _applied, ...left } = passes[0]?.counts ?? {};
  const words = resultWords(applied === 0 ? left : { ...left, applied });
  return words === 'none' ? 'nothing to do' : words;
}

/** One line: what a run did, why, and when. */
function runItem({ organization, opened, isFirst }: PassesView, run: PassRow, now: number): Html {
  const { number, path, outcome, summary, error, times, trigger } = run;
  const isOpen = opened?.number === number;
  const list = organizationPath(organization, '/history');
  const before = isFirst ? null : number + 1;
  const results =
    summary === 'none'
      ? html`<span class="faint">${error === null ? 'nothing to do' : ''}</span>`
      : link(`${withQuery(list, { before, run: isOpen ? null : number })}#run-${number}`, summary, {
          label: `${summary}: changes of run ${number}`,
        });
  return html`<li id="run-${number}"><div class="run">${stateDot(OUTCOME_LABELS[outcome])}
${link(path, `#${number}`, { class: 'name' })}
<span>${results}${error === null ? '' : html` <span class="problem">${shown(error, 120)}</span>`}</span>
<span class="faint">${CAUSES.get(trigger) ?? shown(trigger)}${times === 1 ? '' : `, ${times} times`}</span>
<span class="end faint">${age(run.endedAt, now)}</span></div>
${isOpen ? resultTable(opened.changes) : ''}</li>
`;
}

/** `14 reads, 3 writes, 1 refused`. */
function requestWords({ reads, writes, refused }: Pick<PassRow, 'reads' | 'writes' | 'refused'>): string {
  return `${counted(reads, 'read')}, ${counted(writes, 'write')}${refused === 0 ? '' : `, ${refused} refused`}`;
}

export const passPage = defineOrganizationPage<PassView>({
  path: '/history/:number',
  load: loadPass,
  title: ({ number }) => `Run #${number}`,
  render: (
    view,
    { now },
  ) => html`<h1>Run #${view.number} <span class="badge">${stateBadge(OUTCOME_LABELS[view.outcome])}</span></h1>
${facts(view, now)}
${view.error === null ? '' : html`<section aria-labelledby="error"><h2 id="error">Error</h2>${shownLines(view.error)}</section>`}
${isSaidByPlan(view) ? '' : results(view)}
${revertSection(view)}
${
  view.plan === null
    ? ''
    : html`<section aria-labelledby="plan"><h2 id="plan">Plan</h2>
<p>${view.plan.sentence}. ${view.planPath === null ? '' : link(view.planPath, 'The plan with all changes')}</p>
${changeRows(view.plan.changes)}</section>`
}`,
  topic: ({ organization }) => organization,
});

function facts(view: PassView, now: number): Html {
  const { trigger, commit, commitUrl, subject, author, times } = view;
  const since = times === 1 ? '' : html`; ${times} runs with the same result since ${age(view.firstEndedAt, now)}`;
  const by = author === null ? '' : html` <span class="faint">by ${shown(author)}</span>`;
  return html`<dl class="facts">
<div><dt>Ended</dt><dd>${age(view.endedAt, now)}${since}</dd></div>
<div><dt>Cause</dt><dd>${CAUSES.get(trigger) ?? shown(trigger)}</dd></div>
<div><dt>Commit</dt><dd>${commitText(commit, commitUrl)} ${shown(subject)}${by}</dd></div>
<div><dt>Changes</dt><dd>${view.summary}</dd></div>
<div><dt>Requests</dt><dd>${requestWords(view)}${view.refused === 0 ? '' : ' because of the rate limit'}</dd></div>
<div><dt>Duration</dt><dd>${secondsWords(view.milliseconds)}</dd></div>
</dl>`;
}

/** Reports whether the plan below says all: each of its changes was applied. */
function isSaidByPlan({ plan, changes, unlisted, notKept }: PassView): boolean {
  return plan !== null && unlisted + notKept === 0 && changes.every(({ status }) => status === 'applied');
}

function results({ changes, unlisted, notKept }: PassView): Html {
  const kept =
    notKept === 0
      ? html``
      : html`<p>${counted(notKept, changes.length === 0 ? 'change' : 'more change')} not kept.</p>`;
  if (changes.length === 0) {
    return kept;
  }
  return html`<section aria-labelledby="results"><h2 id="results">Results</h2>
${resultTable(changes)}
${unlisted === 0 ? '' : html`<p>${unlisted} more are not listed.</p>`}
${kept}</section>`;
}

function resultTable(changes: PassView['changes']): Html {
  const hasErrors = changes.some(({ error }) => error !== null);
  const rows = changes.map(({ address, path, action, status, error }) => [
    link(path, shown(address)),
    actionWord(action),
    html`${stateBadge(RESULT_LABELS.get(status) ?? { tone: 'none', word: shown(status) })}`,
    ...(hasErrors ? [error === null ? '' : shown(error, 400)] : []),
  ]);
  return table({
    caption: 'Changes of this run',
    head: ['Resource', 'Change', 'Result', ...(hasErrors ? ['Error'] : [])],
    rows,
    empty: 'The history does not keep its changes any more.',
  });
}

/** Says how to take back what a run has applied: as for any other code. */
function revertSection({ commit, changes }: PassView): Html {
  if (commit === null || changes.every(({ status }) => status !== 'applied')) {
    return html``;
  }
  return html`<details class="menu" id="revert"><summary>Revert…</summary>
<p>To take these changes back, revert the commit in the repository of the manifests and push it. The next run applies the revert;
what it deletes waits for approval. A space that was deleted comes back empty; the platform can restore it for 7 days.</p>
<pre class="text">git revert ${shown(commit)}</pre></details>`;
}
