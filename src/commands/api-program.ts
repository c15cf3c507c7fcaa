import { Argument, type Command, Option } from 'commander';
import type { TypedField } from './api/fields.ts';
import { CONFIG, type Done, ORGANIZATION } from './cli/arguments.ts';
import type { Surroundings } from './cli/setup.ts';

/** `octavo api`, and what completes it on a command line. */
export function apiCommands(program: Command, around: Surroundings, done: Done): void {
  const fields: TypedField[] = [];
  const headers: string[] = [];
  // Both kinds in the order in which they were typed: fields of lists follow each other.
  const take = (isTyped: boolean) => (text: string) => {
    fields.push({ text, isTyped });
  };
  program
    .command('api')
    .description('any request to the platform, authenticated and within its rate limits')
    .argument('[request...]', 'METHOD PATH, or the name of an operation and the ids that its path needs')
    .option('-X, --method <method>', 'the method, where only a path is given (default: GET)')
    .option(
      '-f, --field <key=value>',
      'a field of the body, or of the query of a GET; its value is a text',
      take(false),
    )
    .option(
      '-F, --typed-field <key=value>',
      'the same; true, 3 and null are what they are, @file is what is in it',
      take(true),
    )
    .option('-d, --data <json>', 'the body: JSON, @file, or - for what is piped in')
    .option('-H, --header <name:value>', 'Send an additional header; can be repeated', (text: string) => {
      headers.push(text);
    })
    .option('--paginate', 'all pages of a list, one item a line')
    .option('--slurp', 'With --paginate, print the items of all pages as one JSON array')
    .option('-q, --jq <program>', 'select from the answer, or from each item, with jq')
    .option('-i, --include', 'show the status and the headers of the answer')
    .option('--silent', 'Do not print the body of the answer')
    .option('--dry-run', 'print what would be sent; send nothing')
    .option('--yes', 'send a write without asking')
    .option('--raw', 'send what does not fit the operation too')
    .option('--list [filter]', 'what operations there are; with a filter for a few, also what they take')
    .addOption(
      new Option('--format <format>', 'how --list and --dry-run answer').choices(['text', 'json']).default('text'),
    )
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .addHelpText('after', EXAMPLES)
    .action(async (words, options) => {
      const { apiCommand } = await import('./api/command.ts');
      done(await apiCommand(words, { fields, headers }, options, around));
    });
  completionCommands(program, around, done);
}

function completionCommands(program: Command, around: Surroundings, done: Done): void {
  program
    .command('completion')
    .description('a script for a shell, so that it completes commands, options, requests and their fields')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', COMPLETION)
    .action(async (shell) => {
      const { completionCommand } = await import('./completion/command.ts');
      done(completionCommand(shell, around));
    });
  program
    .command('complete', { hidden: true })
    .description('Print suggestions for the word at the cursor; called by the scripts')
    .argument('[line]', 'The command line up to the cursor', '')
    .addOption(new Option('--shell <shell>', 'Which shell').choices(['bash', 'zsh', 'fish']).makeOptionMandatory())
    .option('--breaks <characters>', 'Characters that separate words for completion in bash')
    .action(async (line, options) => {
      const { completeCommand } = await import('./completion/command.ts');
      done(completeCommand(program, line, options, around));
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
