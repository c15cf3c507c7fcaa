import type { Change, ChangeResult } from '../core/change.ts';
import { counted, printable } from '../plan/words.ts';
import { paintFor, type Terminal } from './terminal.ts';

/** Shows how an apply goes: one line that changes on a terminal, a line for each result elsewhere. */
export interface Progress {
  start(change: Change): void;
  result(result: ChangeResult): void;
  /** Takes the changing line away. */
  end(): void;
}

const DONE = { create: 'created', update: 'updated', move: 'moved', delete: 'deleted' } as const;

/** Shows, on a terminal only, that reading goes on; gives what takes the line away. */
export function showReading(terminal: Terminal, requests: () => number): { step(): void; end(): void } {
  const live = isLive(terminal);
  const paint = paintFor(terminal.isErrTerminal, terminal.env);
  return {
    step() {
      if (live) {
        terminal.err(`${CLEAR}${paint.faint(`  reading, ${counted(requests(), 'request')}`)}`);
      }
    },
    end() {
      if (live) {
        terminal.err(CLEAR);
      }
    },
  };
}

/** Back to the start of the line, with nothing on it. */
const CLEAR = '\r\u001b[2K';

function isLive(terminal: Terminal): boolean {
  return terminal.isErrTerminal && terminal.env.TERM !== 'dumb';
}

/** Milliseconds in which lines are gathered: written one by one, they would cost more than the requests they tell of. */
const GATHER = 50;

/** Makes the progress for this terminal; `total` is how many changes there are. */
export function showProgress(terminal: Terminal, total: number): Progress {
  const paint = paintFor(terminal.isErrTerminal, terminal.env);
  const live = isLive(terminal);
  let ended = 0;
  let current = '';
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const write = () => {
    timer = undefined;
    const line = `  ${ended}/${total} ${current}`.slice(0, Math.max(10, terminal.columns - 1));
    terminal.err(live ? `${CLEAR}${lines}${paint.faint(line)}` : lines);
    lines = '';
  };
  const writeSoon = () => {
    timer ??= setTimeout(write, GATHER);
  };
  return {
    start(change) {
      if (live) {
        current = printable(change.address);
        writeSoon();
      }
    },
    result({ address, action, status, error }) {
      ended += 1;
      const name = printable(address);
      if (status === 'failed') {
        lines += `${paint.remove('failed')}   ${name}: ${printable(error ?? '')}\n`;
      } else if (status === 'skipped') {
        lines += `${paint.warn('skipped')}  ${name}: ${printable(error ?? '')}\n`;
      } else if (status === 'applied' && !live) {
        lines += `${DONE[action].padEnd(8)} ${name}\n`;
      }
      writeSoon();
    },
    end() {
      clearTimeout(timer);
      const rest = `${live ? CLEAR : ''}${lines}`;
      if (rest !== '') {
        terminal.err(rest);
      }
    },
  };
}
