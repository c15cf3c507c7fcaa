/** Pages of the passes of an organization, by commit, and of one: what it found, did and could not do. */

import { html } from 'hono/html';
import { readPlan } from '../../plan/render/document.ts';
import { counted } from '../../plan/render/words.ts';
import type { PassCounts, PassRecord } from '../../store/history.ts';
import { actionWord, changeList } from '../html/changes.ts';
import { link } from '../html/link.ts';
import { OUTCOME_LABELS, RESULT_LABELS, stateBadge } from '../html/state.ts';
import { paging, table } from '../html/table.ts';
import { age, commitText, shown, shownLines } from '../html/text.ts';
import type { Backend } from '../model/backend.ts';
import {
  type ForgeLinks,
  forgeLinks,
  organizationPath,
  passPath,
  planPath,
  resourcePath,
  withQuery,
} from '../model/paths.ts';
import { type PlanContent, planContent, statusesOf } from '../model/plan.ts';
import { isoTime, secondsWords } from '../model/words.ts';
import { definePage, type Html } from '../page.ts';

/** A pass in a list. Consecutive passes that ended the same way and wrote nothing are one entry. */
export interface PassRow {
  readonly number: number;
  readonly path: string;
  readonly trigger: string;
  readonly commit: string | null;
  readonly commitUrl: string | null;
  readonly subject: string;
  readonly author: string | null;
  readonly outcome: PassRecord['outcome'];
  readonly counts: PassCounts;
  /** `3 applied, 1 held`; `none` without changes. */
  readonly summary: string;
  readonly error: string | null;
  readonly reads: number;
  readonly writes: number;
  readonly refused: number;
  readonly milliseconds: number;
  readonly endedAt: string;
  /** End of the first of the passes. */
  readonly firstEndedAt: string;
  readonly times: number;
  readonly checksum: string | null;
  /** Page of the plan; null if it had no changes, or is not kept any more. */
  readonly planPath: string | null;
}

/** Consecutive passes of one commit. */
export interface CommitPasses {
  readonly commit: string | null;
  readonly commitUrl: string | null;
  readonly subject: string;
  readonly author: string | null;
  /** Newest first. */
  readonly passes: readonly PassRow[];
}

export interface PassesView {
  readonly organization: string;
  /** Newest first. */
  readonly commits: readonly CommitPasses[];
  /** Value of `before` for the next page; null on the last one. */
  readonly next: number | null;
}

export interface PassView extends PassRow {
  readonly organization: string;
  readonly changes: readonly {
    readonly address: string;
    readonly path: string;
    readonly action: string;
    readonly status: string;
    readonly error: string | null;
  }[];
  /** Changes that are not listed; see the plan. */
  readonly unlisted: number;
  /** Changes of the plan that the history does not keep. */
  readonly notKept: number;
  /** The plan as it was kept; null if it had no changes, or is not kept any more. */
  readonly plan: PlanContent | null;
}

const PAGE_SIZE = 50;
/** Changes of a pass that are listed. */
const MAX_CHANGES = 200;

/** Lists passes by commit, before a number. Null if there is no such organization. */
export async function passesView(backend: Backend, id: string, before: number | null): Promise<PassesView | null> {
  const state = backend.organizations().find((each) => each.id === id);
  if (state === undefined) {
    return null;
  }
  const found = await state.history.passes({ before: before ?? undefined, limit: PAGE_SIZE + 1 });
  const links = forgeLinks(state.config.source);
  const rows = found.slice(0, PAGE_SIZE).map((pass) => passRow(id, pass, links));
  return {
    organization: id,
    commits: groupByCommit(rows),
    next: found.length > PAGE_SIZE ? (rows.at(-1)?.number ?? null) : null,
  };
}

/** Describes a pass; null if it does not exist any more. */
export async function passView(backend: Backend, id: string, number: number): Promise<PassView | null> {
  const state = backend.organizations().find((each) => each.id === id);
  const details = Number.isSafeInteger(number) ? await state?.history.pass(number) : null;
  if (state === undefined || details === null || details === undefined) {
    return null;
  }
  const links = forgeLinks(state.config.source);
  const plan = readPlan(details.plan);
  return {
    organization: id,
    ...passRow(id, details.pass, links),
    changes: details.changes.slice(0, MAX_CHANGES).map((each) => ({ ...each, path: resourcePath(id, each.address) })),
    unlisted: Math.max(0, details.changes.length - MAX_CHANGES),
    notKept: Math.max(0, plannedChanges(details.pass) - details.changes.length),
    plan: plan === null ? null : planContent(id, plan, links, 0, statusesOf(details.changes)),
  };
}

/** Describes a pass in a list. */
export function passRow(organization: string, pass: PassRecord, links: ForgeLinks): PassRow {
  const { endedAt, firstEndedAt, hasPlan, ...rest } = pass;
  return {
    ...rest,
    summary: resultWords(pass.counts),
    path: passPath(organization, pass.number),
    commitUrl: pass.commit === null ? null : links.commit(pass.commit),
    endedAt: isoTime(endedAt),
    firstEndedAt: isoTime(firstEndedAt),
    planPath: pass.checksum === null || !hasPlan ? null : planPath(organization, pass.checksum),
  };
}

/** Results of the changes, if any was tried, and what was planned otherwise. */
const RESULTS = ['applied', 'failed', 'skipped'];
const ACTIONS = ['create', 'update', 'move', 'delete'];

function resultWords(counts: PassCounts): string {
  const sum = (names: readonly string[]) => names.reduce((total, name) => total + (counts[name] ?? 0), 0);
  const planned = sum(RESULTS) === 0 ? sum(ACTIONS) : 0;
  const all = [
    ...RESULTS.map((name) => [name, counts[name] ?? 0] as const),
    ['planned', planned] as const,
    ['held', counts.held ?? 0] as const,
    ['paused', counts.paused ?? 0] as const,
  ];
  const parts = all.filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}

/** Counts the changes of the plan. */
function plannedChanges({ counts }: PassRecord): number {
  return ACTIONS.reduce((sum, action) => sum + (counts[action] ?? 0), 0);
}

function groupByCommit(rows: readonly PassRow[]): readonly CommitPasses[] {
  const groups: { head: PassRow; passes: PassRow[] }[] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last !== undefined && last.head.commit === row.commit) {
      last.passes.push(row);
    } else {
      groups.push({ head: row, passes: [row] });
    }
  }
  return groups.map(({ head: { commit, commitUrl, subject, author }, passes }) => ({
    commit,
    commitUrl,
    subject,
    author,
    passes,
  }));
}

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
function requestWords({ reads, writes, refused }: Pick<PassRow, 'reads' | 'writes' | 'refused'>): string {
  return `${counted(reads, 'read')}, ${counted(writes, 'write')}${refused === 0 ? '' : `, ${refused} refused`}`;
}

export const passPage = definePage<PassView>({
  path: '/o/:organization/passes/:number',
  load: async (backend, { params }) =>
    /^\d{1,15}$/.test(params.number ?? '') ? passView(backend, params.organization ?? '', Number(params.number)) : null,
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
${changeList(view.plan.changes)}</section>`
}`,
  topics: ({ organization }) => [organization],
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
