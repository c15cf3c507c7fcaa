/** Connects demonstrations to the terminal. */
import type { DemoContext } from '../../demo/context.ts';
import type { CommandContext } from '../cli/context.ts';
import { paintFor } from '../cli/terminal.ts';

/** Returns the context of a demonstration in this terminal, until the signal aborts. */
export function createDemoContext({ terminal, clock }: CommandContext, signal: AbortSignal): DemoContext {
  return {
    say: terminal.out,
    paint: paintFor(terminal.isOutTerminal, terminal.env),
    columns: terminal.columns - 4,
    clock,
    signal,
  };
}
