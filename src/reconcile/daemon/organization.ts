import type { OrganizationConfig } from '../../config/config.ts';
import { windowState } from '../../config/windows.ts';
import type { Change, ChangeResult, Plan } from '../../core/change.ts';
import type { Clock } from '../../core/clock.ts';
import { messageOf, RefusedPlanError } from '../../core/errors.ts';
import type { Kind } from '../../kinds/kind.ts';
import { approvalsOf } from '../../plan/checksum.ts';
import { driftOf } from '../../plan/guard.ts';
import type { Policy } from '../../plan/policy.ts';
import type { Reader, Writer } from '../../platform/client.ts';
import type { Priority } from '../../queue/model/request.ts';
import type { OrganizationRecord } from '../../store/store.ts';
import { idsOf } from '../applied.ts';
import type { Applied } from '../apply.ts';
import type { Estimate, Planned } from '../planning.ts';
import { apply, type Outcome, outcomeOf, type PassInput, plan } from '../reconcile.ts';
import { Ownership } from './base-store.ts';
import { type FightBook, untilRestEnds } from './flapping-fields.ts';
import type { PassEnd, PassEvents, Trigger } from './pass.ts';
import type { Desired, DesiredSource } from './source.ts';

/** What one organization's reconciling needs. */
export interface OrganizationOptions {
  readonly config: OrganizationConfig;
  readonly user: string | null;
  readonly kinds: readonly Kind[];
  readonly source: DesiredSource;
  readonly record: OrganizationRecord;
  readonly fights: FightBook;
  readonly clock: Clock;
  /** Opens a client that can only read. `count` is told of every request. */
  readonly openReader: (priority: Priority, count: (method: string) => void) => Reader;
  /** Opens a client that can write; null in a dry run, which so has no way to. */
  readonly openWriter: ((priority: Priority, count: (method: string) => void) => Writer) | null;
  readonly estimate: Estimate;
  readonly parallel: number;
  /** Begins nothing new once it aborts. */
  readonly signal: AbortSignal;
  readonly abort: AbortSignal;
  readonly events: PassEvents;
}

/** Milliseconds after which a pass that failed, or waits for the platform, is made again; doubled each time. */
const AGAIN_FIRST = 2000;
const AGAIN_LONGEST = 300_000;

/** Reconciles one organization: one pass at a time, and triggers that come meanwhile become one more. */
export class OrganizationReconciler {
  readonly #options: OrganizationOptions;
  #lastGood: Desired | null = null;
  #lastPlan: Plan | null = null;
  #running: Promise<void> | null = null;
  #waiting: Trigger | null = null;
  #again = AGAIN_FIRST;
  #tried = false;
  #lastEnd: PassEnd | null = null;
  readonly #ownership: Ownership;

  constructor(options: OrganizationOptions) {
    this.#options = options;
    const { record, source, events, openWriter } = options;
    this.#ownership = new Ownership({ record, applied: source.applied, isDry: openWriter === null, events });
  }

  get id(): string {
    return this.#options.config.id;
  }

  /** Whether a first pass was made, however it ended. */
  get tried(): boolean {
    return this.#tried;
  }

  get lastEnd(): PassEnd | null {
    return this.#lastEnd;
  }

  get lastPlan(): Plan | null {
    return this.#lastPlan;
  }

  /** Asks for a pass. Resolves when no pass is under way any more. */
  trigger(trigger: Trigger): Promise<void> {
    this.#waiting = trigger;
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Resolves when no pass is under way. */
  idle(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  /** Approves the plan with this checksum, or only what is held of it; null where this organization holds none. */
  async approve(checksum: string): Promise<Plan | null> {
    const held = this.#lastPlan;
    if (held === null || (checksum !== held.checksum && checksum !== held.heldChecksum)) {
      return null;
    }
    if (held.verdict.state === 'ready' && held.heldChecksum === null) {
      return null;
    }
    if (held.verdict.state === 'refused') {
      throw new RefusedPlanError(`refused, and no approval helps: ${held.verdict.reasons.join('; ')}`);
    }
    for (const each of approvalsOf(held, checksum)) {
      await this.#options.record.approve(each, this.#options.clock.now());
    }
    return held;
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting !== null && !this.#options.signal.aborted) {
        const trigger = this.#waiting;
        this.#waiting = null;
        const end = await this.#pass(trigger);
        this.#lastEnd = end;
        this.#tried = true;
        this.#options.events.onPassEnd?.(end);
      }
    } finally {
      this.#running = null;
    }
  }

  async #pass(trigger: Trigger): Promise<PassEnd> {
    const { clock, events } = this.#options;
    const started = clock.monotonic();
    const requests = { reads: 0, writes: 0 };
    const count = (method: string) => {
      requests[method === 'GET' ? 'reads' : 'writes'] += 1;
    };
    events.onPassStart?.(trigger);
    const end = (rest: Pick<PassEnd, 'outcome' | 'plan' | 'results' | 'error' | 'again'>): PassEnd => ({
      ...rest,
      trigger,
      requests,
      milliseconds: clock.monotonic() - started,
      endedAt: clock.now(),
    });
    try {
      // 1. What is wanted, as far as it can be read.
      const { desired, error } = await this.#desired();
      if (desired === null) {
        return end({ outcome: 'failed', plan: null, results: [], error, again: this.#nextAgain() });
      }
      // 2. The plan.
      const input = await this.#input(desired, trigger);
      const { planned, drift } = await this.#plan(input, trigger, () => requests.reads, count);
      // 3. Applied, if it may be now.
      const wait = this.#reasonToWait(planned);
      if (wait !== null) {
        events.onWait?.(wait.reason);
        await this.#fights(planned, drift, []);
        const outcome = error !== null ? 'failed' : planned.plan.verdict.state === 'ready' ? 'done' : 'held';
        return end({ outcome, plan: planned.plan, results: [], error, again: wait.again });
      }
      const { results, bindings } = await this.#apply(input, planned, count);
      const rest = await this.#fights(planned, drift, results);
      if (error === null) {
        await this.#ownership.applied(desired.commit, results, idsOf(input.declared, bindings));
      }
      const outcome = error === null ? outcomeOf(planned, results) : 'failed';
      // The window may have closed meanwhile, or the clock been set: what is left waits for it to open.
      const closed = results.some(({ status }) => status === 'skipped') ? this.#reasonToWait(planned) : null;
      if (closed !== null) {
        events.onWait?.(closed.reason);
      }
      const again = closed?.again ?? this.#againAfter(outcome, planned) ?? rest;
      return end({ outcome, plan: planned.plan, results, error, again });
    } catch (error) {
      // What is given up because the daemon is asked to stop is no mistake to be told of.
      const stopped = this.#options.signal.aborted;
      const cause = error instanceof Error ? error : new Error(messageOf(error));
      const told = stopped ? null : cause;
      return end({ outcome: 'failed', plan: null, results: [], error: told, again: this.#nextAgain() });
    }
  }

  /** The manifests now; or the last good ones, with what is wrong with those now. */
  async #desired(): Promise<{ desired: Desired | null; error: Error | null }> {
    try {
      this.#lastGood = await this.#options.source.read();
      this.#options.events.onSource?.(this.#lastGood);
      return { desired: this.#lastGood, error: null };
    } catch (error) {
      const shown = error instanceof Error ? error : new Error(messageOf(error));
      this.#options.events.onBadSource?.(shown, this.#lastGood?.commit ?? null);
      return { desired: this.#lastGood, error: shown };
    }
  }

  async #input(desired: Desired, trigger: Trigger): Promise<PassInput> {
    const { config, record, clock, kinds, estimate, fights } = this.#options;
    const { base, commit } = await this.#ownership.base();
    const policy: Policy = {
      prune: config.prune,
      confirm: config.confirm,
      limits: config.limits,
      selfHeal: config.selfHeal,
      user: this.#options.user,
      now: clock.now(),
      allowDeletes: 0,
      approved: await record.approvals(),
      // A person who asks for a pass is not kept waiting by a fight.
      undone: trigger === 'hand' ? [] : await fights.undone(),
    };
    return {
      organization: config.id,
      scope: this.#options.source.scope,
      ...(desired.elsewhere === undefined ? {} : { elsewhere: desired.elsewhere }),
      kinds,
      declared: desired.state.declared,
      commit: desired.commit,
      base,
      baseCommit: commit,
      policy,
      estimate,
    };
  }

  async #plan(
    input: PassInput,
    trigger: Trigger,
    reads: () => number,
    count: (method: string) => void,
  ): Promise<{ planned: Planned; drift: ReadonlySet<Change> }> {
    const reader = this.#options.openReader(trigger === 'schedule' ? 'drift' : 'apply', count);
    const planned = await plan(input, reader, reads);
    this.#lastPlan = planned.plan;
    const drift = driftOf(input.kinds, planned.plan.changes, input.base);
    this.#options.events.onPlan?.(planned, [...drift]);
    return { planned, drift };
  }

  /** Notes what was undone. Milliseconds until a fight that rests is to be looked at again; null where none does. */
  async #fights(
    { plan: { changes } }: Planned,
    drift: ReadonlySet<Change>,
    results: readonly ChangeResult[],
  ): Promise<number | null> {
    const { fights, clock, events } = this.#options;
    const now = clock.now();
    const found = await fights.after(drift, changes, results, now);
    events.onFights?.(found);
    return untilRestEnds(found, now);
  }

  #reasonToWait(planned: Planned): { readonly reason: string; readonly again: number | null } | null {
    const { verdict, changes } = planned.plan;
    if (this.#options.openWriter === null) {
      return { reason: 'dry run: nothing is written', again: null };
    }
    if (verdict.state !== 'ready') {
      return { reason: verdict.reasons.join('; '), again: null };
    }
    const now = this.#options.clock.now();
    const window = windowState(this.#options.config.windows, now);
    if (!window.open && changes.some((change) => change.held === null && change.paused === null)) {
      return { reason: window.reason, again: window.until === null ? null : Math.max(0, window.until - now) };
    }
    return null;
  }

  async #apply(input: PassInput, planned: Planned, count: (method: string) => void): Promise<Applied> {
    const { config, openWriter, clock, parallel, signal, abort, record, events } = this.#options;
    if (openWriter === null) {
      return { results: [], bindings: planned.plan.bindings, pending: [] };
    }
    const byId = new Map(planned.plan.changes.map((change) => [`${change.action} ${change.address}`, change]));
    return apply(input, planned, {
      writer: openWriter('apply', count),
      clock,
      parallel,
      signal,
      abort,
      record,
      mayBegin: () => windowState(config.windows, clock.now()).open,
      onResult: (result) => events.onResult?.(result, byId.get(`${result.action} ${result.address}`)),
    });
  }

  #againAfter(outcome: Outcome, planned: Planned): number | null {
    // People join when they like; what the platform still works on is looked at again soon.
    const works = planned.plan.pending.some(({ address }) => !address.startsWith('member/'));
    const slow = new Set(this.#options.kinds.filter((kind) => kind.unusableReason).map((kind) => kind.name));
    const begun = planned.plan.changes.some((change) => change.action === 'create' && slow.has(change.kind));
    if (outcome === 'failed' || works || begun) {
      return this.#nextAgain();
    }
    this.#again = AGAIN_FIRST;
    return null;
  }

  #nextAgain(): number {
    const again = this.#again;
    this.#again = Math.min(this.#again * 2, AGAIN_LONGEST);
    return again;
  }
}
