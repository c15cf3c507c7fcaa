import type { Address } from '../core/address.ts';
import type { Change, ChangeResult } from '../core/change.ts';
import type { Clock } from '../core/clock.ts';
import type { Base, Declared } from '../core/resource.ts';
import type { Kind } from '../kinds/model/kind.ts';
import type { Elsewhere } from '../plan/identity/elsewhere.ts';
import type { Policy } from '../plan/policy.ts';
import type { Reader, Writer } from '../platform/client.ts';
import type { OrganizationRecord } from '../store/store.ts';
import { EarlyEnd } from './abort.ts';
import { type Applied, applyPlan } from './apply.ts';
import { Locator } from './locate.ts';
import { type Estimate, makePlan, type Planned } from './planning.ts';
import { Recorder } from './record.ts';

/** What one pass works on. */
export interface PassInput {
  readonly organization: string;
  /** Tells the manifest folders of one organization apart; the root scope where absent. */
  readonly scope?: string;
  /** What other scopes of the organization claim; nothing where absent. */
  readonly elsewhere?: Elsewhere;
  readonly kinds: readonly Kind[];
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly commit: string | null;
  readonly base: Base;
  readonly baseCommit: string | null;
  readonly policy: Policy;
  readonly estimate: Estimate;
}

/** What applying needs besides a plan. */
export interface ApplyInput {
  readonly writer: Writer;
  readonly clock: Clock;
  /** Changes worked on at the same time at most. */
  readonly parallel: number;
  /** Begins nothing new once it aborts. */
  readonly signal: AbortSignal;
  /** Ends what is in flight too. */
  readonly abort: AbortSignal;
  /** What is remembered as applied; null for pipelines, where git is the state. */
  readonly record: OrganizationRecord | null;
  /** Milliseconds to wait for background work before a change counts as pending; absent: it fails after ten minutes. */
  readonly wait?: number | undefined;
  /** Polls background work; the writer where absent. */
  readonly poller?: Reader | undefined;
  /** Asked before each change: whether one may begin now; always, where absent. */
  readonly mayBegin?: () => boolean;
  readonly onStart?: (change: Change) => void;
  readonly onWait?: (change: Change) => void;
  readonly onResult?: (result: ChangeResult) => void;
}

/** Reads and plans. `reader` has no way to write. */
export async function plan(input: PassInput, reader: Reader, reads: () => number): Promise<Planned> {
  return makePlan(input, reader, reads);
}

/**
 * Applies a plan that damage control lets pass, and records what was confirmed as it goes: a pass that is ended at any
 * moment has recorded what it did, and no more. Throws StoreError when the record cannot be kept: nothing is begun then
 * that it would not know of.
 */
export async function apply(input: PassInput, planned: Planned, options: ApplyInput): Promise<Applied> {
  const { record, clock, writer } = options;
  const recorder = record === null ? null : new Recorder(record, input.kinds, input.declared, input.base, planned);
  if (planned.plan.verdict.state !== 'ready') {
    return { results: planned.plan.changes.map(heldWhole), bindings: planned.plan.bindings, pending: [] };
  }
  await recorder?.unchanged();
  const early = new EarlyEnd(options.signal);
  const creations = new Map(
    planned.plan.changes.filter(({ action }) => action === 'create').map((change) => [change.address, change]),
  );
  const locator = new Locator({
    kinds: input.kinds,
    declared: input.declared,
    reader: writer,
    before: planned.observation,
    creation: (address) => creations.get(address),
  });
  const applied = await applyPlan({
    ...options,
    planned,
    signal: early.signal,
    onIntent: async (change) => {
      early.unless(options.mayBegin?.() ?? true);
      await early.recording(change, () => recorder?.intends(change));
    },
    locate: (change, bindings) => locator.created(change, bindings),
    isInPlace: (change, fields, bindings) => locator.isInPlace(change, fields, bindings),
    onResult: async (result, change, reach) => {
      await early.recording(change, () => recorder?.changed(change, result.id, reach));
      if (early.isNews(result, change)) {
        options.onResult?.(result);
      }
    },
  });
  early.throwTrouble();
  const failed = applied.results.some((result) => result.status === 'failed');
  if (record !== null && !failed && !early.signal.aborted) {
    // An approval serves one plan: what it was not needed for must not be approved by it some day.
    await record.moveHead({ commit: input.commit, at: clock.now() }, input.policy.approved);
  }
  return applied;
}

/** Where the whole plan is held or refused, nothing of it is applied. */
function heldWhole(change: Change): ChangeResult {
  const { address, action, id } = change;
  return { address, action, status: 'held', id, error: change.held ?? 'the whole plan is held' };
}

/** How a pass ended, for exit codes, metrics and the log. */
export type Outcome = 'done' | 'held' | 'failed';

/** Held is what waits for a person; changes that only wait for one of those wait with it. */
export function outcomeOf(planned: Planned, results: readonly ChangeResult[]): Outcome {
  if (results.some((result) => result.status === 'failed')) {
    return 'failed';
  }
  const waits = planned.plan.verdict.state !== 'ready' || results.some((result) => result.status === 'held');
  return waits ? 'held' : 'done';
}
