import { type Command, CommanderError } from 'commander';
import { commandLine } from '../../scripts/docs.ts';

/** The `octavo …` command lines in a shell text: what comes before, after a pipe or in a comment is not of them. */
export function commandLinesIn(shell: string): readonly string[] {
  return shell
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .flatMap((line) => line.replace(/(^|\s)#\s.*$/, '').split(/&&|\|\||[|;]|\$\(|`/))
    .map((part) => /^(?:.*\s)?(?:octavo|node bin\/octavo\.js|npm run octavo --)\s+([a-z-].*)$/.exec(part.trim())?.[1])
    .filter((rest) => rest !== undefined)
    .map((rest) => rest.replace(/\)?"?\s*&?\s*$/, '').trim());
}

/** Parses a command line without running it; gives what is wrong with it, or null. */
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

/** Commands that have commands of their own run nothing either. */
function runNothing(parent: Command): void {
  for (const command of parent.commands) {
    if (command.commands.length === 0) {
      command.action(() => undefined);
    }
    runNothing(command);
  }
}

/** Splits as a shell does, up to a redirection; a variable counts as one word, which no option here minds. */
function words(line: string): readonly string[] {
  const found = line.match(/\d?>>?\s*\S+|(?:"[^"]*"|'[^']*'|[^\s"'>])+/g) ?? [];
  return found
    .filter((word) => !/^\d?>/.test(word))
    .map((word) => word.replaceAll(/["']/g, '').replace(/^\$\{?\w+\}?$/, '1'));
}
