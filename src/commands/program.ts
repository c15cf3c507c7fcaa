/** Defines the command line: every command with its arguments and options. A command is loaded when it runs. */
import { Argument, Command, Help, InvalidArgumentError, Option } from 'commander';
import { readDuration } from '../config/values.ts';
import { LISTED } from '../conversations/model/ticket.ts';
import { CONDITION_CODES, EVENT_CODES } from '../core/condition-codes.ts';
import type { ExitCode } from '../core/errors.ts';
import type { FieldArgument } from './api/request.ts';
import type { CommandContext } from './cli/context.ts';
import { FEATURE_NAMES, PLATFORM_NAMES } from './cli/feature-names.ts';

/** Sets the exit code of the process. */
type SetExitCode = (code: ExitCode) => void;

/** `--config`. */
const CONFIG = [
  '--config <file>',
  'Configuration file (default: OCTAVO_CONFIG, then the environment, then config.yaml)',
] as const;
const ORGANIZATION = ['--organization <id>', 'Organization to use when several are configured'] as const;

const SCOPE = [
  '--scope <name>',
  'Scope of the manifest directory when an organization has several (default: its path in the repository)',
] as const;

const HELP = ['help [command]', 'Show help for a command'] as const;

/** A command that is loaded when it runs. */
class LazyCommand extends Command {
  readonly #context: CommandContext;
  readonly #setExitCode: SetExitCode;

  constructor(name: string | undefined, context: CommandContext, setExitCode: SetExitCode) {
    super(name);
    this.#context = context;
    this.#setExitCode = setExitCode;
  }

  override createCommand(name?: string): LazyCommand {
    return new LazyCommand(name, this.#context, this.#setExitCode);
  }

  /** Adds options, in this order. */
  with(...options: readonly (Option | readonly [flags: string, description: string])[]): this {
    for (const option of options) {
      this.addOption(option instanceof Option ? option : new Option(...option));
    }
    return this;
  }

  /** Sets the function that loads the command. The command takes arguments, options and the context. */
  runs(
    load: (options: { readonly dryRun?: boolean }) => Promise<(...values: never[]) => ExitCode | Promise<ExitCode>>,
  ): this {
    return this.action(async (...given: unknown[]) => {
      // Commander passes the arguments, the options and its own command.
      const values = given.slice(0, -1);
      const command = (await load(values.at(-1) ?? {})) as (...all: unknown[]) => ExitCode | Promise<ExitCode>;
      this.#setExitCode(await command(...values, this.#context));
    });
  }
}

/** Registers all commands, for parsing and for the reference page. */
export function createProgram(context: CommandContext, setExitCode: SetExitCode): Command {
  const program = new LazyCommand('octavo', context, setExitCode)
    .description('Manage a documentation platform with GitOps: declare an organization as YAML in a git repository')
    .version(context.version, '--version', 'Print the version')
    .helpOption('-h, --help', 'Show help')
    .helpCommand(...HELP)
    .exitOverride()
    .configureOutput({ writeOut: context.terminal.out, writeErr: context.terminal.err })
    .showHelpAfterError('Run with --help to list commands and options.')
    .showSuggestionAfterError(true)
    .addHelpText('after', AFTER_HELP)
    .hook('preAction', (_program, command) => nameConfig(command, context));
  program.commandsGroup('Everyday:');
  everydayCommands(program);
  program.commandsGroup('Daemon:');
  daemonCommands(program);
  viewCommands(program);
  actionCommands(program);
  program.commandsGroup('Support:');
  conversationCommands(program);
  clusterCommands(program);
  program.commandsGroup('Operations:');
  siteCommands(program);
  pageCommands(program);
  notifyCommands(program);
  fleetCommands(program);
  storeCommands(program);
  exportingCommands(program);
  apiCommands(program);
  emulateCommands(program);
  // Last: subcommands have taken over the command without a group.
  program.commandsGroup('Everyday:').helpCommand(...HELP);
  return program;
}

/** Uses `OCTAVO_CONFIG` as the configuration where `--config` is not given. */
function nameConfig(command: Command, { terminal }: CommandContext): void {
  const named = terminal.env.OCTAVO_CONFIG ?? '';
  if (named !== '' && command.opts().config === undefined && command.options.some(({ long }) => long === '--config')) {
    command.setOptionValue('config', named);
  }
}

const AFTER_HELP = `
Octavo reads the platform and the organization from the first of these:
  1. the file given by --config or OCTAVO_CONFIG
  2. OCTAVO_BASE_URL, OCTAVO_TOKEN and OCTAVO_ORGANIZATION
  3. config.yaml in the working directory

Exit codes:
  0  success
  1  failure
  2  the plan has changes (plan --detailed-exitcode)
  3  invalid input
  4  a change was held, or the plan was refused
  5  changes are still pending after the wait (apply)

To try Octavo without an account, run: octavo demo`;

const format = (description = 'Output format', others: readonly string[] = ['json']) =>
  new Option('--format <format>', description).choices(['text', ...others]).default('text');

/** Forges that `octavo init` has a workflow for. */
const FORGES = ['github', 'gitlab', 'gitea', 'bitbucket', 'none'];
const REPORTS = ['json', 'github', 'sarif', 'junit'];

const BASE = [
  '--base <ref>',
  'Last applied commit, or "none" (default: "applied", recorded in git by --record); what only it declares is deleted',
] as const;

const TARGET = [
  '--target <addresses...>',
  'Limit the plan to these resources, what is in them and what that requires',
] as const;

function everydayCommands(program: LazyCommand): void {
  program
    .command('init')
    .description('Create a starter repository: manifests, editor settings and a pull request workflow')
    .argument('[dir]', 'Directory to create files in; existing files are kept', '.')
    .addOption(new Option('--forge <forge>', 'Forge that hosts the repository (default: detected)').choices(FORGES))
    .option('--drift', 'Also create the scheduled workflow that opens pull requests for drift')
    .option('--install <url#commit>', 'Octavo repository and full commit id that the workflow runs')
    .option('--no-import', 'Start with an empty manifest even if a token is set')
    .with(CONFIG, ORGANIZATION)
    .runs(async () => (await import('./import/init.ts')).initCommand);
  program
    .command('import')
    .description('Write manifests for resources that no manifest declares yet, without overwriting files')
    .option('--out <dir>', 'Directory to write to; resources that its manifests declare are skipped', '.')
    .option('--kind <kinds...>', 'Import only these kinds and the resources they refer to')
    .option('--site <sites...>', 'Import only these sites, by title or id, and the resources they refer to')
    .option(
      '--unmanaged [dir]',
      'Also skip resources declared elsewhere in this manifest directory, which contains --out (default: .)',
    )
    .option(
      '--docs-yaml <site>',
      'Print the docs.yaml of a site, declared (by key) or on the platform (by title or id)',
    )
    .option('--from-docs-yaml <file>', 'Print the manifest of a docs.yaml')
    .option('--drift', 'Write drift into the existing manifests, each change at its line')
    .option(
      '--base <ref>',
      'With --drift: last applied commit, or "applied" to read it from git; later commits are not drift',
    )
    .option(
      '--pull-request',
      'With --drift, in a CI job: commit the drift to its own branch and keep a pull request open',
    )
    .option('--onto <branch>', "With --pull-request: target branch (default: the remote's default branch)")
    .option(
      '--author <author>',
      'With --pull-request: commit author, as "Name <email>" (default: from the git configuration)',
    )
    .option('--dry-run', 'Print what would be written, without writing it')
    .with(CONFIG, ORGANIZATION, SCOPE)
    .runs(async () => (await import('./import/import.ts')).importCommand);
  program
    .command('validate')
    .description('Check manifests offline')
    .argument('[dir]', 'Manifest directory', '.')
    .with(CONFIG, format('Output format; github: annotations, sarif: code scanning, junit: test reports', REPORTS))
    .runs(async () => (await import('./plan/validate.ts')).validate);
  program
    .command('plan')
    .description('Show what would change, without changing anything')
    .argument('[dir]', 'Manifest directory', '.')
    .with(BASE, format('Output format', ['markdown', 'json']))
    .option('--compact', 'Print one line for each change, with its title and address')
    .option('--snapshot <file>', 'Use the actual state saved by octavo snapshot; needs no token and no network')
    .addOption(new Option(...TARGET).conflicts('comment'))
    .option('--out <file>', 'Save the plan to a file, to apply exactly this plan later')
    .option(
      '--comment',
      'Post the plan as a comment on the pull request of this CI job; --base defaults to the merge base',
    )
    .addOption(
      new Option('--approve <checksum>', 'Show the plan as this approval would make it; nothing is approved').conflicts(
        'comment',
      ),
    )
    .option('--detailed-exitcode', 'Exit with 2 if there are changes')
    .with(CONFIG, ORGANIZATION, SCOPE)
    .runs(async () => (await import('./plan/plan.ts')).planCommand);
  program
    .command('apply')
    .description('Apply the plan, after confirmation')
    .argument('[dir-or-plan]', 'Manifest directory, or a plan file saved by plan --out', '.')
    .with(BASE)
    .option(...TARGET)
    .option('--yes', 'Apply without asking for confirmation')
    .option('--approve <checksum>', 'Approve the plan, or only its held changes, by checksum or its first 8 digits')
    .option('--allow-deletes <n>', 'Raise the deletion limit to <n> for this run', count)
    .addOption(
      new Option(
        '--wait <duration>',
        'Maximum wait for translations and specifications after the last write, such as 5m; 0 disables',
      )
        .argParser(durationOrZero)
        .default(300_000, '5m'),
    )
    .option('--record', 'Record this commit and its resource ids in git as applied, once everything is applied')
    .with(format(), CONFIG, ORGANIZATION, SCOPE)
    .runs(async () => (await import('./plan/apply.ts')).applyCommand);
  program
    .command('access')
    .description('Show who has which role where, for an access review')
    .argument('[dir]', 'Manifest directory', '.')
    .with(format('Output format', ['csv', 'json']))
    .option('--since <ref>', 'Show only what commits changed since this commit, branch or tag')
    .with(CONFIG, ORGANIZATION)
    .runs(async () => (await import('./access/access.ts')).accessCommand);
  program
    .command('doctor')
    .description('Check the connection, the token permissions and the features of the platform')
    .with(CONFIG)
    .runs(async () => (await import('./doctor.ts')).doctorCommand);
  program
    .command('demo')
    .description('Demonstrate Octavo on the embedded platform')
    .option('--once', 'Exit when the demonstration is complete')
    .runs(async () => (await import('./daemon/demo.ts')).demoCommand);
}

function daemonCommands(program: LazyCommand): void {
  program
    .command('run')
    .description('Run the daemon: apply new commits, revert drift and send conversations')
    .option('--dry-run', 'Plan and report only, without writing to the platform')
    .option('--once', 'Run one pass, then exit')
    .with(CONFIG)
    .runs(async () => (await import('./daemon/run.ts')).runCommand);
  program
    .command('health')
    .description('Exit 0 if the daemon of this configuration is healthy')
    .option('--ready', 'Also require that the first pass of every organization has ended')
    .with(CONFIG)
    .runs(async () => (await import('./daemon/health.ts')).healthCommand);
}

const ALL = ['--organization <id>', 'Organization to show (default: all)'] as const;

/** Registers what prints what the web page shows: status, history, audit and conditions. */
function viewCommands(program: LazyCommand): void {
  program
    .command('status')
    .description('Show the state of the organizations of the running daemon')
    .with(CONFIG, ALL, format())
    .runs(async () => (await import('./daemon/views.ts')).statusCommand);
  program
    .command('history')
    .description('Show the passes of the running daemon, newest first')
    .option('--before <number>', 'Show passes before this number', count)
    .with(CONFIG, ORGANIZATION, format())
    .runs(async () => (await import('./daemon/views.ts')).historyCommand);
  program
    .command('audit')
    .description('Show what people asked the running daemon to do, newest first')
    .option('--before <position>', 'Show entries before this position, as the output names it')
    .with(CONFIG, ALL, format())
    .runs(async () => (await import('./daemon/views.ts')).auditCommand);
}

const REASON = ['--reason <text>', 'Reason, for the audit and for others'] as const;

/** Registers approve, reject, pause, resume, reconcile and conditions. */
function actionCommands(program: LazyCommand): void {
  const checksum = [
    '<checksum>',
    'Checksum of the plan or of its held changes, or at least its first 8 digits',
  ] as const;
  program
    .command('approve')
    .description('Approve the plan that the daemon holds, or only its held changes')
    .argument(...checksum)
    .with(REASON, CONFIG, ORGANIZATION)
    .runs(async () => (await import('./daemon/actions.ts')).approveCommand);
  program
    .command('reject')
    .description('Reject the plan that the daemon holds, or only its held changes, until somebody approves it')
    .argument(...checksum)
    .with(REASON, CONFIG, ORGANIZATION)
    .runs(async () => (await import('./daemon/actions.ts')).rejectCommand);
  program
    .command('pause')
    .description('Pause the changes of a resource, or of the whole organization')
    .argument('[address]', 'Address of the resource, such as team/docs (default: the whole organization)')
    .requiredOption(...REASON)
    .option('--for <duration>', 'Length of the pause, such as 2h (default: 4h)', duration)
    .option('--forever', 'Pause until octavo resume')
    .with(CONFIG, ORGANIZATION)
    .runs(async () => (await import('./daemon/actions.ts')).pauseCommand);
  program
    .command('resume')
    .description('End the pause of a resource, or of the whole organization')
    .argument('[address]', 'Address of the resource (default: the whole organization)')
    .with(REASON, CONFIG, ORGANIZATION)
    .runs(async () => (await import('./daemon/actions.ts')).resumeCommand);
  program
    .command('reconcile')
    .description('Make the daemon start a pass now')
    .with(REASON, CONFIG, ORGANIZATION)
    .runs(async () => (await import('./daemon/actions.ts')).reconcileCommand);
  program
    .command('conditions')
    .description('Show the current conditions: what is wrong now')
    .with(CONFIG, ALL, format())
    .runs(async () => (await import('./daemon/views.ts')).conditionsCommand);
}

/** Registers webhook and sessions. */
function pageCommands(program: LazyCommand): void {
  program
    .command('webhook')
    .description('Show how to make the forge report pushes to the daemon, or set it up')
    .argument('[organization]', 'Organization (default: the only one of the configuration)')
    .option('--create', 'Create or update the webhook at the forge, with forge.token')
    .with(CONFIG)
    .runs(async () => (await import('./daemon/webhook.ts')).webhookCommand);
  const sessions = program.command('sessions').description('Manage sessions of people on the web page');
  sessions
    .command('list')
    .description('Show who is signed in')
    .with(CONFIG, format())
    .runs(async () => (await import('./daemon/views.ts')).sessionListCommand);
  sessions
    .command('end')
    .description('Sign people out')
    .addOption(new Option('--user <name>', 'Name of the person, from octavo sessions list').conflicts('all'))
    .addOption(new Option('--all', 'End the sessions of everybody'))
    .with(REASON, CONFIG)
    .hook('preAction', (command) => {
      const { user, all } = command.opts();
      if (user === undefined && all !== true) {
        command.error("error: pass --user NAME to end one person's sessions, or --all");
      }
    })
    .runs(async () => (await import('./daemon/actions.ts')).sessionEndCommand);
}

function conversationCommands(program: LazyCommand): void {
  const conversations = program.command('conversations').description('Manage support-conversation ingestion');
  conversations
    .command('push')
    .description('Import files and send their conversations once: JSON, NDJSON, CSV, eml, mbox')
    .argument('<file...>', 'Files with tickets')
    .option('--dry-run', 'Print what would be sent, redacted, without sending it')
    .option('--account <name>', 'Account of the tickets; ticket ids are unique within an account', 'push')
    .option('--team-domains <domains...>', 'Email domains of your team, such as acme.example')
    .with(format(), CONFIG, ORGANIZATION)
    .runs(async ({ dryRun }) => {
      const loading = dryRun === true ? import('./conversations/push-dry-run.ts') : import('./conversations/push.ts');
      return (await loading).pushCommand;
    });
  conversations
    .command('status')
    .description('Show each source: last poll, cursor, and conversations that wait, were skipped or were refused')
    .with(format(), CONFIG, ORGANIZATION)
    .runs(async () => (await import('./conversations/conversations.ts')).statusCommand);
  conversations
    .command('resync')
    .description('Make the next poll of a source read older tickets again')
    .argument('<source>', 'Name of the source in the configuration')
    .requiredOption('--since <duration>', 'How far to go back, such as 30d', duration)
    .with(format(), CONFIG, ORGANIZATION)
    .runs(async () => (await import('./conversations/conversations.ts')).resyncCommand);
  program
    .command('redact')
    .description('Print a text as it would be sent, with private data redacted')
    .argument('<file>', 'Text file')
    .option('--explain', 'Show what would be redacted; on a terminal only')
    .with(CONFIG, ORGANIZATION)
    .runs(async () => (await import('./conversations/redact.ts')).redactCommand);
  const dead = conversations
    .command('dead')
    .description('Manage dead letters: conversations that the platform refused');
  const add = (name: 'list' | 'show' | 'retry' | 'drop', description: string) =>
    dead
      .command(name)
      .description(description)
      .with(format(), CONFIG, ORGANIZATION)
      .runs(async () => (await import('./conversations/conversations.ts')).deadCommands[name]);
  const bySource = ['--source <name>', 'Only conversations of this source'] as const;
  add('list', 'List dead letters and why the platform refused them')
    .with(bySource)
    .option('--limit <count>', 'Maximum number of dead letters, oldest first', listed, LISTED.usual);
  add('show', 'Show a dead letter, redacted as it was sent').argument('<conversation>', 'Conversation id');
  add('retry', 'Send dead letters again: one, those of a source, or all')
    .argument('[conversation]', 'Conversation id')
    .with(bySource);
  add('drop', 'Delete dead letters: one, those of a source, or all')
    .argument('[conversation]', 'Conversation id')
    .with(bySource);
}

/** Parses the number of entries to list, at least 1. */
function listed(text: string): number {
  const value = upTo(LISTED.most)(text);
  if (value === 0) {
    throw new InvalidArgumentError('It must be at least 1.');
  }
  return value;
}

function clusterCommands(program: LazyCommand): void {
  const clusters = program
    .command('clusters')
    .description('List issue clusters, open change requests for them, and mute them');
  const add = (name: 'list' | 'open' | 'mute' | 'unmute', description: string) =>
    clusters
      .command(name, { isDefault: name === 'list' })
      .description(description)
      .with(format(), CONFIG, ORGANIZATION)
      .runs(async () => (await import('./clusters.ts')).clusterCommands[name]);
  const dryRun = ['--dry-run', 'Show what would be done without writing anything'] as const;
  const cluster = ['<cluster>', 'Cluster id'] as const;
  add('list', 'List clusters with their status and target space');
  add('open', 'Open a change request for a cluster, regardless of selection and limits')
    .argument(...cluster)
    .option('--space <name>', 'Target space, by manifest key or id (default: as routed)')
    .with(dryRun);
  add('mute', 'Prevent change requests for a cluster')
    .argument(...cluster)
    .option('--reason <text>', 'Reason, shown on the page and in the audit')
    .option('--for <duration>', 'Length of the mute, such as 14d (default: until it is unmuted)', duration)
    .with(dryRun);
  add('unmute', 'Allow change requests for a cluster again')
    .argument(...cluster)
    .with(dryRun);
}

function siteCommands(program: LazyCommand): void {
  program
    .command('sites')
    .description('Replace what no manifest can declare of a site')
    .command('regenerate-key')
    .description('Make a new key for the tokens of visitors, after confirmation; it is not shown')
    .argument('<site>', 'Id, path or title of the site')
    .option('--yes', 'Replace the key without asking for confirmation')
    .with(format(), CONFIG, ORGANIZATION)
    .runs(async () => (await import('./sites.ts')).regenerateKeyCommand);
}

function notifyCommands(program: LazyCommand): void {
  const codes = [...CONDITION_CODES, ...EVENT_CODES];
  const notify = program.command('notify').description('Preview notifications, test channels, and resend events');
  notify
    .command('preview')
    .description('Print the messages of samples, without sending them')
    .addArgument(new Argument('[code]', 'Condition or event (default: all)').choices(codes))
    .option('--channel <name>', 'Print what this channel would receive')
    .with(format('Output format; json prints the body that the channel sends'), CONFIG)
    .runs(async () => (await import('./notify.ts')).previewCommand);
  notify
    .command('retry')
    .description('Resend events whose delivery was given up')
    .argument('[channel]', 'Name of the channel (default: all)')
    .with(CONFIG)
    .runs(async () => (await import('./notify.ts')).retryCommand);
  notify
    .command('test')
    .description('Send a sample through a channel, marked as a test')
    .argument('<channel>', 'Name of the channel')
    .addArgument(
      new Argument('[code]', 'Condition or event that the sample is about')
        .choices(codes)
        .default('waiting-for-approval'),
    )
    .option('--resolve', 'Also send the resolved message; pagers always receive it')
    .with(CONFIG)
    .runs(async () => (await import('./notify.ts')).testCommand);
}

function fleetCommands(program: LazyCommand): void {
  program
    .command('fleet')
    .description('Show the replicas that share a database')
    .command('status')
    .description('Show the replicas, and the organizations that none of them has')
    .with(CONFIG, format())
    .runs(async () => (await import('./daemon/views.ts')).fleetStatusCommand);
}

function storeCommands(program: LazyCommand): void {
  const place = 'path of a state file, URL of a PostgreSQL database, or env:NAME for a variable with one of them';
  const store = program.command('store').description('Copy and check the store: a state file or a PostgreSQL database');
  store
    .command('copy')
    .description('Copy a store into an empty one, and compare the checksums of both')
    .argument('<from>', `Store to read: ${place}`)
    .argument('<to>', 'Empty store to write: the same forms')
    .with(format())
    .runs(async () => (await import('./store.ts')).storeCopyCommand);
  store
    .command('check')
    .description('Check the content of a store, and print checksums')
    .argument('[store]', `Store to check: ${place} (default: that of the configuration)`)
    .with(CONFIG, format())
    .runs(async () => (await import('./store.ts')).storeCheckCommand);
}

/** Registers what prints data for other tools: schema and snapshot. */
function exportingCommands(program: LazyCommand): void {
  program
    .command('schema')
    .description('Print the JSON Schema of manifests, for editors')
    .option('--repo <dir>', 'Manifest directory whose keys complete references')
    .runs(async () => (await import('./plan/validate.ts')).schemaCommand);
  program
    .command('snapshot')
    .description('Save the actual state without secrets, for plans without a token')
    .option('--out <file>', 'File to write (default: standard output)')
    .with(CONFIG, ORGANIZATION)
    .runs(async () => (await import('./plan/plan.ts')).snapshotCommand);
}

function apiCommands(program: LazyCommand): void {
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
    .with(format('Output format of --list and --dry-run'), CONFIG, ORGANIZATION)
    .addHelpText('after', EXAMPLES)
    .runs(async () => (await import('./api/api.ts')).apiCommand({ fields, headers }));
  const shell = ['Shell to complete for', ['bash', 'zsh', 'fish']] as const;
  program
    .command('completion')
    .description('Print a shell script that completes commands, options, requests and their fields')
    .addArgument(new Argument('<shell>', shell[0]).choices(shell[1]))
    .addHelpText('after', COMPLETION)
    .runs(async () => (await import('./completion/complete.ts')).completionCommand);
  program
    .command('complete', { hidden: true })
    .description('Print suggestions for the word at the cursor; called by the scripts')
    .argument('[line]', 'The command line up to the cursor', '')
    .addOption(new Option('--shell <shell>', shell[0]).choices(shell[1]).makeOptionMandatory())
    .option('--breaks <characters>', 'Characters that separate words for completion in bash')
    .runs(async () => (await import('./completion/complete.ts')).completeCommand(program));
}

const COMPLETION = `
Examples:
  source <(octavo completion bash)    in ~/.bashrc
  source <(octavo completion zsh)     in ~/.zshrc, after compinit
  octavo completion fish > ~/.config/fish/completions/octavo.fish`;

const EXAMPLES = `
Examples:
  octavo api listTeams --paginate --jq .title
  octavo api GET '/v1/orgs/{organization}/teams' -f title=docs
  octavo api createTeam -f title=Writers -f 'members[]=ana@acme.example'
  octavo api PATCH /orgs/:org/sites/site_1 -d @site.json --dry-run
  octavo api --list team`;

function emulateCommands(program: LazyCommand): void {
  const features = Object.values(FEATURE_NAMES);
  program
    .command('emulate')
    .description('Run the embedded platform, for testing')
    .option('--host <address>', 'Address to listen on', '127.0.0.1')
    .option('--port <n>', 'Port to listen on; 0 picks a free port', upTo(65_535), 0)
    .option('--token <token>', 'Token to accept', 'emulator-token')
    .option('--seed <file>', 'File with the initial state')
    .option('--state <file>', 'File to keep the state in across restarts')
    .option('--latency <ms>', 'Added latency per response, in milliseconds', count)
    .option(
      '--limit <n/seconds>',
      'Rate limit as requests per window, such as 60/2s; 60/2s:first-call starts the window at the first request',
    )
    .option('--faults <percent>', 'Percentage of requests to fail with 503', upTo(100))
    .addOption(new Option('--platform <version>', 'Platform version to emulate').choices(PLATFORM_NAMES))
    .addOption(new Option('--with <features...>', 'Features to enable').choices(features))
    .addOption(new Option('--without <features...>', 'Features to disable, by the same names').choices(features))
    .configureHelp({ optionDescription: describeOnce })
    .runs(async () => (await import('./daemon/emulate.ts')).emulateCommand);
}

/** Describes an option for the help. The names of features are listed for `--with` only. */
function describeOnce(this: Help, option: Option): string {
  return option.long === '--without' ? option.description : Help.prototype.optionDescription.call(this, option);
}

/** Parses a whole number. */
function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) {
    throw new InvalidArgumentError('It must be a whole number.');
  }
  return value;
}

/** Returns a parser of whole numbers up to `most`. */
function upTo(most: number): (text: string) => number {
  return (text) => {
    const value = count(text);
    if (value > most) {
      throw new InvalidArgumentError(`It must be at most ${most}.`);
    }
    return value;
  };
}

/** Parses a duration such as 30s, or 0, to milliseconds. */
function durationOrZero(text: string): number {
  return text === '0' ? 0 : duration(text);
}

/** Parses a duration such as 30d to milliseconds. */
function duration(text: string): number {
  const milliseconds = readDuration(text);
  if (milliseconds === undefined) {
    throw new InvalidArgumentError('It must be a duration such as 30d or 12h.');
  }
  return milliseconds;
}
