/** Passes of one organization: their schedule, their clients, and their records in the history. */

import { join, resolve } from 'node:path';
import type { ManifestSource } from '../../config/config.ts';
import { type Change, type ChangeResult, changeId } from '../../core/change.ts';
import { DesiredStateError, messageOf, StoreError } from '../../core/errors.ts';
import { maskUrlsIn } from '../../core/text/safe-url.ts';
import { kinds } from '../../kinds/registry.ts';
import { excerptPlan } from '../../plan/render/document.ts';
import { openReader, openWriter } from '../../platform/client.ts';
import type { Connection } from '../../platform/connection.ts';
import type { Priority } from '../../queue/request.ts';
import { PlanAuthors } from '../../reconcile/approvals.ts';
import { OrganizationReconciler } from '../../reconcile/organization.ts';
import type { PassEnd, PassEvents } from '../../reconcile/pass.ts';
import { applyParallel } from '../../reconcile/planning.ts';
import { openPushReceiver, type PushReceiver } from '../../reconcile/push-receiver.ts';
import { createSchedule, type Schedule } from '../../reconcile/schedule.ts';
import { type Desired, type DesiredSource, openSource, type SourceHead } from '../../reconcile/source.ts';
import type { NewPass, NewResourceChange, PassCounts } from '../../store/history.ts';
import { untilStored } from '../../store/until-stored.ts';
import type { KnownResources } from '../../web/model/page.ts';
import { appliedEvents } from '../facts/reporting.ts';
import type { Feature, OrganizationContext } from './feature.ts';

/** Reconciles an organization with its source of manifests: at the start, on a schedule and when the source changes. */
export class Reconciliation implements Feature {
  readonly stage = 1;
  readonly source: DesiredSource;
  readonly reconciler: OrganizationReconciler;
  /** Null if no webhook is configured. */
  readonly pushes: PushReceiver | null;
  readonly #schedule: Schedule;
  readonly #recorder: PassRecorder;

  constructor(context: OrganizationContext, source: ManifestSource) {
    const { organization, config, store, clock, log, stopping, abort, events } = context;
    const { id } = organization;
    const clones = join(resolve(config.runtime.directory), 'checkouts');
    this.source = openSource(source, organization, { clones, signal: abort, clock });
    this.#recorder = new PassRecorder(context);
    this.reconciler = new OrganizationReconciler({
      config: organization,
      user: config.platform.user,
      kinds,
      source: this.source,
      record: store.organization(id),
      pauses: store.history(id),
      reverts: store.note(`flapping/${id}`),
      planAuthors: new PlanAuthors(store.note(`applied/${id}`), this.source),
      clock,
      ...openClients(context),
      signal: stopping,
      abort,
      events: events.publish,
    });
    const onError = (reason: string) => stopping.aborted || log.warn({ reason }, 'cannot follow the source');
    this.#schedule = createSchedule(this.reconciler, this.source, organization.schedule.drift, clock, onError);
    const onCommand = () => events.publish.onCommand?.();
    this.pushes = openPushReceiver(organization, store, clock, () => this.fetchNow(), onCommand);
  }

  /** Subscriptions of the history and of the schedule to the passes. */
  get subscriptions(): readonly PassEvents[] {
    return [
      this.#recorder.events(),
      {
        onPassEnd: ({ retryIn }) => {
          if (retryIn !== null) {
            this.#schedule.retryIn(retryIn);
          }
        },
      },
    ];
  }

  async start(): Promise<void> {
    await this.#schedule.start();
    void this.reconciler.trigger('start');
  }

  /** Resources of the last valid manifests; null before they were read. */
  get resources(): KnownResources | null {
    const { lastDesired, lastCheck } = this.reconciler;
    return lastDesired === null
      ? null
      : { declared: lastDesired.state.declared, ids: lastCheck?.plan.bindings ?? new Map() };
  }

  /** Runs one pass. Its outcome is available as `reconciler.lastEnd`. */
  async once(): Promise<boolean> {
    await this.reconciler.trigger('start');
    await this.#recorder.idle();
    return true;
  }

  /** Checks for a new commit now. */
  fetchNow(): void {
    this.#schedule.fetchNow();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#schedule.stop(), this.reconciler.idle()]);
    await this.#recorder.close();
  }
}

function openClients({ organization, config, connection, dryRun, abort }: OrganizationContext) {
  const parallel = applyParallel(config.queue.concurrency);
  const client = (count: (method: string) => void, priority: Priority) => ({
    organization: organization.id,
    priority,
    signal: abort,
    onRequest: (operation: { readonly method: string }) => count(operation.method),
  });
  return {
    openReader: (priority: Priority, count: (method: string) => void) =>
      openReader(connection, client(count, priority)),
    openWriter: dryRun
      ? null
      : (priority: Priority, count: (method: string) => void) => openWriter(connection, client(count, priority)),
    estimate: (work: Parameters<Connection['queue']['estimate']>[0]) => connection.queue.estimate(work, parallel),
    parallel,
  };
}

/** Maximum characters of an error. */
const MAX_ERROR = 1000;
/** Number of passes that wait to be recorded, after which those that applied nothing are not recorded any more. */
const MAX_WAITING = 20;

/**
 * Records every pass, one after the other. A pass that cannot be recorded is recorded when the store works again, and delays
 * no other pass. What cannot be recorded when the organization stops is lost.
 */
export class PassRecorder {
  readonly #context: OrganizationContext;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** Settles when the store fails while a pass is recorded. */
  #failed = Promise.withResolvers<void>();

  constructor(context: OrganizationContext) {
    this.#context = context;
  }

  /** Listener for the passes. */
  events(): PassEvents {
    const refusals = () => this.#context.connection.queue.snapshot().outcomes.refused;
    let desired: Desired | null = null;
    /** Commit whose manifests are invalid. */
    let invalid: SourceHead | null = null;
    let before = 0;
    let drift: ReadonlySet<string> = new Set();
    return {
      onPassStart: () => {
        before = refusals();
        invalid = null;
      },
      onSource: (read) => {
        desired = read;
      },
      onBadSource: (error, _lastGood, head) => {
        invalid = error instanceof DesiredStateError ? head : null;
      },
      onPlan: (_planned, found) => {
        drift = new Set(found.map(changeId));
      },
      onPassEnd: (end) => {
        // What was applied comes from the last valid commit.
        const isOfLastValid = invalid === null || end.results.some(({ status }) => status === 'applied');
        const pass = toRecord(end, isOfLastValid ? desired : invalid, refusals() - before, drift);
        drift = new Set();
        // A pass that could not use the state file has already been logged with the same reason.
        this.#add(pass, end.error instanceof StoreError ? 'debug' : 'warn');
      },
    };
  }

  /** Resolves when all passes that have ended are recorded, or cannot be recorded now. */
  async idle(): Promise<void> {
    await Promise.race([this.#last, this.#failed.promise]);
  }

  /** Resolves when all passes that have ended are recorded, or are given up because the organization stops. */
  async close(): Promise<void> {
    await this.#last;
  }

  #add(pass: NewPass, level: 'debug' | 'warn'): void {
    if (this.#waiting >= MAX_WAITING && (pass.counts.applied ?? 0) === 0) {
      return;
    }
    this.#waiting += 1;
    this.#last = this.#last
      .then(() => this.#record(pass, level))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  async #record(pass: NewPass, level: 'debug' | 'warn'): Promise<void> {
    const { organization, store, clock, stopping, log, events } = this.#context;
    const { id } = organization;
    const report = (error: unknown, message: string) => log[level]({ reason: messageOf(error) }, message);
    const newEvents = (number: number) => appliedEvents(id, pass, number);
    try {
      const number = await untilStored((isRepeated) => store.history(id).addPass(pass, newEvents, isRepeated), {
        clock,
        signal: stopping,
        onError: (error) => {
          report(error, 'cannot record the pass in the history; retrying');
          this.#failed.resolve();
        },
      });
      this.#failed = Promise.withResolvers();
      events.publish.onRecorded?.(number);
    } catch (error) {
      report(error, 'cannot record the pass in the history');
    }
  }
}

function toRecord(
  end: PassEnd,
  from: Pick<Desired, 'commit' | 'subject' | 'author'> | null,
  refused: number,
  drift: ReadonlySet<string>,
): NewPass {
  const { trigger, outcome, plan, results, requests, error, milliseconds, endedAt } = end;
  const excerpt = plan === null || plan.changes.length === 0 ? null : excerptPlan(plan);
  return {
    trigger,
    outcome,
    milliseconds,
    endedAt,
    refused,
    reads: requests.reads,
    writes: requests.writes,
    commit: from?.commit ?? null,
    subject: from?.subject ?? '',
    author: from?.author ?? null,
    checksum: plan?.checksum ?? null,
    counts: countsOf(end, drift),
    error: errorText(error === null ? null : messageOf(error)),
    changes: changesOf(excerpt?.changes ?? [], results),
    plan: excerpt?.json ?? null,
  };
}

function countsOf({ plan, results }: PassEnd, drift: ReadonlySet<string>): PassCounts {
  const { create = 0, update = 0, move = 0, delete: deleted = 0, held = 0, paused = 0 } = plan?.summary ?? {};
  const count = (status: ChangeResult['status']) => results.filter((result) => result.status === status).length;
  const all = {
    create,
    update,
    move,
    delete: deleted,
    held,
    paused,
    applied: count('applied'),
    failed: count('failed'),
    skipped: count('skipped'),
    // Applied changes that undo manual ones.
    reverted: results.filter((result) => result.status === 'applied' && drift.has(changeId(result))).length,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value > 0));
}

function changesOf(changes: readonly Change[], results: readonly ChangeResult[]): readonly NewResourceChange[] {
  const tried = new Map(results.map((result) => [changeId(result), result]));
  return changes.map((change) => {
    const { address, action, held, paused } = change;
    const result = tried.get(changeId(change));
    const waits = held !== null ? 'held' : paused !== null ? 'paused' : 'planned';
    return { address, action, status: result?.status ?? waits, error: errorText(result?.error ?? null) };
  });
}

/** Returns an error as the history keeps it. */
function errorText(error: string | null): string | null {
  const text = error === null ? null : maskUrlsIn(error);
  return text === null || text.length <= MAX_ERROR ? text : `${text.slice(0, MAX_ERROR).toWellFormed()}…`;
}
