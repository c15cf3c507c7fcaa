/** Finds and parses the `octavo` command lines in documentation. */
import { type Command, CommanderError } from 'commander';
import { commandLine } from '../../scripts/docs.ts';

/** The `octavo …` command lines in a shell text, without preceding commands, later parts of a pipe, and comments. */
export function commandLinesIn(shell: string): readonly string[] {
  return shell
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .flatMap((line) => line.replace(/(^|\s)#\s.*$/, '').split(/&&|\|\||[|;]|\$\(|`/))
    .map((part) => /^(?:.*\s)?(?:octavo|node bin\/octavo\.js|npm run octavo --)\s+([a-z-].*)$/.exec(part.trim())?.[1])
    .filter((rest) => rest !== undefined)
    .map((rest) => rest.replace(/\)?"?\s*&?\s*$/, '').trim());
}

/** Parses a command line without running it; returns its error, or null. */
export function faultOf(line: string): string | null {
  const program = commandLine();
  runNothing(program);
  try {
    program.parse(words(line), { from: 'user' });
    return null;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode !== 0) {
      return error.message;
    }
    if (error instanceof CommanderError) {
      return null;
    }
    throw error;
  }
}

/** Commands with subcommands do nothing either. */
function runNothing(parent: Command): void {
  for (const command of parent.commands) {
    if (command.commands.length === 0) {
      command.action(() => undefined);
    }
    runNothing(command);
  }
}

/** Splits like a shell, up to a redirection; a variable counts as one word, which every option here accepts. */
function words(line: string): readonly string[] {
  const found = line.match(/\d?>>?\s*\S+|(?:"[^"]*"|'[^']*'|[^\s"'>])+/g) ?? [];
  return found
    .filter((word) => !/^\d?>/.test(word))
    .map((word) => word.replaceAll(/["']/g, '').replace(/^\$\{?\w+\}?$/, '1'));
}
