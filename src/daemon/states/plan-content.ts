/** Plans for the pages of other replicas: what views show of them, as JSON. */
import type { Change, Plan } from '../../core/change.ts';
import type { Fields } from '../../core/resource.ts';
import type { Check } from '../../reconcile/pass.ts';

/** Change without what only applying it needs. Absent members have their usual value. */
type KeptChange = Partial<Change> & Pick<Change, 'action' | 'address' | 'kind' | 'fields'>;

interface KeptCheck {
  readonly plan: Omit<Plan, 'bindings' | 'changes'> & { readonly changes: readonly KeptChange[] };
  /** Indexes of the changes that undo what somebody changed on the platform. */
  readonly drift: readonly number[];
  readonly authors: { readonly emails: readonly string[]; readonly isComplete: boolean } | null;
}

/** Writes the plan of a check, without its bindings. */
export function writeCheck({ plan, drift, authors }: Check): string {
  const { bindings: _, changes, ...rest } = plan;
  const kept: KeptCheck = {
    plan: { ...rest, changes: changes.map(toKept) },
    drift: changes.flatMap((change, index) => (drift.has(change) ? [index] : [])),
    authors: authors === null ? null : { emails: [...authors.emails], isComplete: authors.isComplete },
  };
  return JSON.stringify(kept);
}

/** Reads the plan of a check. Its bindings are written separately. */
export function readCheck(content: string): Omit<Check, 'at'> {
  const { plan, drift, authors } = JSON.parse(content) as KeptCheck;
  const changes = plan.changes.map(toChange);
  return {
    plan: { ...plan, changes, bindings: new Map() },
    drift: new Set(drift.flatMap((index) => changes[index] ?? [])),
    authors: authors === null ? null : { ...authors, emails: new Set(authors.emails) },
  };
}

function toKept(change: Change): KeptChange {
  const { declared: _declared, within: _within, place: _place, anchor: _anchor, ...rest } = change;
  const { actual, id, source, dependsOn, held, approvable, paused, isReplacement, impact, weight, ...always } = rest;
  const isShown = source === null || change.action === 'delete';
  return {
    ...always,
    actual: isShown ? actual : titleFields(actual),
    ...(id === null ? {} : { id }),
    ...(source === null ? {} : { source }),
    ...(dependsOn.length === 0 ? {} : { dependsOn }),
    ...(held === null ? {} : { held }),
    ...(approvable ? { approvable } : {}),
    ...(paused === null ? {} : { paused }),
    ...(isReplacement ? { isReplacement } : {}),
    ...(impact === '' ? {} : { impact }),
    ...(weight === 0 ? {} : { weight }),
  };
}

function titleFields({ title, label }: Fields): Fields {
  return { ...(title === undefined ? {} : { title }), ...(label === undefined ? {} : { label }) };
}

const USUAL = {
  ...{ id: null, source: null, dependsOn: [], held: null, approvable: false, paused: null, isReplacement: false },
  ...{ impact: '', weight: 0, declared: {}, actual: {}, within: null, place: null, anchor: null },
};

function toChange(change: KeptChange): Change {
  return { ...USUAL, ...change };
}
