import type { Address } from '../core/address.ts';
import { type Change, type ChangeResult, changeId, type Plan, type ResultStatus } from '../core/change.ts';
import type { Clock } from '../core/clock.ts';
import { CancelledError, messageOf } from '../core/errors.ts';
import type { Writes } from '../kinds/model/request.ts';
import type { Reader, Writer } from '../platform/client.ts';
import { VersionMemory } from './observe/version-memory.ts';
import type { Planned } from './planning.ts';
import { pollUntil, WORKING } from './poll.ts';
import { type Bindings, sendPlanned } from './sending.ts';
import { isLast, requestsOf, type Step, stepsOf } from './steps.ts';

/** How far a change got: all its requests were made, some were or may have been, or certainly nothing was done. */
export type Reach = 'all' | 'part' | 'nothing';

/** What an apply tells while it goes on. */
export interface ApplyEvents {
  readonly onStart?: (change: Change) => void;
  /** Before the first request of a change; nothing is sent before it has resolved. */
  readonly onIntent?: (change: Change) => Promise<void> | void;
  /** Before each poll of what the platform does with a change in the background. */
  readonly onWait?: (change: Change) => void;
  /** After a change has ended, however it did; it is recorded here. */
  readonly onResult?: (result: ChangeResult, change: Change, reach: Reach) => Promise<void> | void;
}

export interface ApplyOptions extends ApplyEvents {
  readonly planned: Planned;
  readonly writer: Writer;
  readonly clock: Clock;
  /** Changes worked on at the same time at most; the queue decides how many requests are in flight. */
  readonly parallel: number;
  /** No new change is begun after this aborts; what is in flight ends. */
  readonly signal: AbortSignal;
  /** Ends what is in flight too. */
  readonly abort: AbortSignal;
  /**
   * Milliseconds to wait for the platform's background work on a change. After that, or when `signal` aborts, the change
   * counts as applied and is listed as pending. Absent: it fails after ten minutes.
   */
  readonly wait?: number | undefined;
  /** Polls background work; the writer where absent. */
  readonly poller?: Reader | undefined;
  /** Finds what a creation whose answer was lost has made. */
  readonly locate: (change: Change, bindings: Bindings) => Promise<string | null>;
  /** Reads a resource again, and tells whether these fields are as its change wants them. */
  readonly isInPlace: (change: Change, fields: readonly string[], bindings: Bindings) => Promise<boolean>;
}

/** The results of one apply, in the order of the plan. */
export interface Applied {
  readonly results: readonly ChangeResult[];
  readonly bindings: ReadonlyMap<Address, string>;
  /** Resources that the platform was still working on when the wait ended. */
  readonly pending: Plan['pending'];
}

/**
 * Applies a plan: each change as soon as those it stands on are done, many at the same time. A change that fails skips
 * only those that depend on it; the rest goes on.
 */
export async function applyPlan(options: ApplyOptions): Promise<Applied> {
  return new Applying(options).run();
}

/** A step at work. */
interface Node extends Step {
  /** Steps that have not ended yet. */
  readonly open: Set<string>;
  readonly followers: string[];
}

class Applying {
  readonly #options: ApplyOptions;
  readonly #bindings: Bindings;
  readonly #versions = new VersionMemory();
  readonly #nodes = new Map<string, Node>();
  readonly #succeeded = new Set<string>();
  readonly #results = new Map<string, ChangeResult>();
  readonly #pending: { readonly address: Address; readonly reason: string }[] = [];
  /** Steps that wait for nothing but a place; those before `#begun` have one. */
  readonly #ready: string[] = [];
  #begun = 0;
  #working = 0;
  #watching = 0;
  #settle: () => void = () => undefined;

  constructor(options: ApplyOptions) {
    this.#options = options;
    this.#bindings = new Map(options.planned.plan.bindings);
    for (const [id, step] of stepsOf(options.planned.ordering, options.planned.writesOf)) {
      this.#nodes.set(id, { ...step, open: new Set(step.waitsFor), followers: [] });
    }
    for (const node of this.#nodes.values()) {
      for (const before of node.waitsFor) {
        this.#nodes.get(before)?.followers.push(node.id);
      }
      if (node.open.size === 0) {
        this.#ready.push(node.id);
      }
    }
  }

  async run(): Promise<Applied> {
    await new Promise<void>((resolve) => {
      this.#settle = resolve;
      this.#next();
    });
    const results = this.#options.planned.ordering.sequence.flatMap(
      (change) => this.#results.get(changeId(change)) ?? [],
    );
    return { results, bindings: this.#bindings, pending: this.#pending };
  }

  #next(): void {
    while (this.#working < this.#options.parallel && this.#begun < this.#ready.length) {
      const node = this.#nodes.get(this.#ready[this.#begun] ?? '');
      this.#begun += 1;
      if (node !== undefined) {
        this.#working += 1;
        void this.#work(node);
      }
    }
    if (this.#working === 0 && this.#watching === 0 && this.#begun === this.#ready.length) {
      this.#settle();
    }
  }

  async #work(node: Node): Promise<void> {
    const failure = await this.#half(node);
    const watch = failure === null && isLast(node) ? node.writes.watch : undefined;
    if (watch === undefined) {
      await this.#end(node, failure);
      // Not before its followers are ready: whoever ends meanwhile would take this for the end of all.
      this.#working -= 1;
      this.#next();
      return;
    }
    // The platform works on it by itself: no place among those being sent is taken up meanwhile.
    this.#working -= 1;
    this.#watching += 1;
    this.#next();
    const verdict = await this.#watch(watch, node);
    await this.#end(node, verdict === null ? null : { status: 'failed', error: verdict, reach: 'all' });
    this.#watching -= 1;
    this.#next();
  }

  async #end(node: Node, failure: Failure | null): Promise<void> {
    if (failure === null) {
      this.#succeeded.add(node.id);
    }
    const { change } = node;
    if (change !== null && (failure !== null || isLast(node)) && !this.#results.has(changeId(change))) {
      await this.#tell(change, failure);
    }
    for (const follower of node.followers) {
      const next = this.#nodes.get(follower);
      if (next?.open.delete(node.id) === true && next.open.size === 0) {
        this.#ready.push(follower);
      }
    }
  }

  async #tell(change: Change, failure: Failure | null): Promise<void> {
    const result: ChangeResult = {
      address: change.address,
      action: change.action,
      status: failure?.status ?? 'applied',
      id: this.#bindings.get(change.address) ?? change.id,
      error: failure?.error ?? null,
    };
    this.#results.set(changeId(change), result);
    try {
      await this.#options.onResult?.(result, change, failure?.reach ?? 'all');
    } catch (error) {
      // What cannot be recorded did not happen, as far as the next pass is concerned.
      this.#results.set(changeId(change), { ...result, status: 'failed', error: messageOf(error) });
    }
  }

  /** Sends one half of a change. Null: it went well. */
  async #half(node: Node): Promise<Failure | null> {
    const { change } = node;
    let reach: Reach = node.half === 'first' ? 'nothing' : 'part';
    const obstacle = this.#obstacle(node);
    if (obstacle !== null) {
      return { ...obstacle, reach };
    }
    if (change === null) {
      return null;
    }
    try {
      if (node.half === 'first') {
        this.#options.onStart?.(change);
        await this.#options.onIntent?.(change);
      }
      for (const planned of requestsOf(node)) {
        await sendPlanned(planned, change, {
          writer: this.#options.writer,
          bindings: this.#bindings,
          versions: this.#versions,
          signal: this.#options.abort,
          locate: (lost) => this.#options.locate(lost, this.#bindings),
          isInPlace: (lost, fields) => this.#options.isInPlace(lost, fields, this.#bindings),
          onMaybeDone: () => {
            reach = 'part';
          },
        });
      }
      return null;
    } catch (error) {
      // Given up while it waited for its turn, because work is being ended: nothing went wrong.
      return error instanceof CancelledError && this.#options.signal.aborted
        ? { status: 'skipped', error: 'stopped before it was done', reach }
        : { status: 'failed', error: messageOf(error), reach };
    }
  }

  /** Why a change is not begun: it is held or paused, work is being ended, or what it stands on is not there. */
  #obstacle({ change, stands }: Node): Omit<Failure, 'reach'> | null {
    if (change !== null && change.held !== null) {
      return { status: 'held', error: change.held };
    }
    if (change !== null && change.paused !== null) {
      const until = change.paused.until === null ? '' : ` until ${change.paused.until}`;
      return { status: 'skipped', error: `paused${until}: ${change.paused.reason}` };
    }
    const missing = this.#missing(stands);
    if (missing !== null) {
      const before = this.#nodes.get(missing)?.change ?? null;
      const how = before === null ? undefined : this.#results.get(changeId(before))?.status;
      return {
        status: 'skipped',
        error: `waits for ${before?.address ?? missing}, which was ${how ?? 'not done'}`,
      };
    }
    return this.#options.signal.aborted ? { status: 'skipped', error: 'stopped before it was begun' } : null;
  }

  /** A step among these that did not succeed; of a gate, the step that it failed for. Null: all succeeded. */
  #missing(stands: readonly string[]): string | null {
    const missing = stands.find((each) => !this.#succeeded.has(each));
    const node = missing === undefined ? undefined : this.#nodes.get(missing);
    return node?.change === null ? this.#missing(node.stands) : (missing ?? null);
  }

  /** Waits for the platform's background work on a change. Null: it is done, or counts as pending. */
  async #watch(watch: NonNullable<Writes['watch']>, { change }: Node): Promise<string | null> {
    const { clock, writer, poller = writer, signal, wait } = this.#options;
    const until = clock.monotonic() + (wait ?? WATCH_LIMIT);
    const poll = () => {
      if (change !== null) {
        this.#options.onWait?.(change);
      }
      return watch(poller);
    };
    try {
      const progress = await pollUntil(until, poll, { clock, signal });
      if (progress.state === 'working') {
        return wait === undefined
          ? `the platform was still working on it after ${WATCH_LIMIT / 60_000} minutes`
          : this.#isPending(change);
      }
      return progress.state === 'failed' ? progress.reason : null;
    } catch (error) {
      if (!signal.aborted) {
        return messageOf(error);
      }
      return wait === undefined ? 'stopped while the platform was still working on it' : this.#isPending(change);
    }
  }

  #isPending(change: Change | null): null {
    if (change !== null) {
      this.#pending.push({ address: change.address, reason: WORKING });
    }
    return null;
  }
}

/** Why a change did not go well. One that reached all counts as applied for the record. */
interface Failure {
  readonly status: Exclude<ResultStatus, 'applied'>;
  readonly error: string;
  readonly reach: Reach;
}

/** Milliseconds that the platform may work on a change where no wait is set. */
const WATCH_LIMIT = 10 * 60_000;
