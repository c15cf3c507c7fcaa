/** Plan from the actual to the desired state. */
import type { Address } from '../core/address.ts';
import { type Change, type Cost, changeId, type Plan, type PlanSummary } from '../core/change.ts';
import { DesiredStateError } from '../core/errors.ts';
import { present } from '../core/json.ts';
import { compareText } from '../core/lists.ts';
import { type ManifestSecrets, NO_SECRETS } from '../core/manifest-secrets.ts';
import type { Base, Declared, Observation } from '../core/resource.ts';
import { ROOT_SCOPE } from '../core/scope.ts';
import { accessChanges } from './access.ts';
import { meantApprovals } from './approval-choice.ts';
import { arrangeSiblings } from './arrange.ts';
import { draftChanges } from './changes.ts';
import { findElsewhere, pauseElsewhere, withoutElsewhere } from './elsewhere.ts';
import { computeVerdict, heldChecksum, holdChanges, type Policy, planChecksum } from './guard.ts';
import { type Identity, identify, type OtherScopes, overlapProblems, withoutOtherScopes } from './identity.ts';
import { type Ordering, orderChanges, partOf } from './order.ts';
import { isDeletion } from './render/words.ts';
import { type KindRules, PeopleAddresses } from './rules.ts';
import { secretProblems } from './secrets.ts';

/** Input of a plan. */
export interface PlanInput {
  readonly organization: string;
  /** Distinguishes the manifest directories of one organization; the root scope if absent. */
  readonly scope?: string;
  /** Claims of the other scopes of the organization; none if absent. */
  readonly otherScopes?: OtherScopes;
  readonly commit: string | null;
  readonly baseCommit: string | null;
  /** Ordered so that each kind comes after those it refers to. */
  readonly kinds: readonly KindRules[];
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly base: Base;
  readonly observation: Observation;
  readonly policy: Policy;
  /** Secrets that manifests may name; none if absent. */
  readonly secrets?: ManifestSecrets;
  /** Addresses to which the plan is limited, with what is in them and what that requires; the whole plan if absent. */
  readonly targets?: readonly Address[] | undefined;
  /** True for an apply that records nothing: it sends no invitation, because a later one would send it again. */
  readonly isUnrecorded?: boolean;
  /** Computes the cost of applying these changes, including the reads already made. */
  readonly cost: (ordering: Ordering) => Cost;
}

/** A plan, with the order and the identities that applying it needs. */
export interface PlannedChanges {
  readonly plan: Plan;
  readonly ordering: Ordering;
  readonly identity: Identity;
}

/**
 * Computes the plan from actual to desired. See docs/concepts.md.
 *
 * | desired | base | actual | change |
 * | --- | --- | --- | --- |
 * | declared | any | bound, same | none |
 * | declared | any | bound, different | update, move, or a replacement |
 * | declared | any | none | create, or pending |
 * | gone | owned | bound | delete, if pruning |
 * | gone | owned | none | none: it no longer exists |
 * | never | never | exists | unmanaged; delete only with prune: all |
 *
 * @throws DesiredStateError when a key matches two resources, an id matches none, another scope declares it too, or a secret
 *   would be sent to an address that is not allowed for it
 */
export function computePlan(input: PlanInput): PlannedChanges {
  const { kinds, declared, base, observation, policy } = input;
  const { scope = ROOT_SCOPE, otherScopes } = input;
  // 1. Bind each key to its resource.
  const found = identify(kinds, declared, base, observation);
  const overlaps = otherScopes === undefined ? [] : overlapProblems(declared, found, otherScopes);
  const secrets = input.secrets ?? NO_SECRETS;
  const problems = [...found.problems, ...overlaps, ...secretProblems(kinds, declared, secrets)];
  if (problems.length > 0) {
    throw new DesiredStateError(problems);
  }
  const elsewhere = findElsewhere(kinds, declared, found);
  const own = withoutElsewhere(found, elsewhere);
  const identity = otherScopes === undefined ? own : withoutOtherScopes(own, otherScopes);
  // 2. Compare the declared resources with the actual ones.
  const { prune } = policy;
  const isUnrecorded = input.isUnrecorded === true;
  const draft = draftChanges({ kinds, declared, base, observation, identity, secrets, prune, isUnrecorded });
  // 3. Order siblings, hold what needs approval, and order the changes.
  const ordered = arrangeSiblings(kinds, draft.changes, declared, identity);
  const { changes: arranged, notes: elsewhereNotes } = pauseElsewhere(ordered, elsewhere);
  const guard = { kinds, identity, observation, base, policy };
  const held = holdChanges(arranged, guard);
  const all = orderChanges(kinds, held, (address) => declared.get(address));
  const wholeOf = wholes(input, all.sequence);
  const targets = input.targets === undefined ? undefined : new Set(input.targets.map(wholeOf));
  const ordering = targets === undefined ? all : partOf(all, targets, wholeOf);
  // 4. Assess the risk, and release what is approved.
  const checksum = planChecksum(input.organization, scope, ordering.sequence);
  const waiting = ordering.sequence.filter((change) => change.held !== null);
  const waits = waiting.length === 0 ? null : heldChecksum(input.organization, scope, waiting);
  const approvals = approvalsNow(policy, [checksum, ...(waits === null ? [] : [waits])]);
  const approved = approvals.includes(checksum) || approvals.includes(waits ?? '');
  const verdict = computeVerdict(ordering.sequence, checksum, { ...guard, policy: { ...policy, approved: approvals } });
  const rules = new Map(kinds.map((kind) => [kind.name, kind]));
  const changes = ordering.sequence.map((change) => {
    const released = approved && change.approvable ? { ...change, held: null } : change;
    return withAccessFields(released, rules.get(change.kind)?.fields ?? {});
  });
  const kept = new Set(changes.map(changeId));
  const leftOut = all.sequence.filter((change) => !kept.has(changeId(change))).map(({ address }) => address);
  const concerned = targets && new Set([...targets, ...changes.map(({ address }) => wholeOf(address))]);
  const pending = draft.pending.filter(({ address }) => concerned?.has(wholeOf(address)) ?? true);
  // 5. Assemble the plan.
  const whole = kinds.find((kind) => kind.isOrganization === true)?.name ?? '';
  const plan: Plan = {
    organization: input.organization,
    scope,
    title: observation.kinds.get(whole)?.[0]?.title ?? input.organization,
    commit: input.commit,
    baseCommit: input.baseCommit,
    hasBase: base !== null,
    checksum,
    heldChecksum: waits,
    changes,
    ...present({ targets: targets && { addresses: [...targets], leftOut } }),
    adopted: identity.adopted,
    unmanaged: identity.unmanaged.map(({ kind, id, title }) => ({ kind, id, title })).toSorted(byKindAndTitle),
    pending: pending.toSorted((a, b) => compareText(a.address, b.address)),
    notes: withoutRepeats([...identity.notes, ...draft.notes, ...elsewhereNotes]).toSorted((a, b) =>
      compareText(a.address, b.address),
    ),
    access: accessChanges(kinds, changes, identity),
    summary: summarize(changes, identity, leftOut),
    cost: input.cost({ ...ordering, sequence: changes }),
    verdict,
    bindings: bindingsOf(kinds, identity, observation),
  };
  return { plan, ordering: { ...ordering, sequence: changes }, identity };
}

/** Most resources for which the same note is repeated. */
const MAX_SAME_NOTES = 5;

/** Leaves one note where many resources have the same one. */
function withoutRepeats(notes: Plan['notes']): Plan['notes'] {
  const byText = Map.groupBy(notes, ({ text }) => text);
  return notes.flatMap((note) => {
    const same = byText.get(note.text) ?? [];
    if (same.length <= MAX_SAME_NOTES) {
      return [note];
    }
    return note === same[0] ? [{ ...note, text: `${note.text} (and ${same.length - 1} more like it)` }] : [];
  });
}

/** Levels of resources within each other: a site space is within a section, which is within a site. */
const LEVELS = 3;

/** Returns a function from an address to that of the whole that it is part of, such as the site of a section. */
function wholes({ declared, base }: PlanInput, changes: readonly Change[]): (address: Address) => Address {
  const parents = new Map(changes.map(({ address, within }) => [address, within]));
  return (address) => {
    let whole = address;
    for (let level = 1; level < LEVELS; level += 1) {
      whole = parents.get(whole) ?? declared.get(whole)?.within ?? base?.get(whole)?.within ?? whole;
    }
    return whole;
  };
}

/** Returns the whole checksums that are approved; one that a person typed is looked for only in this plan. */
function approvalsNow({ approved, typedApproval }: Policy, present: readonly string[]): readonly string[] {
  const choices = present.map((checksum) => ({ checksum }));
  const [meant, other] = typedApproval === undefined ? [] : meantApprovals(typedApproval, choices);
  return meant === undefined || other !== undefined ? approved : [...approved, meant.checksum];
}

function withAccessFields(change: Change, fields: KindRules['fields']): Change {
  const accessFields = change.fields.flatMap(({ path }) => (fields[path]?.access !== undefined ? [path] : []));
  return accessFields.length === 0 ? change : { ...change, accessFields };
}

function summarize(changes: readonly Change[], identity: Identity, leftOut: readonly Address[]): PlanSummary {
  const changed = new Set([...changes.map((change) => change.address), ...leftOut]);
  const due = Map.groupBy(
    changes.filter((change) => change.held === null && change.paused === null),
    (change) => change.action,
  );
  const count = (action: Change['action']) => due.get(action)?.length ?? 0;
  const held = changes.filter((change) => change.held !== null);
  return {
    create: count('create'),
    update: count('update'),
    move: count('move'),
    delete: count('delete'),
    held: held.length,
    heldDeletions: held.filter(isDeletion).length,
    paused: changes.filter((change) => change.held === null && change.paused !== null).length,
    unchanged: [...identity.bound.keys()].filter((address) => !changed.has(address)).length,
    unmanaged: identity.unmanaged.length,
  };
}

/** Returns ids by address; the result of a translation has an address of its own, which ends in `#result`. */
function bindingsOf(
  kinds: readonly KindRules[],
  identity: Identity,
  observation: Observation,
): ReadonlyMap<Address, string> {
  const people = new PeopleAddresses(kinds);
  const bindings = new Map([...observation.people].map(([email, id]) => [people.addressOf(email), id]));
  for (const [address, { id, aliases }] of [...identity.owned, ...identity.bound]) {
    bindings.set(address, id);
    const [result] = aliases ?? [];
    if (result !== undefined) {
      bindings.set(`${address}#result`, result);
    }
  }
  return bindings;
}

function byKindAndTitle(a: { kind: string; title: string; id: string }, b: typeof a): number {
  return compareText(`${a.kind}\n${a.title}\n${a.id}`, `${b.kind}\n${b.title}\n${b.id}`);
}
