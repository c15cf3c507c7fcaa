/** Runs `octavo completion`, and `octavo complete` for its scripts. */
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { operations } from '../../platform/operations/index.ts';
import type { CommandContext } from '../cli/context.ts';
import { completeWords } from './complete.ts';
import { readLine } from './line.ts';
import { SCRIPTS, type Shell } from './scripts.ts';

/** Prints the completion script of a shell. */
export function completionCommand(shell: Shell, { terminal }: CommandContext): ExitCode {
  terminal.out(SCRIPTS[shell]);
  return EXIT.done;
}

/** Bits of the directive in the last line of the output. */
const NO_SPACE = 2;
const NO_FILES = 4;

/** Options that a completion script passes. */
export interface CompleteFlags {
  readonly shell: Shell;
  /** `COMP_WORDBREAKS` of bash. */
  readonly breaks?: string;
}

/**
 * Prints completions for `octavo complete -- LINE`: one line each, with the description after a tab, and a last line
 * `:DIRECTIVE`. `line` is the command line up to the cursor.
 */
export function completeCommand(
  program: Command,
  line: string,
  { shell, breaks }: CompleteFlags,
  { terminal }: CommandContext,
): ExitCode {
  const typed = readLine(line, shell, breaks);
  const { words, includesFiles, isPartial } = completeWords(program, Object.values(operations), typed.words);
  const directive = (isPartial ? NO_SPACE : 0) + (includesFiles ? 0 : NO_FILES);
  const lines = words.flatMap(({ value, description }) => {
    const inserted = typed.insert(value);
    return inserted === null ? [] : [`${inserted}\t${description}`];
  });
  terminal.out(`${[...lines, `:${directive}`].join('\n')}\n`);
  return EXIT.done;
}
