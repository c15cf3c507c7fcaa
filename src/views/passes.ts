/** Views of the passes of an organization, and of one pass. */
import type { PassCounts, PassRecord } from '../store/history.ts';
import type { Backend } from './model/backend.ts';
import { type ForgeLinks, forgeLinks } from './model/forge-links.ts';
import { passPath, planPath, resourcePath } from './model/paths.ts';
import { type PlanContent, planContent, statusesOf } from './model/plan-content.ts';
import { readPlan } from './model/shown-plan.ts';
import { isoTime } from './model/words.ts';

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
