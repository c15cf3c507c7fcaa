import type { Writable } from 'node:stream';
import type { Clock, Random } from '../../core/clock.ts';
import type { Terminal } from './terminal.ts';

/** Everything outside of the program that a command uses; tests pass their own. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly random: Random;
  /** The version of Octavo, without its name. */
  readonly version: string;
  /** The folder of the package, which contains the examples. */
  readonly root: URL;
  /** Aborts when the process receives SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Returns the signal that stopped the process. */
  readonly stoppedBy?: () => 'SIGINT' | 'SIGTERM';
  /** Values that must never be printed. Reading a configuration adds its secrets. */
  readonly secrets?: Set<string>;
  /** Destination of the daemon's log; defaults to standard error. */
  readonly logDestination?: Writable;
}

/** Resolves when the signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
    } else {
      signal.addEventListener('abort', () => resolve(), { once: true });
    }
  });
}

/** Returns the clock of a command; its sleeps end when the process is stopped. */
export function interruptibleClock({ clock, signal }: Pick<CommandContext, 'clock' | 'signal'>): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep: (milliseconds) => clock.sleep(milliseconds, signal),
  };
}
