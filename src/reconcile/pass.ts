/** Runs one pass of an organization: reads, plans, applies and records, step by step. */
import { createHash } from 'node:crypto';
import type { OrganizationConfig } from '../config/config.ts';
import { windowState } from '../config/windows.ts';
import type { Address } from '../core/address.ts';
import { type Change, type ChangeResult, changeId, type Plan } from '../core/change.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';
import { ManifestSecrets } from '../core/manifest-secrets.ts';
import type { Base } from '../core/resource.ts';
import type { CommitAuthors } from '../git/commits.ts';
import type { Kind } from '../kinds/model/kind.ts';
import type { Revert } from '../plan/flapping.ts';
import { driftOf, type Policy } from '../plan/guard.ts';
import { PeopleAddresses } from '../plan/rules.ts';
import type { Reader, Writer } from '../platform/client.ts';
import type { Priority } from '../queue/request.ts';
import type { History, ManualPause } from '../store/history.ts';
import type { Note, OrganizationRecord } from '../store/record.ts';
import { idsOf } from './applied.ts';
import { type ApplyResult, apply, outcomeOf, type PassOutcome } from './apply.ts';
import { approvedChecksums, type PlanAuthors } from './approvals.ts';
import { platformSource } from './observe.ts';
import { type Estimate, giveTurn, makePlan, type Planned, type PlanningInput } from './planning.ts';
import { baseOfRecord, baseToEntry } from './record.ts';
import type { Desired, DesiredSource, SourceHead } from './source.ts';
import {
  cooldownLeft,
  describePause,
  isOfOrganization,
  pausesByAddress,
  readReverts,
  recordReverts,
  untilPauseEnds,
} from './waiting.ts';

/** The cause of a pass. */
export type Trigger = 'start' | 'commit' | 'schedule' | 'manual' | 'retry' | 'window' | 'approval';

/** Listener for the events of passes: the log, the metrics, the demo. */
export interface PassEvents {
  onPassStart?(trigger: Trigger): void;
  /** The manifests were read. */
  onSource?(desired: Desired): void;
  /** The manifests could not be read; the last valid ones stay in use. `head`: the last commit that was read, valid or not. */
  onBadSource?(error: Error, lastGood: string | null, head: SourceHead | null): void;
  onPlan?(planned: Planned, drift: readonly Change[]): void;
  /** The record was empty: the base was restored from the repository, with `count` resources of this commit. */
  onBaseRestored?(commit: string, count: number): void;
  /** Recording the applied commit in the repository failed; the next pass tries again. */
  onRecordFailed?(error: Error): void;
  /** The plan is not applied now. `until`: when a sync window may open, in milliseconds since the epoch. */
  onWait?(reason: string, until: number | null): void;
  /** The plan is applied now. */
  onApply?(planned: Planned): void;
  onResult?(result: ChangeResult, change: Change | undefined): void;
  /** The fields that are flapping, after every pass that planned; usually none. */
  onFlapping?(flapping: readonly Revert[]): void;
  onPassEnd?(end: PassEnd): void;
}

/** The result of one pass. */
export interface PassEnd {
  readonly trigger: Trigger;
  readonly outcome: PassOutcome;
  readonly plan: Plan | null;
  readonly results: readonly ChangeResult[];
  readonly requests: { readonly reads: number; readonly writes: number };
  readonly error: Error | null;
  readonly milliseconds: number;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  /** Milliseconds until the next pass without a trigger; null: only a trigger starts one. */
  readonly retryIn: number | null;
}

/** Dependencies of the passes of one organization. */
export interface PassOptions {
  readonly config: OrganizationConfig;
  readonly user: string | null;
  readonly kinds: readonly Kind[];
  readonly source: DesiredSource;
  readonly record: OrganizationRecord;
  /** Pauses that people set. */
  readonly pauses: Pick<History, 'pauses'>;
  /** Drift that was reverted recently. */
  readonly reverts: Note;
  readonly planAuthors: PlanAuthors;
  readonly clock: Clock;
  /** Opens a client that can only read. `count` is called for every request. */
  readonly openReader: (priority: Priority, count: (method: string) => void) => Reader;
  /** Opens a client that can write; null in a dry run, which therefore cannot write. */
  readonly openWriter: ((priority: Priority, count: (method: string) => void) => Writer) | null;
  readonly estimate: Estimate;
  readonly parallel: number;
  /** Starts nothing new once it aborts. */
  readonly signal: AbortSignal;
  readonly abort: AbortSignal;
  readonly events: PassEvents;
}

/** Last comparison of the manifests with the platform. */
export interface Check {
  readonly plan: Plan;
  /** Changes of the plan that undo what somebody changed on the platform. */
  readonly drift: ReadonlySet<Change>;
  /** Authors of the commits that the plan applies; null if not known, or if approvals.notAuthor is not set. */
  readonly authors: CommitAuthors | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

type PassResult = Pick<PassEnd, 'outcome' | 'plan' | 'results' | 'error' | 'retryIn'>;

/** Requests of one pass, and what is known of its result when it fails. */
class PassProgress {
  reads = 0;
  writes = 0;
  /** Null before it was made. */
  plan: Plan | null = null;
  /** Changes that have ended. */
  readonly results: ChangeResult[] = [];
  readonly count = (method: string): void => {
    this[method === 'GET' ? 'reads' : 'writes'] += 1;
  };
}

/** Runs the passes of one organization, one after the other, and keeps the state that the next pass needs. */
export class PassRunner {
  protected readonly options: PassOptions;
  /** Milliseconds before the next retry of a pass that failed, or that waits for the platform. */
  #delay = FIRST_DELAY;
  /** Digest of the commit and the ids that this process has recorded in the repository. */
  #recorded: string | null = null;
  /** The last manifests that were valid; null before they were read. */
  lastDesired: Desired | null = null;
  /** The last check that succeeded; null before that. */
  lastCheck: Check | null = null;
  /** Changes that the running pass has applied, or could not apply. */
  reached = 0;
  /** Pauses that have not ended, as of the last time they were read. */
  #pauses: readonly ManualPause[] = [];

  constructor(options: PassOptions) {
    this.options = options;
  }

  /** Reads the pauses again, also for the pass that is running: a pause of the organization stops it. */
  async readPauses(): Promise<void> {
    this.#pauses = await this.options.pauses.pauses(this.options.clock.now());
  }

  /** Runs one pass. Never throws: an error is part of how the pass ended. */
  protected async pass(trigger: Trigger): Promise<PassEnd> {
    const { clock, events, signal } = this.options;
    const started = clock.monotonic();
    const progress = new PassProgress();
    this.reached = 0;
    events.onPassStart?.(trigger);
    const result = await this.#steps(trigger, progress).catch((error: unknown) =>
      // Work that was abandoned because the daemon is shutting down is not reported as an error.
      this.#failed(signal.aborted ? null : toError(error), progress),
    );
    const { reads, writes } = progress;
    return {
      ...result,
      trigger,
      requests: { reads, writes },
      milliseconds: clock.monotonic() - started,
      endedAt: clock.now(),
    };
  }

  async #steps(trigger: Trigger, progress: PassProgress): Promise<PassResult> {
    // 1. Read the manifests; if that fails, use the last valid ones.
    const { desired, error } = await this.#readManifests();
    if (desired === null) {
      return this.#failed(error, progress);
    }
    // 2. Load the base, the approvals and the flapping fields.
    const { config, planAuthors } = this.options;
    const authors = config.approvals.notAuthor ? await planAuthors.read(desired.commit) : null;
    const input = await this.#planningInput(desired, trigger, authors);
    // 3. Read the platform and plan.
    const { planned, drift } = await this.#plan(input, trigger, progress, authors);
    // 4. Apply the plan, unless it has to wait.
    const wait = planWait(planned.plan, this.#pauses, this.options);
    if (wait === null) {
      this.options.events.onApply?.(planned);
    } else {
      this.options.events.onWait?.(wait.reason, wait.until);
    }
    const applied = wait === null ? await this.#apply(input, planned, progress) : null;
    const results = applied?.results ?? [];
    // 5. Record which fields are flapping.
    const cooldown = await this.#recordFlapping(planned, drift, results);
    // 6. Record the commit as applied.
    if (applied !== null && error === null) {
      await this.#recordApplied(desired.commit, results, idsOf(input.declared, applied.bindings));
    }
    // 7. Decide how the pass ended, and when to run the next one without a trigger.
    const outcome = error === null ? outcomeOf(planned, results) : 'failed';
    const retryIn =
      wait === null
        ? (this.#untilWindowOpens(planned, results) ??
          this.#retryDelay(outcome, planned) ??
          this.#untilResumed(cooldown))
        : wait.retryIn;
    return { outcome, plan: planned.plan, results, error, retryIn };
  }

  /** A pass that fails after it has applied something ends with what it applied. */
  #failed(error: Error | null, { plan, results }: PassProgress): PassResult {
    const hasApplied = results.some(({ status }) => status === 'applied');
    const known = hasApplied ? { plan, results } : { plan: null, results: [] };
    return { outcome: 'failed', ...known, error, retryIn: this.#nextDelay() };
  }

  async #readManifests(): Promise<{ readonly desired: Desired | null; readonly error: Error | null }> {
    const { source, events } = this.options;
    try {
      this.lastDesired = await source.read();
      events.onSource?.(this.lastDesired);
      return { desired: this.lastDesired, error: null };
    } catch (thrown) {
      const error = toError(thrown);
      events.onBadSource?.(error, this.lastDesired?.commit ?? null, source.head);
      return { desired: this.lastDesired, error };
    }
  }

  async #planningInput(desired: Desired, trigger: Trigger, authors: CommitAuthors | null): Promise<PlanningInput> {
    const { config, record, clock, kinds, estimate, reverts, source, user } = this.options;
    const { base, commit } = await this.#readBase();
    await this.readPauses();
    const policy: Policy = {
      prune: config.prune,
      requireApproval: config.requireApproval,
      limits: config.limits,
      selfHeal: config.selfHeal,
      user,
      now: clock.now(),
      allowDeletes: 0,
      approved: approvedChecksums(await record.decisions(), config.approvals, authors),
      // A pass that a person requests does not wait for a cooldown.
      reverts: trigger === 'manual' ? [] : await readReverts(reverts),
      pauses: pausesByAddress(this.#pauses),
    };
    return {
      organization: config.id,
      scope: source.scope,
      ...(desired.otherScopes === undefined ? {} : { otherScopes: desired.otherScopes }),
      kinds,
      declared: desired.state.declared,
      commit: desired.commit,
      base,
      baseCommit: commit,
      policy,
      secrets: new ManifestSecrets(config.manifestSecrets, config.token),
      estimate,
    };
  }

  async #plan(
    input: PlanningInput,
    trigger: Trigger,
    progress: PassProgress,
    authors: CommitAuthors | null,
  ): Promise<{ readonly planned: Planned; readonly drift: ReadonlySet<Change> }> {
    const reader = this.options.openReader(trigger === 'schedule' ? 'drift' : 'apply', progress.count);
    const planned = await makePlan(
      input,
      platformSource(reader, () => progress.reads),
    );
    await giveTurn(input.declared.size);
    const drift = driftOf(input.kinds, planned.plan.changes, input.base);
    progress.plan = planned.plan;
    this.lastCheck = { plan: planned.plan, drift, authors, at: this.options.clock.now() };
    await giveTurn(input.declared.size);
    this.options.events.onPlan?.(planned, [...drift]);
    return { planned, drift };
  }

  async #apply(input: PlanningInput, planned: Planned, progress: PassProgress): Promise<ApplyResult | null> {
    const { config, openWriter, clock, parallel, signal, abort, record, events } = this.options;
    if (openWriter === null) {
      return null;
    }
    const byId = new Map(planned.plan.changes.map((change) => [changeId(change), change]));
    return apply(input, planned, {
      writer: openWriter('apply', progress.count),
      clock,
      parallel,
      signal,
      abort,
      record,
      canStart: () => {
        const now = clock.now();
        return windowState(config.syncWindows, now).open && !this.#pauses.some((each) => isOfOrganization(each, now));
      },
      onResult: (result) => {
        progress.results.push(result);
        this.reached += 1;
        events.onResult?.(result, byId.get(changeId(result)));
      },
      onUnrecorded: (result) => void progress.results.push(result),
    });
  }

  /**
   * Reads the base of the next plan. If the record is empty, restores it from what the repository records as applied.
   * Throws StoreError, and SourceError or DesiredStateError if the repository cannot be read.
   */
  async #readBase(): Promise<{ readonly base: Base; readonly commit: string | null }> {
    const { record, source, openWriter, events } = this.options;
    const known = await baseOfRecord(record);
    const found = known.base === null ? await source.applied?.read() : undefined;
    if (found === undefined || found === null) {
      return known;
    }
    events.onBaseRestored?.(found.commit, found.base.size);
    if (openWriter !== null) {
      // Written in one step, before anything else, so that ownership is known even if the pass is interrupted.
      await record.put([...found.base.values()].map(baseToEntry));
    }
    return found;
  }

  /** Records a commit as applied, unless a change was held, paused, skipped or failed: it would later look like drift. */
  async #recordApplied(
    commit: string | null,
    results: readonly ChangeResult[],
    ids: ReadonlyMap<Address, string>,
  ): Promise<void> {
    if (!results.every(({ status }) => status === 'applied')) {
      return;
    }
    const { planAuthors, source, events } = this.options;
    await planAuthors.recordApplied(commit);
    if (source.applied === null || commit === null) {
      return;
    }
    const digest = createHash('sha256')
      .update(JSON.stringify([commit, ...[...ids].sort()]))
      .digest('hex');
    if (digest === this.#recorded) {
      return;
    }
    try {
      await source.applied.move(commit, ids);
      this.#recorded = digest;
    } catch (error) {
      events.onRecordFailed?.(toError(error));
    }
  }

  /** Records what was reverted. Returns the milliseconds until the first cooldown ends; null if there is none. */
  async #recordFlapping(
    { plan: { changes } }: Planned,
    drift: ReadonlySet<Change>,
    results: readonly ChangeResult[],
  ): Promise<number | null> {
    const { reverts, clock, events } = this.options;
    const now = clock.now();
    const flapping = await recordReverts(reverts, drift, changes, results, now);
    events.onFlapping?.(flapping);
    return cooldownLeft(flapping, now);
  }

  /** Returns the milliseconds until the first pause or cooldown ends; null if there is none. */
  #untilResumed(cooldown: number | null): number | null {
    const pause = untilPauseEnds(this.#pauses, this.options.clock.now());
    return pause === null || cooldown === null ? (pause ?? cooldown) : Math.min(pause, cooldown);
  }

  /** The window may have closed during the apply, or the clock may have been set: then the rest waits for it to open. */
  #untilWindowOpens(planned: Planned, results: readonly ChangeResult[]): number | null {
    const wait = results.some(({ status }) => status === 'skipped')
      ? planWait(planned.plan, this.#pauses, this.options)
      : null;
    if (wait !== null) {
      this.options.events.onWait?.(wait.reason, wait.until);
    }
    return wait?.retryIn ?? null;
  }

  /** Returns the delay of a retry after a failure, or while the platform works in the background; null: no retry. */
  #retryDelay(outcome: PassEnd['outcome'], { plan: { pending, changes } }: Planned): number | null {
    // People may join at any time, so only the platform's background work is checked again soon.
    const people = new PeopleAddresses(this.options.kinds);
    const isWorking = pending.some(({ address }) => !people.isPerson(address));
    const slow = new Set(this.options.kinds.filter((kind) => kind.unusableReason).map((kind) => kind.name));
    const hasStarted = changes.some((change) => change.action === 'create' && slow.has(change.kind));
    if (outcome === 'failed' || isWorking || hasStarted) {
      return this.#nextDelay();
    }
    this.#delay = FIRST_DELAY;
    return null;
  }

  #nextDelay(): number {
    const delay = this.#delay;
    this.#delay = Math.min(delay * 2, MAX_DELAY);
    return delay;
  }
}

/** Milliseconds before the first retry of a pass; each later delay is twice as long. */
const FIRST_DELAY = 2000;

const MAX_DELAY = 300_000;

/** Reason for not applying a plan now. */
interface PlanWait {
  readonly reason: string;
  /** Milliseconds until it may be applied; null: only a trigger changes that. */
  readonly retryIn: number | null;
  /** Next time at which a sync window may open, in milliseconds since the epoch. */
  readonly until: number | null;
}

/** Returns why a plan is not applied now; null: it is applied. */
function planWait(
  { verdict, changes }: Plan,
  pauses: readonly ManualPause[],
  { config, clock, openWriter }: PassOptions,
): PlanWait | null {
  if (openWriter === null) {
    return { reason: 'dry run: nothing is written', retryIn: null, until: null };
  }
  if (verdict.state !== 'ready') {
    return { reason: verdict.reasons.join('; '), retryIn: null, until: null };
  }
  const now = clock.now();
  const pause = pauses.find((each) => isOfOrganization(each, now));
  if (pause !== undefined) {
    return { reason: describePause(pause), retryIn: untilPauseEnds([pause], now), until: null };
  }
  const { open, reason, until } = windowState(config.syncWindows, now);
  return open || !changes.some((change) => change.held === null && change.paused === null)
    ? null
    : { reason, retryIn: until === null ? null : Math.max(0, until - now), until };
}
