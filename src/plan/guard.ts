/** Guard of a plan: the policy, what waits for approval, and whether the plan as a whole may be applied. */

import { createHash } from 'node:crypto';
import type { Address } from '../core/address.ts';
import type { Change, FieldChange, Verdict } from '../core/change.ts';
import { canonicalJson, sameJson } from '../core/json.ts';
import { append, compareText } from '../core/lists.ts';
import type { Actual, Base, Observation, Pause } from '../core/resource.ts';
import { ROOT_SCOPE } from '../core/scope.ts';
import { normalizeValue } from './diff.ts';
import { flappingPause, type Revert } from './flapping.ts';
import { fieldsAt, type Identity } from './identity.ts';
import type { ChangeDocument, PlanDocument } from './render/document.ts';
import { kindWords } from './render/words.ts';
import type { KindRules, LockOutContext } from './rules.ts';

/** Setting that decides which undeclared resources are deleted: one value, or one for each kind. */
export type PrunePolicy = 'owned' | 'never' | 'all' | Readonly<Record<string, 'owned' | 'never' | 'all'>>;

/** Limits on the changes that a plan may apply. See docs/approvals.md#what-needs-approval. */
export interface Policy {
  readonly prune: PrunePolicy;
  /** Kinds whose deletions need approval; null for those with `deletionNeedsApproval` in their rules. */
  readonly requireApproval: readonly string[] | null;
  readonly limits: {
    /** Maximum number of deletions in one plan. */
    readonly maxDeletions: number;
    /** Updates and deletions together, in percent of the owned resources, at 10 or more of those. */
    readonly maxChangedPercent: number;
  };
  /** Reverts drift; if false, drift is only reported. */
  readonly selfHeal: boolean;
  /** The email of the user whose token is used; null if it is not known. */
  readonly user: string | null;
  /** Current time, for pauses, in milliseconds since the epoch. */
  readonly now: number;
  /** Number of deletions that may exceed both limits in this plan. */
  readonly allowDeletes: number;
  /** Checksums of plans that a person has approved. */
  readonly approved: readonly string[];
  /** Checksum, or its first digits, that a person typed to approve this plan. See approval-choice.ts. */
  readonly typedApproval?: string | undefined;
  /** Drift that was reverted recently: a flapping field is reverted at growing intervals. */
  readonly reverts: readonly Revert[];
  /** Resources that a person has paused; only pauses that have not ended. */
  readonly pauses: ReadonlyMap<Address, Pause>;
}

/** Policy of an organization whose configuration sets none. */
export const DEFAULT_POLICY: Omit<Policy, 'now'> = {
  prune: 'owned',
  requireApproval: null,
  limits: { maxDeletions: 5, maxChangedPercent: 30 },
  selfHeal: true,
  user: null,
  allowDeletes: 0,
  approved: [],
  reverts: [],
  pauses: new Map(),
};

/** Number of owned resources from which the percentage limit applies. See docs/approvals.md#what-needs-approval. */
const SHARE_FROM = 10;

/** The plan that changes belong to. */
interface GuardContext {
  readonly kinds: readonly KindRules[];
  readonly identity: Identity;
  readonly observation: Observation;
  readonly base: Base;
  readonly policy: Policy;
}

/**
 * Marks the changes that wait for approval: deletions of resources that contain something that stays, deletions of kinds
 * that need approval, and changes that show readers a new resource instead of one that has content. A replacement waits as
 * a whole. Also marks the changes that are paused by their declaration, by a person, or because their fields are flapping.
 */
export function holdChanges(changes: readonly Change[], context: GuardContext): readonly Change[] {
  const { kinds, base, policy } = context;
  const lost = lostContents(changes, context);
  const newContent = replacedContents(changes, context);
  const isDriftNeeded = !policy.selfHeal || policy.reverts.length > 0;
  const drift = isDriftNeeded ? driftOf(kinds, changes, base) : new Set<Change>();
  const reported = policy.selfHeal ? new Set<Change>() : drift;
  const pauseOf = (change: Change) => {
    const cooldown = drift.has(change) ? flappingPause(change, policy.reverts, policy.now) : null;
    return isPaused(change, policy.now) ? change.paused : (policy.pauses.get(change.address) ?? cooldown);
  };
  const needApproval =
    policy.requireApproval ?? kinds.filter((kind) => kind.deletionNeedsApproval === true).map(({ name }) => name);
  const reasonOf = (change: Change): string | null => {
    if (reported.has(change)) {
      return 'drift is only reported (selfHeal: false)';
    }
    if (change.action !== 'delete') {
      return newContent.get(change.address) ?? null;
    }
    const approval = needApproval.includes(change.kind) ? `deleting ${kindWords(change.kind)}s needs approval` : null;
    return lost.get(change.address) ?? approval;
  };
  const marked = changes.map((change): Change => {
    const paused = pauseOf(change);
    const held = change.held === null ? reasonOf(change) : null;
    return held === null ? { ...change, paused } : { ...change, paused, held, approvable: true };
  });
  const halves = new Map(
    marked.filter((change) => change.isReplacement && change.held !== null).map((change) => [change.address, change]),
  );
  return marked.map((change) => {
    const half = change.isReplacement && change.held === null ? halves.get(change.address) : undefined;
    return half === undefined ? change : { ...change, held: half.held, approvable: half.approvable };
  });
}

/** Finds the changes that no commit causes: the declared values are those last applied, but the platform differs. */
export function driftOf(kinds: readonly KindRules[], changes: readonly Change[], base: Base): ReadonlySet<Change> {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  return new Set(
    changes.filter((change) => {
      const entry = base?.get(change.address);
      const kind = byName.get(change.kind);
      const isDeleted = change.action === 'delete' && !change.isReplacement;
      if (entry === undefined || entry.metadata.begun === true || kind === undefined || isDeleted) {
        return false;
      }
      return change.fields.every(({ path }) => {
        const declared = change.declared[path];
        const now = declared === undefined ? undefined : normalizeValue(kind.fields[path], declared);
        const isSamePlace = change.place?.list === entry.place?.list && change.place?.index === entry.place?.index;
        return path === 'position' ? isSamePlace : sameJson(now, entry.fields[path]);
      });
    }),
  );
}

/** A pause ends when its day begins, in UTC. */
function isPaused(change: Change, now: number): boolean {
  const until = change.paused?.until;
  return change.paused !== null && (until == null || now < Date.parse(`${until}T00:00:00Z`));
}

/** Finds deletions of resources whose contents are neither deleted nor moved away in the same plan. */
function lostContents(
  changes: readonly Change[],
  { kinds, identity, observation }: GuardContext,
): ReadonlyMap<Address, string> {
  const reasons = new Map<Address, string>();
  const going = new Set(changes.filter((change) => change.action === 'delete').map((change) => change.address));
  if (going.size === 0) {
    return reasons;
  }
  const leaving = new Set(
    changes.filter((change) => change.action === 'delete' || change.action === 'move').map((change) => change.id),
  );
  for (const kind of kinds) {
    const holders = Object.entries(kind.fields).filter(([, rules]) => rules.parentRef === true);
    for (const actual of holders.length === 0 ? [] : (observation.kinds.get(kind.name) ?? [])) {
      const fields = identity.fieldsOf(actual);
      for (const [name] of holders) {
        const holder = fields[name];
        if (typeof holder === 'string' && going.has(holder) && !leaving.has(actual.id)) {
          reasons.set(holder, describeLost(actual, reasons.get(holder)));
        }
      }
    }
  }
  return reasons;
}

/**
 * Finds changes that show readers a resource that the plan creates instead of the one that they see, as a rename does that
 * is not recognized. The creation waits too: otherwise the next plan would find the new resource and not hold the change.
 */
function replacedContents(changes: readonly Change[], { kinds, identity }: GuardContext): ReadonlyMap<Address, string> {
  const reasons = new Map<Address, string>();
  const before = (address: Address) => fieldsAt(identity, address);
  const isNew = ({ action, isReplacement }: Change) => action === 'create' && !isReplacement;
  const created = new Set(changes.filter(isNew).map(({ address }) => address));
  const rules = new Map(kinds.map((kind) => [kind.name, kind]));
  for (const change of created.size === 0 ? [] : changes) {
    const isShown = change.action !== 'delete' && !isNew(change);
    const shown = isShown && rules.get(change.kind)?.shownInstead?.(change, before);
    if (typeof shown === 'string' && created.has(shown)) {
      reasons.set(change.address, `readers would see the new ${shown} instead of the current content`);
      reasons.set(shown, `readers would see it instead of the current content of ${change.address}`);
    }
  }
  return reasons;
}

function describeLost(actual: Actual, before: string | undefined): string {
  const one = `${actual.kind} ${JSON.stringify(actual.title)} (${actual.id})`;
  return before === undefined ? `would also delete: ${one}` : `${before}, ${one}`;
}

/**
 * Computes the verdict: whether the plan as a whole may be applied.
 * See docs/approvals.md#what-needs-approval.
 */
export function computeVerdict(changes: readonly Change[], checksum: string, context: GuardContext): Verdict {
  const { base, policy } = context;
  const owned = base?.size ?? 0;
  const reasons = findLockOuts(changes, context);
  if (reasons.length > 0) {
    return { state: 'refused', reasons };
  }
  const due = changes.filter((change) => change.paused === null && !(change.held !== null && !change.approvable));
  const gone = due.filter((change) => change.action === 'delete').length;
  if (policy.approved.includes(checksum)) {
    return { state: 'ready', reasons };
  }
  const rules = new Map(context.kinds.map((kind) => [kind.name, kind]));
  for (const change of due) {
    const reason = rules.get(change.kind)?.approvalReason?.(change) ?? null;
    append(reasons, reason === null ? [] : [`${change.address}: ${reason}`]);
  }
  if (policy.allowDeletes > 0 && gone <= policy.allowDeletes) {
    return { state: reasons.length === 0 ? 'ready' : 'held', reasons };
  }
  if (gone > policy.limits.maxDeletions) {
    reasons.push(`${gone} deletions are more than the limit of ${policy.limits.maxDeletions}`);
  }
  const touched = new Set(due.filter(isDamaging).map((change) => change.address)).size;
  const share = owned === 0 ? 0 : (100 * touched) / owned;
  if (owned >= SHARE_FROM && share > policy.limits.maxChangedPercent) {
    reasons.push(
      // A plan may also touch resources that it adopts, so the number may exceed that of the owned ones.
      `${touched} resources would be updated or deleted, more than the limit of ${policy.limits.maxChangedPercent} % of the ${owned} owned resources`,
    );
  }
  return { state: reasons.length === 0 ? 'ready' : 'held', reasons };
}

/** Returns true if a change may do damage: all except creations and changes of order. */
function isDamaging({ action, fields }: Change): boolean {
  return action === 'move' ? fields.some((field) => field.path !== 'position') : action !== 'create';
}

/** Returns the reasons why the plan would lock people out; empty if it would not. See docs/approvals.md#what-needs-approval. */
function findLockOuts(changes: readonly Change[], { kinds, observation, policy }: GuardContext): string[] {
  const due = Map.groupBy(
    changes.filter((change) => change.paused === null),
    (change) => change.kind,
  );
  const context: LockOutContext = {
    changes: (kind) => due.get(kind) ?? [],
    actuals: (kind) => observation.kinds.get(kind),
    user: policy.user?.toLowerCase() ?? null,
  };
  return kinds.flatMap((kind) => kind.lockOuts?.(context) ?? []);
}

/**
 * Returns the checksum of the held changes of a plan. It never equals the checksum of a plan, so approving the held
 * changes approves nothing else: it stays the same when the rest of the plan grows.
 */
export function heldChecksum(organization: string, scope: string, held: readonly ChangeDocument[]): string {
  return digestOf({ changes: contentOf(held), organization, part: 'held', scope });
}

/**
 * Returns the checksum of a plan's content: which resources change, from which to which values. Commits and positions
 * in files are not part of it, so the same content has the same checksum wherever it is planned.
 */
export function planChecksum(organization: string, scope: string, changes: readonly ChangeDocument[]): string {
  return digestOf({ changes: contentOf(changes), organization, ...(scope === ROOT_SCOPE ? {} : { scope }) });
}

/**
 * Returns the checksums that an approval covers. Approving a whole plan also approves the rest of it after the changes
 * that are not held have been applied, which may happen before the approval takes effect.
 */
export function approvalsOf(
  { organization, scope, checksum, changes, verdict }: PlanDocument,
  approved: string,
): readonly string[] {
  if (approved !== checksum || verdict.state === 'held') {
    return [approved];
  }
  const left = changes.filter((change) => change.held !== null);
  return [...new Set([checksum, planChecksum(organization, scope, left)])];
}

/**
 * Returns the checksums that approve a plan; empty if nothing is held. `one`: only the checksum that messages suggest.
 */
export function heldChecksums(plan: PlanDocument | null, which: 'one' | 'any'): readonly string[] {
  if (plan === null || (plan.verdict.state === 'ready' && plan.heldChecksum === null)) {
    return [];
  }
  const { checksum, heldChecksum, verdict } = plan;
  const one = verdict.state === 'held' ? checksum : (heldChecksum ?? checksum);
  return which === 'one' || heldChecksum === null ? [one] : [checksum, heldChecksum];
}

/** Members are in alphabetical order, which canonical JSON formats fastest. */
function contentOf(changes: readonly ChangeDocument[]) {
  return changes
    .map(({ action, address, fields, id }) => ({ action, address, fields: fields.map(sortedField), id }))
    .toSorted((a, b) => compareText(a.address, b.address) || compareText(a.action, b.action));
}

function sortedField({ from, path, to }: FieldChange): FieldChange {
  return from === undefined ? { path, to } : { from, path, to };
}

function digestOf(content: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(content)).digest('hex')}`;
}
