import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { operations } from '../../platform/operations/index.ts';
import type { CommandContext } from '../cli/setup.ts';
import { readLine } from './line.ts';
import { SCRIPTS, type Shell } from './scripts.ts';
import { suggest } from './suggest.ts';

/** `octavo completion`. */
export function completionCommand(shell: Shell, { terminal }: CommandContext): ExitCode {
  terminal.out(SCRIPTS[shell]);
  return EXIT.done;
}

/** What the lines of the answer end with, as bits. */
const GOES_ON = 2;
const NO_FILES = 4;

/** What a script passes on. */
export interface CompleteFlags {
  readonly shell: Shell;
  /** Of bash: `COMP_WORDBREAKS`. */
  readonly breaks?: string;
}

/**
 * `octavo complete -- LINE`, which the scripts call: prints a line for each suggestion, with its description after a
 * tab, and one with a colon and what else the shell has to know. `line` is the command line up to the cursor.
 */
export function completeCommand(
  program: Command,
  line: string,
  { shell, breaks }: CompleteFlags,
  { terminal }: CommandContext,
): ExitCode {
  const typed = readLine(line, shell, breaks);
  const { words, areFiles, goesOn } = suggest(program, Object.values(operations), typed.words);
  const directive = (goesOn ? GOES_ON : 0) + (areFiles ? 0 : NO_FILES);
  const lines = words.flatMap(({ value, description }) => {
    const inserted = typed.insert(value);
    return inserted === null ? [] : [`${inserted}\t${description}`];
  });
  terminal.out(`${[...lines, `:${directive}`].join('\n')}\n`);
  return EXIT.done;
}
