/** Plans as pages show them: their content, page by page, and their difference. */
import type { AccessChange, Action, Plan } from '../../core/change.ts';
import { sameJson } from '../../core/json.ts';
import type { ChangeDocument, PlanDocument } from '../../plan/render/document.ts';
import { type FieldLine, fieldLines } from '../../plan/render/field-text.ts';
import {
  accessPlace,
  accessWords,
  costWords,
  listRows,
  RANK,
  rankChanges,
  summaryLine,
} from '../../plan/render/text.ts';
import { type ForgeLinks, resourcePath } from './paths.ts';

/** A change of two plans, by its action and address. */
export interface DifferingChange {
  readonly action: string;
  readonly address: string;
}

/** Difference between two plans. Every list is cut to `MAX_LISTED`; the counts are complete. */
export interface PlanDifference {
  readonly added: readonly DifferingChange[];
  readonly removed: readonly DifferingChange[];
  /** Changes of both plans, with other values. */
  readonly changed: readonly DifferingChange[];
  readonly counts: {
    readonly added: number;
    readonly removed: number;
    readonly changed: number;
    readonly same: number;
  };
}

const MAX_LISTED = 100;

/** Compares two plans, change by change. */
export function comparePlans(before: PlanDocument, after: PlanDocument): PlanDifference {
  const idOf = ({ action, address }: ChangeDocument) => `${action} ${address}`;
  const old = new Map(before.changes.map((change) => [idOf(change), change]));
  const now = new Set(after.changes.map(idOf));
  const removed = before.changes.filter((change) => !now.has(idOf(change)));
  const added = after.changes.filter((change) => !old.has(idOf(change)));
  const changed = after.changes.filter((change) => {
    const other = old.get(idOf(change));
    return other !== undefined && !sameJson(other.fields, change.fields);
  });
  const same = after.changes.length - added.length - changed.length;
  return {
    added: listed(added),
    removed: listed(removed),
    changed: listed(changed),
    counts: { added: added.length, removed: removed.length, changed: changed.length, same },
  };
}

function listed(changes: readonly ChangeDocument[]): readonly DifferingChange[] {
  return changes.slice(0, MAX_LISTED).map(({ action, address }) => ({ action, address }));
}

/** Location of a declaration, and its page at the forge. */
export interface SourceView {
  readonly file: string;
  readonly line: number;
  readonly url: string | null;
}

/** Person or group of people that gains or loses access. */
export interface AccessView {
  readonly effect: 'gains' | 'loses' | 'changes';
  readonly person: string;
  /** As in the text of a plan, such as `ana@acme.example joins team/writers (member)`. */
  readonly text: string;
  /** Resource that they can access, with the role: `team/writers (member)`. */
  readonly place: string;
  /** Resource whose change causes it. */
  readonly address: string;
}

export interface ChangeView {
  readonly action: Action;
  readonly address: string;
  readonly kind: string;
  readonly path: string;
  /** Deletions, and everything that is held. */
  readonly isDangerous: boolean;
  readonly isReplacement: boolean;
  /** Why it needs approval; null if it does not. */
  readonly held: string | null;
  readonly paused: { readonly reason: string; readonly until: string | null } | null;
  /** Consequences of a deletion; otherwise empty. */
  readonly impact: string;
  readonly source: SourceView | null;
  /** Result of the pass that made the plan; null if it did not reach the change, or is not known. */
  readonly status: string | null;
  readonly lines: readonly FieldLine[];
}

export interface PlanContent {
  readonly checksum: string;
  readonly heldChecksum: string | null;
  readonly commit: string | null;
  readonly commitUrl: string | null;
  readonly verdict: Plan['verdict'];
  readonly summary: Plan['summary'];
  /** Such as `1 to create, 2 held, 38 unchanged`. */
  readonly summaryText: string;
  readonly cost: string;
  /** Access changes of this page, and the number of all. */
  readonly access: readonly AccessView[];
  readonly accessTotal: number;
  /** Changes of this page, the most dangerous first. */
  readonly changes: readonly ChangeView[];
  /** Index of the first change of this page. */
  readonly from: number;
  readonly total: number;
  /** Value of `from` for the next page; null on the last one. */
  readonly next: number | null;
  /** Resources that are adopted, pending, noted or not managed; of many, the first. */
  readonly notes: readonly { readonly name: string; readonly text: string }[];
}

/** Changes and access changes of one page. */
const PAGE_SIZE = 200;
const MAX_NOTES = 50;

type Ranked = readonly { readonly change: ChangeDocument; readonly rank: number }[];
/** Ranked changes of the plans that are shown: sorting 100,000 changes takes longer than a page may take. */
const ranked = new WeakMap<PlanDocument, Ranked>();

/** Describes one page of a plan. `statusOf`: the results of its changes. */
export function planContent(
  organization: string,
  plan: PlanDocument,
  links: ForgeLinks,
  start: number,
  statusOf: (change: ChangeDocument) => string | null,
): PlanContent {
  const order = ranked.get(plan) ?? rankChanges(plan);
  ranked.set(plan, order);
  const total = order.length;
  const from = Number.isSafeInteger(start) && start > 0 && start < total ? start : 0;
  const shown = order.slice(from, from + PAGE_SIZE);
  const { checksum, heldChecksum, commit, verdict, summary, access } = plan;
  return {
    checksum,
    heldChecksum,
    commit,
    verdict,
    summary,
    commitUrl: commit === null ? null : links.commit(commit),
    summaryText: summaryLine(plan),
    cost: costWords(plan),
    access: access.slice(from, from + PAGE_SIZE).map(accessView),
    accessTotal: access.length,
    changes: shown.map(({ change, rank }) => ({
      ...changeView(organization, change, sourceView(change.source, commit, links), statusOf(change)),
      isDangerous: rank <= RANK.delete,
    })),
    from,
    total,
    next: from + shown.length < total ? from + shown.length : null,
    notes: listRows(plan)
      .slice(0, MAX_NOTES)
      .map(([name, text]) => ({ name, text })),
  };
}

/** Returns the statuses of changes that a pass reached, by the change. */
export function statusesOf(
  results: readonly { readonly action: string; readonly address: string; readonly status: string }[],
): (change: ChangeDocument) => string | null {
  const idOf = ({ action, address }: { readonly action: string; readonly address: string }) => `${action} ${address}`;
  const known = new Map(results.filter(({ status }) => REACHED.has(status)).map((each) => [idOf(each), each.status]));
  return (change) => known.get(idOf(change)) ?? null;
}

/** Statuses of changes that did not wait. */
const REACHED: ReadonlySet<string> = new Set(['applied', 'failed', 'skipped']);

/** Describes a location in the manifests. */
export function sourceView(
  source: ChangeDocument['source'],
  commit: string | null,
  links: ForgeLinks,
): SourceView | null {
  return source === null
    ? null
    : { file: source.file, line: source.line, url: links.file(commit, source.file, source.line) };
}

/** Describes a change. */
export function changeView(
  organization: string,
  change: ChangeDocument,
  source: SourceView | null,
  status: string | null,
): Omit<ChangeView, 'isDangerous'> {
  const { action, address, kind, isReplacement, held, paused, impact, accessFields = [] } = change;
  return {
    action,
    address,
    kind,
    isReplacement,
    held,
    paused,
    impact,
    source,
    status,
    path: resourcePath(organization, address),
    lines: change.fields.flatMap((field) =>
      action === 'move' && field.path === 'position' && typeof field.to === 'string'
        ? [{ name: 'position', text: field.to }]
        : fieldLines(field, accessFields.includes(field.path)),
    ),
  };
}

function accessView(change: AccessChange): AccessView {
  const effect = change.from === null ? 'gains' : change.to === null ? 'loses' : 'changes';
  return {
    effect,
    person: change.person,
    text: accessWords(change),
    place: accessPlace(change),
    address: change.change,
  };
}
