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

/** Makes the progress for this terminal; `total` is how many changes there are. */
export function showProgress(terminal: Terminal, total: number): Progress {
  const paint = paintFor(terminal.isErrTerminal, terminal.env);
  const live = isLive(terminal);
  let ended = 0;
  let current = '';
  const draw = () => {
    if (live) {
      const line = `  ${ended}/${total} ${current}`.slice(0, Math.max(10, terminal.columns - 1));
      terminal.err(`${CLEAR}${paint.faint(line)}`);
    }
  };
  return {
    start(change) {
      current = printable(change.address);
      draw();
    },
    result({ address, action, status, error }) {
      ended += 1;
      const name = printable(address);
      const clear = live ? CLEAR : '';
      if (status === 'failed') {
        terminal.err(`${clear}${paint.remove('failed')}   ${name}: ${printable(error ?? '')}\n`);
      } else if (status === 'skipped') {
        terminal.err(`${clear}${paint.warn('skipped')}  ${name}: ${printable(error ?? '')}\n`);
      } else if (status === 'applied' && !live) {
        terminal.err(`${DONE[action].padEnd(8)} ${name}\n`);
      }
      draw();
    },
    end() {
      if (live) {
        terminal.err(CLEAR);
      }
    },
  };
}
