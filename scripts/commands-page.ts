import type { Argument, Command, Option } from 'commander';

/** Renders `docs/commands.md` from the program as the command line parses it. */
export function commandsPage(program: Command, note: string): string {
  const parts = [
    '# Commands',
    note,
    'Commands print results to standard output, and everything else to standard error. Output is colored on a terminal ' +
      'only, unless `NO_COLOR` is set.',
    EXIT_CODES,
    WHERE,
    groupsTable(program),
    ...shownCommands(program).flatMap((command) => commandParts(command, `octavo ${command.name()}`)),
  ];
  return `${parts.join('\n\n')}\n`;
}

const EXIT_CODES = `| exit code | means |
|---|---|
| 0 | success; some changes may be paused, or some people pending |
| 1 | failure |
| 2 | the plan has changes, including held ones (\`plan --detailed-exitcode\` only) |
| 3 | invalid input: manifests, configuration or command line |
| 4 | a change was held, or the plan was refused: by a safety limit, because the plan file is stale or was altered, or because a checksum does not match |
| 5 | all other changes were applied, but something is still pending after \`--wait\`, or the wait was interrupted (\`apply\`); changes are being applied (\`status\`) |
| 130, 143 | interrupted by Ctrl-C or SIGTERM (\`api\`; other commands finish what they started and exit with one of the codes above) |

Closing standard output early, as \`head\` does, changes neither the work of a command nor its exit code. \`api\` then
requests no more pages.`;

const WHERE = `Commands that need the platform read its address and token from the first of these that is set:

1. the file given by \`--config\` or the variable \`OCTAVO_CONFIG\`
2. the variables \`OCTAVO_TOKEN\`, \`OCTAVO_ORGANIZATION\` and \`OCTAVO_BASE_URL\` (default \`https://api.gitbook.com\`)
3. \`config.yaml\` in the working directory

See [Configuration file](configuration.md#configuration-file) for which configuration is trusted.`;

/** The commands that help lists, without `help` itself. */
function shownCommands(parent: Command): readonly Command[] {
  return parent
    .createHelp()
    .visibleCommands(parent)
    .filter((command) => command.name() !== 'help');
}

function groupsTable(program: Command): string {
  const groups = Map.groupBy(shownCommands(program), (command) => command.helpGroup().replace(/:$/, ''));
  const links = (commands: readonly Command[]) =>
    commands.map((command) => `[${command.name()}](#octavo-${command.name()})`).join(', ');
  const rows = [...groups].map(([group, commands]) => `| ${group} | ${links(commands)} |`);
  return `| group | commands |\n|---|---|\n${rows.join('\n')}`;
}

/** The part of a command and, one level below, those of its subcommands. */
function commandParts(command: Command, name: string, heading = '##'): readonly string[] {
  const rows = [...command.registeredArguments.map(argumentRow), ...command.options.map(optionRow)];
  return [
    `${heading} ${name}`,
    `${capital(command.description())}.`,
    `\`\`\`\n${name} ${command.usage()}\n\`\`\``,
    ...(rows.length === 0 ? [] : [`| | | default |\n|---|---|---|\n${rows.join('\n')}`]),
    ...shownCommands(command).flatMap((child) => commandParts(child, `${name} ${child.name()}`, `${heading}#`)),
  ];
}

function argumentRow(argument: Argument): string {
  const { required, description, defaultValue, argChoices } = argument;
  const name = argument.name();
  return row(required ? `<${name}>` : `[${name}]`, `${description}${choicesOf(argChoices)}`, defaultValue);
}

function optionRow(option: Option): string {
  const { flags, long, mandatory, description, defaultValue, defaultValueDescription, argChoices } = option;
  // `--without` takes the names that `--with` lists.
  const choices = long === '--without' ? '' : choicesOf(argChoices);
  return row(
    flags,
    `${description}${mandatory ? ' (required)' : ''}${choices}`,
    defaultValueDescription ?? defaultValue,
  );
}

function choicesOf(choices: readonly string[] | undefined): string {
  return choices === undefined ? '' : `: ${choices.map((choice) => `\`${choice}\``).join(', ')}`;
}

function row(name: string, meaning: string, fallback: unknown): string {
  return `| \`${name}\` | ${cell(capital(meaning))} | ${fallback === undefined ? '' : `\`${String(fallback)}\``} |`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns a text for a cell of a table. */
export function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('\n', ' ');
}
