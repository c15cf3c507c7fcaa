import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { operations } from '../../platform/operations/index.ts';
import type { Surroundings } from '../setup.ts';
import { printScript, type Shell } from './scripts.ts';
import { suggest } from './suggest.ts';

/** `octavo completion`. */
export function completionCommand(shell: Shell, { terminal }: Surroundings): ExitCode {
  printScript(shell, terminal.out);
  return EXIT.done;
}

/** What the lines of the answer end with, as bits. */
const GOES_ON = 2;
const NO_FILES = 4;

/**
 * `octavo complete -- WORDS`, which the scripts call: a line for each suggestion, with its description after a tab, and
 * one with a colon and what else the shell has to know.
 */
export function completeCommand(program: Command, line: readonly string[], { terminal }: Surroundings): ExitCode {
  const { words, areFiles, goesOn } = suggest(program, Object.values(operations), line);
  const directive = (goesOn ? GOES_ON : 0) + (areFiles ? 0 : NO_FILES);
  const lines = words.map(({ value, description }) => `${value}\t${description}`);
  terminal.out(`${[...lines, `:${directive}`].join('\n')}\n`);
  return EXIT.done;
}
