/** Registers the commands that ask the running daemon. */
import { type Command, Option } from 'commander';
import { CONFIG, count, duration, ORGANIZATION, type SetExitCode } from '../cli/arguments.ts';
import type { CommandContext } from '../cli/context.ts';

const REASON = ['--reason <text>', 'Reason, for the audit and for others'] as const;

/** Registers conditions. */
export function conditionCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('conditions')
    .description('Show the current conditions: what is wrong now')
    .option(...CONFIG)
    .option('--organization <id>', 'Organization to show (default: all)')
    .addOption(new Option('--format <format>', 'Output format').choices(['text', 'json']).default('text'))
    .action(async (options) => {
      const { conditionsCommand } = await import('./conditions.ts');
      setExitCode(await conditionsCommand(options, context));
    });
}

/** Registers sessions. */
export function sessionCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  const sessions = program.command('sessions').description('Manage sessions of people on the web page');
  sessions
    .command('list')
    .description('Show who is signed in')
    .option(...CONFIG)
    .addOption(new Option('--format <format>', 'Output format').choices(['text', 'json']).default('text'))
    .action(async (options) => {
      const { sessionListCommand } = await import('./sessions.ts');
      setExitCode(await sessionListCommand(options, context));
    });
  sessions
    .command('end')
    .description('Sign people out')
    .addOption(new Option('--user <name>', 'Name of the person, from octavo sessions list').conflicts('all'))
    .addOption(new Option('--all', 'End the sessions of everybody'))
    .option(...REASON)
    .option(...CONFIG)
    .action(async ({ all, ...options }, command) => {
      if (options.user === undefined && all !== true) {
        command.error("error: pass --user NAME to end one person's sessions, or --all");
      }
      const { sessionEndCommand } = await import('./sessions.ts');
      setExitCode(await sessionEndCommand(options, context));
    });
}

/** Registers approve, reject, pause, resume and reconcile. */
export function actionCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  decisionCommands(program, context, setExitCode);
  program
    .command('pause')
    .description('Pause the changes of a resource, or of the whole organization')
    .argument('[address]', 'Address of the resource, such as team/docs (default: the whole organization)')
    .requiredOption(...REASON)
    .option('--for <duration>', 'Length of the pause, such as 2h (default: 4h)', duration)
    .option('--forever', 'Pause until octavo resume')
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (address, options) => {
      const { pauseCommand } = await import('./actions.ts');
      setExitCode(await pauseCommand(address, options, context));
    });
  program
    .command('resume')
    .description('End the pause of a resource, or of the whole organization')
    .argument('[address]', 'Address of the resource (default: the whole organization)')
    .option(...REASON)
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (address, options) => {
      const { resumeCommand } = await import('./actions.ts');
      setExitCode(await resumeCommand(address, options, context));
    });
  program
    .command('reconcile')
    .description('Make the daemon start a pass now')
    .option(...REASON)
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (options) => {
      const { reconcileCommand } = await import('./actions.ts');
      setExitCode(await reconcileCommand(options, context));
    });
}

/** Registers status, history and audit, which print what the web page shows. */
export function viewCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  const format = () => new Option('--format <format>', 'Output format').choices(['text', 'json']).default('text');
  const all = ['--organization <id>', 'Organization to show (default: all)'] as const;
  program
    .command('status')
    .description('Show the state of the organizations of the running daemon')
    .option(...CONFIG)
    .option(...all)
    .addOption(format())
    .action(async (options) => {
      const { statusCommand } = await import('./status.ts');
      setExitCode(await statusCommand(options, context));
    });
  program
    .command('history')
    .description('Show the passes of the running daemon, newest first')
    .option('--before <number>', 'Show passes before this number', count)
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .addOption(format())
    .action(async (options) => {
      const { historyCommand } = await import('./status.ts');
      setExitCode(await historyCommand(options, context));
    });
  program
    .command('audit')
    .description('Show what people asked the running daemon to do, newest first')
    .option('--before <position>', 'Show entries before this position, as the output names it')
    .option(...CONFIG)
    .option(...all)
    .addOption(format())
    .action(async (options) => {
      const { auditCommand } = await import('./status.ts');
      setExitCode(await auditCommand(options, context));
    });
}

/** Registers webhook. */
export function webhookCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('webhook')
    .description('Show how to make the forge report pushes to the daemon, or set it up')
    .argument('[organization]', 'Organization (default: the only one of the configuration)')
    .option('--create', 'Create or update the webhook at the forge, with forge.token')
    .option(...CONFIG)
    .action(async (organization, options) => {
      const { webhookCommand } = await import('./webhook.ts');
      setExitCode(await webhookCommand(organization, options, context));
    });
}

function decisionCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('approve')
    .description('Approve the plan that the daemon holds, or only its held changes')
    .argument('<checksum>', 'Checksum of the plan or of its held changes, from the plan or the log')
    .option(...REASON)
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (checksum, options) => {
      const { approveCommand } = await import('./actions.ts');
      setExitCode(await approveCommand(checksum, options, context));
    });
  program
    .command('reject')
    .description('Reject the plan that the daemon holds, or only its held changes, until somebody approves it')
    .argument('<checksum>', 'Checksum of the plan or of its held changes, from the plan or the log')
    .option(...REASON)
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (checksum, options) => {
      const { rejectCommand } = await import('./actions.ts');
      setExitCode(await rejectCommand(checksum, options, context));
    });
}

/** Registers fleet. */
export function fleetCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('fleet')
    .description('Show the replicas that share a database')
    .command('status')
    .description('Show the replicas, and the organizations that none of them has')
    .option(...CONFIG)
    .addOption(new Option('--format <format>', 'Output format').choices(['text', 'json']).default('text'))
    .action(async (options) => {
      const { fleetStatusCommand } = await import('./fleet.ts');
      setExitCode(await fleetStatusCommand(options, context));
    });
}
