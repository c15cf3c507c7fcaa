/** Applies a confirmed plan, waits for the platform's background work, and applies what depended on its results. */
import type { ChangeResult, Plan } from '../../core/change.ts';
import { AppError, EXIT, type ExitCode } from '../../core/errors.ts';
import { shownJson } from '../../core/json.ts';
import { resultToJson } from '../../plan/render/json.ts';
import { counted, printable, printableLines } from '../../plan/render/words.ts';
import { openReader, openWriter, type Reader, type Writer } from '../../platform/client.ts';
import type { RequestQueue } from '../../queue/dispatcher.ts';
import { type ApplyResult, apply, outcomeOf } from '../../reconcile/apply.ts';
import {
  type BackgroundWork,
  planFollowUp,
  unfinishedWork,
  type WaitResult,
  waitForWork,
} from '../../reconcile/follow-up.ts';
import type { Planned } from '../../reconcile/planning.ts';
import type { CommandContext } from '../cli/context.ts';
import { type PlatformSession, RequestCount } from '../cli/session.ts';
import { isAwaited, resultLine } from './apply-summary.ts';
import type { CommandInput } from './planning.ts';
import { showProgress, showWaiting } from './progress.ts';

export interface RunOptions {
  readonly format: 'text' | 'json';
  /** Maximum number of changes that are applied concurrently. */
  readonly parallel: number;
  /** Maximum wait after the last write, in milliseconds; 0 disables it. */
  readonly wait: number;
  /** True if changes that become possible during the wait are applied too. */
  readonly appliesPending: boolean;
}

type Pending = Plan['pending'];

/** The result of an apply, and the exit code. */
export interface ApplyOutcome extends ApplyResult {
  readonly exit: ExitCode;
}

/**
 * Applies a plan and reports the result. It waits for the background work that this apply has started and for the work
 * that the plan found unfinished; then it applies the changes that depended on the results, and no others.
 */
export async function runApply(
  input: CommandInput,
  planned: Planned,
  session: PlatformSession,
  options: RunOptions,
  context: CommandContext,
): Promise<ApplyOutcome> {
  const { terminal, clock } = context;
  const { connection, signal } = session;
  const count = new RequestCount();
  const run = new Run(input, planned, session, options, context);
  const client = { organization: input.organization, priority: 'apply' } as const;
  const onRequest: typeof count.onRequest = (operation) => {
    count.onRequest(operation);
    run.noteRequest(operation.method);
  };
  const writer = openWriter(connection, { ...client, onRequest });
  const applied = await run.run(writer, openReader(connection, { ...client, onRequest, signal }));
  const exit = exitOf(planned, applied, { wait: options.wait, isStopped: signal.aborted }, terminal.err);
  const requests = { reads: planned.plan.cost.requests.reads + count.reads, writes: count.writes };
  if (options.format === 'json') {
    terminal.out(`${shownJson(resultToJson(planned.plan, applied.results, requests, applied.pending))}\n`);
  } else {
    const waited = run.hasWaited ? clock.monotonic() - run.lastWrite : null;
    terminal.out(resultLine(planned.plan, applied, { writes: count.writes, waited }));
  }
  return { ...applied, exit };
}

interface Clients {
  readonly writer: Writer;
  /** Reader whose requests are cancelled when the process is stopped. */
  readonly poller: Reader;
}

class Run {
  /** Time of the last write, in monotonic milliseconds; the wait starts then. */
  lastWrite: number;
  hasWaited = false;
  readonly #input: CommandInput;
  readonly #planned: Planned;
  readonly #queue: RequestQueue;
  readonly #signal: AbortSignal;
  readonly #options: RunOptions;
  readonly #context: CommandContext;

  constructor(
    input: CommandInput,
    planned: Planned,
    { connection, signal }: PlatformSession,
    options: RunOptions,
    context: CommandContext,
  ) {
    this.#input = input;
    this.#planned = planned;
    this.#queue = connection.queue;
    this.#signal = signal;
    this.#options = options;
    this.#context = context;
    this.lastWrite = context.clock.monotonic();
  }

  noteRequest(method: string): void {
    if (method !== 'GET') {
      this.lastWrite = this.#context.clock.monotonic();
    }
  }

  async run(writer: Writer, poller: Reader): Promise<ApplyResult> {
    const { plan } = this.#planned;
    const { wait, appliesPending } = this.#options;
    const first = await this.#apply(this.#planned, { writer, poller, wait });
    if (plan.verdict.state !== 'ready') {
      return { ...first, pending: plan.pending };
    }
    // Work that somebody else has started matters only if changes that depend on it may be applied.
    const earlier = appliesPending ? this.#planned.identity.bound : new Map();
    const work = unfinishedWork(this.#input, earlier, plan.pending, first);
    this.hasWaited = wait > 0 && work.length + first.pending.length > 0;
    const waited = await this.#wait(work, poller);
    const pending = merged(plan.pending, first.pending, waited.pending);
    const isPossible = waited.finished.size > 0 && wait > 0 && !this.#signal.aborted;
    if (isPossible && !appliesPending && plan.pending.some(isAwaited)) {
      this.#context.terminal.err('Pending changes may be possible now, but were not confirmed; run apply again\n');
    }
    return isPossible && appliesPending
      ? this.#applyFollowUp({ ...first, pending }, merged(first.pending, waited.pending), waited.finished, {
          writer,
          poller,
        })
      : { ...first, pending };
  }

  #apply(planned: Planned, options: Clients & { readonly wait: number }): Promise<ApplyResult> {
    const { terminal, clock } = this.#context;
    const progress = showProgress(terminal, planned.plan.changes.length, this.#queue);
    return apply(this.#input, planned, {
      ...options,
      clock,
      parallel: this.#options.parallel,
      signal: this.#signal,
      abort: new AbortController().signal,
      record: null,
      onStart: progress.start,
      onWait: options.wait > 0 ? progress.wait : () => undefined,
      onResult: progress.result,
    }).finally(progress.end);
  }

  #wait(work: readonly BackgroundWork[], poller: Reader): Promise<WaitResult> {
    const { terminal, clock } = this.#context;
    const { wait } = this.#options;
    const progress = showWaiting(terminal, clock, wait);
    return waitForWork(work, poller, {
      clock,
      signal: this.#signal,
      deadline: this.lastWrite + wait,
      onPoll: wait > 0 ? progress.step : () => undefined,
    }).finally(progress.end);
  }

  /** Plans and applies the pending changes that became possible; `working` lists unfinished background work. */
  async #applyFollowUp(
    first: ApplyResult,
    working: Pending,
    finished: ReadonlySet<string>,
    clients: Clients,
  ): Promise<ApplyResult> {
    const { clock, terminal } = this.#context;
    let next: Planned;
    try {
      next = await planFollowUp(this.#input, first.bindings, finished, clients.writer);
    } catch (error) {
      if (!(error instanceof AppError)) {
        throw error;
      }
      terminal.err(`Cannot plan the pending changes: ${printableLines(error.message)}\n`);
      return first;
    }
    const wait = Math.max(0, this.lastWrite + this.#options.wait - clock.monotonic());
    const then = next.plan.changes.length === 0 ? null : await this.#apply(next, { ...clients, wait });
    const results = then?.results ?? [];
    const handled = new Set([...results.map(({ address }) => address), ...next.identity.bound.keys()]);
    const missed = this.#planned.plan.pending
      .filter((each) => isAwaited(each) && !handled.has(each.address))
      .map(({ address }) => ({ address, reason: 'a resource that it depends on has changed; run apply again' }));
    return {
      results: [...first.results, ...results],
      bindings: new Map([...next.plan.bindings, ...first.bindings, ...(then?.bindings ?? [])]),
      pending: merged(next.plan.pending, working, then?.pending ?? [], missed),
    };
  }
}

/** Merges lists to one entry per address; the first one wins. */
function merged(...lists: readonly Pending[]): Pending {
  return [
    ...new Map(
      lists
        .flat()
        .toReversed()
        .map((each) => [each.address, each]),
    ).values(),
  ].toReversed();
}

/** Returns success only if everything declared exists, unless waiting was disabled. */
function exitOf(
  planned: Planned,
  { results, pending }: ApplyResult,
  { wait, isStopped }: { readonly wait: number; readonly isStopped: boolean },
  err: (text: string) => void,
): ExitCode {
  const skipped = results.filter((result: ChangeResult) => result.status === 'skipped').length;
  if (isStopped && skipped > 0) {
    err(`Stopped: ${counted(skipped, 'change')} not started; run it again to continue\n`);
    return EXIT.failed;
  }
  const open = planned.plan.verdict.state === 'ready' ? pending.filter(isAwaited) : [];
  for (const { address, reason } of open) {
    err(`Pending: ${printable(address)}: ${printable(reason)}\n`);
  }
  const outcome = outcomeOf(planned, results);
  if (outcome !== 'done') {
    return outcome === 'failed' ? EXIT.failed : EXIT.held;
  }
  return open.length > 0 && wait > 0 ? EXIT.pending : EXIT.done;
}
