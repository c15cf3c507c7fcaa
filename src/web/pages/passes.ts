/** Pages of the passes of an organization, by commit, and of one: what it found, did and could not do. */

import { html } from 'hono/html';
import { readPlan } from '../../plan/render/document.ts';
import { counted } from '../../plan/render/words.ts';
import type { PassCounts, PassRecord } from '../../store/history.ts';
import { actionWord, changeRows } from '../html/changes.ts';
import { link } from '../html/link.ts';
import { OUTCOME_LABELS, RESULT_LABELS, stateBadge } from '../html/state.ts';
import { paging, table } from '../html/table.ts';
import { age, commitText, shown, shownLines } from '../html/text.ts';
import type { OrganizationState } from '../model/backend.ts';
import {
  type ForgeLinks,
  forgeLinks,
  organizationPath,
  passPath,
  planPath,
  resourcePath,
  withQuery,
} from '../model/paths.ts';
import { planContent, statusesOf, WHOLE_PLAN } from '../model/plan.ts';
import { isoTime, secondsWords } from '../model/words.ts';
import { defineOrganizationPage, type Html, type PageRequest } from '../page.ts';

const PAGE_SIZE = 50;
/** Changes of a pass that are listed. */
const MAX_CHANGES = 200;

export type PassesView = Awaited<ReturnType<typeof loadList>>;

/** Lists passes by commit, before a number of the query. */
async function loadList({ id, history, config }: OrganizationState, { query }: PageRequest) {
  const before = readNumber(query.before);
  const found = await history.passes({ before, limit: PAGE_SIZE + 1 });
  const links = forgeLinks(config.source);
  const rows = found.slice(0, PAGE_SIZE).map((pass) => passRow(id, pass, links));
  return {
    organization: id,
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
    changes: details.changes.slice(0, MAX_CHANGES).map((each) => ({ ...each, path: resourcePath(id, each.address) })),
    /** Changes that are not listed; see the plan. */
    unlisted: Math.max(0, details.changes.length - MAX_CHANGES),
    /** Changes of the plan that the history does not keep. */
    notKept: Math.max(0, sum(details.pass.counts, ACTIONS) - details.changes.length),
    /** The plan as it was kept; null if it had no changes, or is not kept any more. */
    plan: plan === null ? null : planContent(id, plan, links, WHOLE_PLAN, statusesOf(details.changes)),
  };
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
  path: '/passes',
  load: loadList,
  title: ({ organization }) => `Passes of ${shown(organization, 80)}`,
  render: (view, { now }) => {
    const path = organizationPath(view.organization, '/passes');
    return html`<h1>Passes</h1>
<p>Each pass compares the manifests with the platform, and applies what differs. Consecutive passes with the same
result that wrote nothing are one row.</p>
${view.commits.length === 0 ? html`<p class="empty">No pass has ended yet.</p>` : view.commits.map((group) => commitSection(group, now))}
${paging(view.isFirst ? null : path, view.next === null ? null : withQuery(path, { before: view.next }), 'passes')}`;
  },
  topic: ({ organization }) => organization,
});

function commitSection(
  { commit, commitUrl, subject, author, passes }: PassesView['commits'][number],
  now: number,
): Html {
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
function requestWords({ reads, writes, refused }: Pick<PassRow, 'reads' | 'writes' | 'refused'>): string {
  return `${counted(reads, 'read')}, ${counted(writes, 'write')}${refused === 0 ? '' : `, ${refused} refused`}`;
}

export const passPage = defineOrganizationPage<PassView>({
  path: '/passes/:number',
  load: loadPass,
  title: ({ number, organization }) => `Pass ${number} of ${shown(organization, 80)}`,
  render: (
    view,
    { now },
  ) => html`<p class="up">${link(organizationPath(view.organization, '/passes'), 'All passes')}</p>
<h1>Pass #${view.number}</h1>
${facts(view, now)}
${view.error === null ? '' : html`<section aria-labelledby="error"><h2 id="error">Error</h2>${shownLines(view.error)}</section>`}
${results(view)}
${
  view.plan === null
    ? ''
    : html`<section aria-labelledby="plan"><h2 id="plan">Plan</h2>
<p>${view.plan.summaryText}. ${view.planPath === null ? '' : link(view.planPath, 'The plan with all changes')}</p>
${changeRows(view.plan.changes)}</section>`
}`,
  topic: ({ organization }) => organization,
});

function facts(view: PassView, now: number): Html {
  const { outcome, trigger, commit, commitUrl, subject, author, times } = view;
  const since = times === 1 ? '' : html`; ${times} passes with the same result since ${age(view.firstEndedAt, now)}`;
  const by = author === null ? '' : html` <span class="faint">by ${shown(author)}</span>`;
  return html`<dl class="facts">
<div><dt>Outcome</dt><dd>${stateBadge(OUTCOME_LABELS[outcome])}</dd></div>
<div><dt>Ended</dt><dd>${age(view.endedAt, now)}${since}</dd></div>
<div><dt>Cause</dt><dd>${shown(trigger)}</dd></div>
<div><dt>Commit</dt><dd>${commitText(commit, commitUrl)} ${shown(subject)}${by}</dd></div>
<div><dt>Changes</dt><dd>${view.summary}</dd></div>
<div><dt>Requests</dt><dd>${requestWords(view)}${view.refused === 0 ? '' : ' because of the rate limit'}</dd></div>
<div><dt>Duration</dt><dd>${secondsWords(view.milliseconds)}</dd></div>
</dl>`;
}

function results({ changes, unlisted, notKept }: PassView): Html {
  const kept =
    notKept === 0
      ? html``
      : html`<p>${counted(notKept, changes.length === 0 ? 'change' : 'more change')} not kept.</p>`;
  if (changes.length === 0) {
    return kept;
  }
  const rows = changes.map(({ address, path, action, status, error }) => [
    link(path, shown(address)),
    actionWord(action),
    html`${stateBadge(RESULT_LABELS.get(status) ?? { tone: 'none', word: shown(status) })}`,
    error === null ? '' : shown(error, 400),
  ]);
  return html`<section aria-labelledby="results"><h2 id="results">Results</h2>
${table({ caption: 'Changes of this pass', head: ['Resource', 'Change', 'Result', 'Error'], rows, empty: '' })}
${unlisted === 0 ? '' : html`<p>${unlisted} more are not listed.</p>`}
${kept}</section>`;
}
