/** Plans as pages show them: their content, page by page, and their difference. */
import { type AccessChange, changeId } from '../../core/change.ts';
import { sameJson } from '../../core/json.ts';
import { type ChangeDocument, changeTitle, type PlanDocument } from '../../plan/render/document.ts';
import { orderByEffect } from '../../plan/render/effects.ts';
import { type FieldLine, fieldLines } from '../../plan/render/field-text.ts';
import { planSentence } from '../../plan/render/sentence.ts';
import { accessPlace, accessWords, costWords, listRows, RANK, summaryLine } from '../../plan/render/text.ts';
import { type ForgeLinks, resourcePath } from './paths.ts';

const MAX_LISTED = 100;

/** Difference between two plans. Every list is cut to `MAX_LISTED`; the counts are complete. */
export type PlanDifference = ReturnType<typeof comparePlans>;
/** A change of two plans, by its action and address. */
export type DifferingChange = PlanDifference['added'][number];

/** Compares two plans, change by change. */
export function comparePlans(before: PlanDocument, after: PlanDocument) {
  const old = new Map(before.changes.map((change) => [changeId(change), change]));
  const now = new Set(after.changes.map(changeId));
  const removed = before.changes.filter((change) => !now.has(changeId(change)));
  const added = after.changes.filter((change) => !old.has(changeId(change)));
  const changed = after.changes.filter((change) => {
    const other = old.get(changeId(change));
    return other !== undefined && !sameJson(other.fields, change.fields);
  });
  const same = after.changes.length - added.length - changed.length;
  return {
    added: listed(added),
    removed: listed(removed),
    /** Changes of both plans, with other values. */
    changed: listed(changed),
    counts: { added: added.length, removed: removed.length, changed: changed.length, same },
  };
}

function listed(changes: readonly ChangeDocument[]) {
  return changes.slice(0, MAX_LISTED).map(({ action, address }) => ({ action, address }));
}

/** Changes and access changes of one page. */
const PAGE_SIZE = 100;
const MAX_NOTES = 50;

type PlanOverview = ReturnType<typeof describePlan>;
/** Overviews by their plan: describing 100,000 changes takes longer than a page may take. */
const overviews = new WeakMap<PlanDocument, PlanOverview>();

function overviewOf(plan: PlanDocument): PlanOverview {
  const overview = overviews.get(plan) ?? describePlan(plan);
  overviews.set(plan, overview);
  return overview;
}

function describePlan(plan: PlanDocument) {
  const all = orderByEffect(plan);
  return {
    all,
    /** `Deletes 21 spaces, makes Acme Team public`. */
    sentence: planSentence(plan),
    /** Effects of the whole plan, with the number of changes by kind. */
    effects: [...Map.groupBy(all, ({ effect }) => effect)].map(([effect, of]) => ({
      effect,
      count: of.length,
      kinds: [...Map.groupBy(of, ({ change }) => change.kind)].map(([kind, each]) => ({ kind, count: each.length })),
    })),
  };
}

/** Changes of a plan that a page shows. Empty texts select everything. */
export interface PlanSelection {
  /** Index of the first one, of those that are selected. */
  readonly from: number;
  readonly effect: string;
  /** Part of the title or address. */
  readonly text: string;
}

export const WHOLE_PLAN: PlanSelection = { from: 0, effect: '', text: '' };

/** Describes one page of a plan. `statusOf`: the results of its changes. */
export function planContent(
  organization: string,
  plan: PlanDocument,
  links: ForgeLinks,
  selection: PlanSelection,
  statusOf: (change: ChangeDocument) => string | null,
) {
  const { all, sentence, effects } = overviewOf(plan);
  const text = selection.text.toLowerCase();
  const isSelected = ({ change, effect }: PlanOverview['all'][number]) =>
    (selection.effect === '' || effect === selection.effect) &&
    (text === '' || `${change.address}\n${changeTitle(change)}`.toLowerCase().includes(text));
  const order = selection.effect === '' && text === '' ? all : all.filter(isSelected);
  const selected = order.length;
  const start = selection.from;
  const from = Number.isSafeInteger(start) && start > 0 && start < selected ? start : 0;
  const shown = order.slice(from, from + PAGE_SIZE);
  const { checksum, heldChecksum, commit, verdict, summary, access } = plan;
  return {
    checksum,
    heldChecksum,
    commit,
    verdict,
    summary,
    commitUrl: commit === null ? null : links.commit(commit),
    sentence,
    effects,
    /** Such as `1 to create, 2 held, 38 unchanged`. */
    summaryText: summaryLine(plan),
    cost: costWords(plan),
    /** Access changes of this page, and the number of all. */
    access: access.slice(from, from + PAGE_SIZE).map(accessView),
    accessTotal: access.length,
    selection: { effect: selection.effect, text: selection.text },
    /** Changes that the selection has. */
    selected,
    /** Changes of this page: deletions first, then access, each by kind. */
    changes: shown.map(({ change, effect, rank }) => ({
      ...changeView(organization, change, sourceView(change.source, commit, links), statusOf(change)),
      effect,
      /** Deletions, and everything that is held. */
      isDangerous: rank <= RANK.delete,
    })),
    /** Index of the first change of this page. */
    from,
    total: all.length,
    /** Value of `from` for the next page; null on the last one. */
    next: from + shown.length < selected ? from + shown.length : null,
    /** Resources that are adopted, pending, noted or not managed; of many, the first. */
    notes: listRows(plan)
      .slice(0, MAX_NOTES)
      .map(([name, text]) => ({ name, text })),
  };
}

/** Returns the statuses of changes that a pass reached, by the change. */
export function statusesOf(
  results: readonly { readonly action: string; readonly address: string; readonly status: string }[],
): (change: ChangeDocument) => string | null {
  const known = new Map(
    results.flatMap(({ action, address, status }) => (REACHED.has(status) ? [[`${action} ${address}`, status]] : [])),
  );
  return (change) => known.get(changeId(change)) ?? null;
}

/** Statuses of changes that did not wait. */
const REACHED: ReadonlySet<string> = new Set(['applied', 'failed', 'skipped']);

/** Location of a declaration, and its page at the forge. */
export type SourceView = NonNullable<ReturnType<typeof sourceView>>;

/** Describes a location in the manifests. */
export function sourceView(source: ChangeDocument['source'], commit: string | null, links: ForgeLinks) {
  return source === null
    ? null
    : { file: source.file, line: source.line, url: links.file(commit, source.file, source.line) };
}

export type ChangeView = ReturnType<typeof changeView>;

/** Describes a change. `status`: result of the pass that made the plan; null if it did not reach the change, or is not known. */
export function changeView(
  organization: string,
  change: ChangeDocument,
  source: SourceView | null,
  status: string | null,
) {
  const { action, address, kind, isReplacement, held, paused, impact, accessFields = [] } = change;
  return {
    action,
    address,
    kind,
    /** Title of the resource; empty if it has none. */
    title: changeTitle(change),
    isReplacement,
    /** Why it needs approval; null if it does not. */
    held,
    paused,
    /** Consequences of a deletion; otherwise empty. */
    impact,
    source,
    status,
    path: resourcePath(organization, address),
    lines: change.fields.flatMap((field): FieldLine | readonly FieldLine[] =>
      action === 'move' && field.path === 'position' && typeof field.to === 'string'
        ? [{ name: 'position', text: field.to, value: field.to }]
        : fieldLines(field, accessFields.includes(field.path)),
    ),
  };
}

/** Describes a person or group of people that gains or loses access. */
function accessView(change: AccessChange) {
  const effect: 'gains' | 'loses' | 'changes' =
    change.from === null ? 'gains' : change.to === null ? 'loses' : 'changes';
  return {
    effect,
    person: change.person,
    /** As in the text of a plan, such as `ana@acme.example joins team/writers (member)`. */
    text: accessWords(change),
    /** Resource that they can access, with the role: `team/writers (member)`. */
    place: accessPlace(change),
    /** Resource whose change causes it. */
    address: change.change,
  };
}
