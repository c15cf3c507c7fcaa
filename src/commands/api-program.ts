import { Argument, type Command, Option } from 'commander';
import type { FieldArgument } from './api/fields.ts';
import { CONFIG, ORGANIZATION, type SetExitCode } from './cli/arguments.ts';
import type { CommandContext } from './cli/context.ts';

/** Registers `octavo api` and shell completion. */
export function apiCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  const fields: FieldArgument[] = [];
  const headers: string[] = [];
  // Fields of both flags keep their common order, because items of lists are added in that order.
  const take = (isTyped: boolean) => (text: string) => {
    fields.push({ text, isTyped });
  };
  program
    .command('api')
    .description('Send an authenticated request to the platform, within its rate limits')
    .argument('[request...]', 'METHOD PATH, or an operation name and the ids in its path')
    .option('-X, --method <method>', 'Method of the request when only a path is given (default: GET)')
    .option('-f, --field <key=value>', 'Add a string field to the body, or to the query of a GET', take(false))
    .option(
      '-F, --typed-field <key=value>',
      'Add a typed field: true, 3 and null keep their type, @file reads a file',
      take(true),
    )
    .option('-d, --data <json>', 'Request body: JSON, @file, or - for standard input')
    .option('-H, --header <name:value>', 'Send an additional header; can be repeated', (text: string) => {
      headers.push(text);
    })
    .option('--paginate', 'Fetch all pages of a list and print one item per line')
    .option('--slurp', 'With --paginate, print the items of all pages as one JSON array')
    .option('-q, --jq <program>', 'Filter the response with jq; with --paginate, filter each item')
    .option('-i, --include', 'Print the status and the headers of the response')
    .option('--silent', 'Do not print the response body')
    .option('--dry-run', 'Print the request without sending it')
    .option('--yes', 'Send a write without asking for confirmation')
    .option('--raw', 'Send the request even if it does not match the operation')
    .option('--list [filter]', 'List operations; with a filter that matches few, also their parameters')
    .addOption(
      new Option('--format <format>', 'Output format of --list and --dry-run')
        .choices(['text', 'json'])
        .default('text'),
    )
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .addHelpText('after', EXAMPLES)
    .action(async (words, options) => {
      const { apiCommand } = await import('./api/command.ts');
      setExitCode(await apiCommand(words, { fields, headers }, options, context));
    });
  completionCommands(program, context, setExitCode);
}

function completionCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('completion')
    .description('Print a shell script that completes commands, options, requests and their fields')
    .addArgument(new Argument('<shell>', 'Shell to complete for').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', COMPLETION)
    .action(async (shell) => {
      const { completionCommand } = await import('./completion/command.ts');
      setExitCode(completionCommand(shell, context));
    });
  program
    .command('complete', { hidden: true })
    .description('Print suggestions for the word at the cursor; called by the scripts')
    .argument('[line]', 'The command line up to the cursor', '')
    .addOption(
      new Option('--shell <shell>', 'Shell to complete for').choices(['bash', 'zsh', 'fish']).makeOptionMandatory(),
    )
    .option('--breaks <characters>', 'Characters that separate words for completion in bash')
    .action(async (line, options) => {
      const { completeCommand } = await import('./completion/command.ts');
      setExitCode(completeCommand(program, line, options, context));
    });
}

const COMPLETION = `
Examples:
  source <(octavo completion bash)                                    in ~/.bashrc
  source <(octavo completion zsh)                                     in ~/.zshrc, after compinit
  octavo completion fish > ~/.config/fish/completions/octavo.fish`;

const EXAMPLES = `
Examples:
  octavo api listTeams --paginate --jq .title
  octavo api GET '/v1/orgs/{organization}/teams' -f title=docs
  octavo api createTeam -f title=Writers -f 'members[]=ana@acme.example'
  octavo api PATCH /orgs/:org/sites/site_1 -d @site.json --dry-run
  octavo api --list team`;
