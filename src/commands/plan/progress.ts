/** Progress of reads, changes and waits, on standard error. */
import type { Address } from '../../core/address.ts';
import type { Change, ChangeResult, Plan } from '../../core/change.ts';
import type { Clock } from '../../core/clock.ts';
import { counted, durationWords, printable } from '../../plan/render/words.ts';
import { openReader, type Reader } from '../../platform/client.ts';
import type { RequestQueue } from '../../queue/dispatcher.ts';
import { NOT_STARTED } from '../../reconcile/apply.ts';
import { paintFor, type Terminal } from '../cli/context.ts';
import type { PlatformSession } from '../cli/session.ts';

const DONE = { create: 'created', update: 'updated', move: 'moved', delete: 'deleted' } as const;

/** Runs `work` with a client that cannot write. On a terminal, shows how many requests it has made. */
export async function readWithProgress<T>(
  organization: string,
  { connection, signal }: PlatformSession,
  terminal: Terminal,
  work: (reader: Reader, requests: () => number) => Promise<T>,
): Promise<T> {
  const live = isLive(terminal);
  let requests = 0;
  const show = (limited = '') => {
    if (live) {
      const line = `  reading, ${counted(requests, 'request')}${limited === '' ? '' : `; ${limited}`}`;
      terminal.err(liveLine(terminal, line));
    }
  };
  const onRequest = () => {
    requests += 1;
    show();
  };
  const stop = watchLimit(connection.queue, terminal, show);
  try {
    const reader = openReader(connection, { organization, priority: 'person', signal, onRequest });
    return await work(reader, () => requests);
  } finally {
    stop();
    if (live) {
      terminal.err(CLEAR);
    }
  }
}

/** Milliseconds between two checks of whether the rate limit stops a command. */
const LIMIT_INTERVAL = 1000;

/**
 * Calls `show` every second on a terminal, with what the platform's rate limit does to the requests; elsewhere writes it as a
 * line after `progress`, at most once a minute. Returns a function that ends it.
 */
function watchLimit(
  queue: Pick<RequestQueue, 'limitedFor'>,
  terminal: Terminal,
  show: (limited: string) => void,
  progress: () => string = () => '',
): () => void {
  let shownAt = Number.NEGATIVE_INFINITY;
  const timer = setInterval(() => {
    const milliseconds = queue.limitedFor();
    const isLimited = milliseconds >= LIMIT_INTERVAL;
    const limited = isLimited ? `limited by the platform, continues in ${shortTime(milliseconds)}` : '';
    if (isLive(terminal)) {
      show(limited);
    } else if (isLimited && performance.now() - shownAt >= HEARTBEAT) {
      shownAt = performance.now();
      terminal.err(`${[progress(), limited].filter((part) => part !== '').join('; ')}\n`);
    }
  }, LIMIT_INTERVAL);
  return () => clearInterval(timer);
}

/** `8 s`, `4 min`. */
function shortTime(milliseconds: number): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

/** Milliseconds between lines about a wait without a terminal; CI systems stop jobs that print nothing. */
const HEARTBEAT = 60_000;

/**
 * Shows what an apply waits for: a single updated line on a terminal; elsewhere a line at the start, for each result, and
 * every minute. `longest` is the maximum wait in milliseconds.
 */
export function showWaiting(terminal: Terminal, clock: Clock, longest: number) {
  const live = isLive(terminal);
  const started = clock.monotonic();
  let shown: readonly Address[] = [];
  let shownAt = Number.NEGATIVE_INFINITY;
  const showLine = (open: readonly Address[]) => {
    const time = `${elapsed(clock.monotonic() - started)} of ${elapsed(longest)}`;
    const line = `  waiting for the platform, ${time}: ${open.map(printable).join(', ')}`;
    terminal.err(liveLine(terminal, line));
  };
  return {
    step(open: readonly Address[]): void {
      const now = clock.monotonic();
      if (live) {
        showLine(open);
      } else if (open.length !== shown.length || now - shownAt >= HEARTBEAT) {
        for (const address of shown.filter((each) => !open.includes(each))) {
          terminal.err(`ready    ${printable(address)}\n`);
        }
        terminal.err(`waiting  ${open.map(printable).join(', ')} (at most ${elapsed(longest - (now - started))})\n`);
        shownAt = now;
      }
      shown = open;
    },
    end(): void {
      if (live && shown.length > 0) {
        terminal.err(CLEAR);
      }
    },
  };
}

/** Moves to the start of the line and clears it. */
const CLEAR = '\r\u001b[2K';

/** Returns the text that replaces the updated line; `before` stays above it. */
function liveLine(terminal: Terminal, line: string, before = ''): string {
  const shown = line.slice(0, Math.max(10, terminal.columns - 1));
  return `${CLEAR}${before}${paintFor(terminal.isErrTerminal, terminal.env).faint(shown)}`;
}

function isLive(terminal: Terminal): boolean {
  return terminal.isErrTerminal && terminal.env.TERM !== 'dumb';
}

/** Milliseconds from which an estimate says something. */
const LEAST_LEFT = 2000;

/** Milliseconds for which lines are buffered, because writing each one would cost more than its request. */
const GATHER = 50;

/**
 * Estimates the milliseconds that are left: by the estimate of the plan at first, and by the pace after a tenth of the changes.
 * `planned`: the estimate of the plan for all changes.
 */
export function timeLeft(ended: number, total: number, passed: number, planned: number): number {
  const share = Math.min(1, (10 * ended) / Math.max(1, total));
  const byPace = ended === 0 ? 0 : (passed / ended) * (total - ended);
  return share * byPace + (1 - share) * Math.max(0, planned - passed);
}

/**
 * Shows the progress of the changes of a plan: a single updated line on a terminal, such as `12 of 113, 8 s, about 40 s left`,
 * and a line per result elsewhere.
 */
export function showProgress(
  terminal: Terminal,
  { changes, cost }: Pick<Plan, 'changes' | 'cost'>,
  queue: Pick<RequestQueue, 'limitedFor'>,
  clock: Pick<Clock, 'monotonic'>,
) {
  const total = changes.length;
  const started = clock.monotonic();
  const paint = paintFor(terminal.isErrTerminal, terminal.env);
  const live = isLive(terminal);
  let ended = 0;
  let current = '';
  let limit = '';
  let lines = '';
  const waiting = new Set<Address>();
  let timer: NodeJS.Timeout | undefined;
  const reached = () => {
    const passed = clock.monotonic() - started;
    const left = Math.max(timeLeft(ended, total, passed, cost.seconds * 1000), queue.limitedFor());
    const words = ended === total || left < LEAST_LEFT ? '' : `, ${durationWords(left / 1000)} left`;
    return `${ended} of ${total}, ${shortTime(passed)}${words}`;
  };
  const write = () => {
    timer = undefined;
    const about = limit === '' ? current : limit;
    const line = `  ${reached()}${about === '' ? '' : `; ${about}`}`;
    terminal.err(live ? liveLine(terminal, line, lines) : lines);
    lines = '';
  };
  const writeSoon = () => {
    timer ??= setTimeout(write, GATHER);
  };
  const showLimit = (limited: string) => {
    limit = limited;
    writeSoon();
  };
  const stop = watchLimit(queue, terminal, showLimit, reached);
  return {
    start({ address }: Change): void {
      if (live) {
        current = printable(address);
        writeSoon();
      }
    },
    /** Called while the platform works on a change in the background. */
    wait({ address }: Change): void {
      current = `waiting for the platform: ${printable(address)}`;
      if (!live && !waiting.has(address)) {
        lines += `waiting  ${printable(address)}\n`;
      }
      if (live || !waiting.has(address)) {
        writeSoon();
      }
      waiting.add(address);
    },
    result({ address, action, status, error, note }: ChangeResult): void {
      ended += 1;
      const name = printable(address);
      if (status === 'failed') {
        lines += `${paint.remove('failed')}   ${name}: ${printable(error ?? '')}\n`;
      } else if (status === 'skipped' && error !== NOT_STARTED) {
        lines += `${paint.warn('skipped')}  ${name}: ${printable(error ?? '')}\n`;
      } else if (status === 'applied' && !live) {
        lines += `${DONE[action].padEnd(8)} ${name}\n`;
      }
      if (note !== undefined) {
        lines += `${paint.warn('note')}     ${name}: ${printable(note)}\n`;
      }
      writeSoon();
    },
    /** Clears the updated line. */
    end(): void {
      stop();
      clearTimeout(timer);
      const rest = `${live ? CLEAR : ''}${lines}`;
      if (rest !== '') {
        terminal.err(rest);
      }
    },
  };
}

/** Formats milliseconds, such as `5 minutes` or `12 seconds`. */
export function elapsed(milliseconds: number): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1000));
  return seconds < 120 ? counted(seconds, 'second') : counted(Math.round(seconds / 60), 'minute');
}
