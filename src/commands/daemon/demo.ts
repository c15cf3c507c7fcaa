/** Command that demonstrates Octavo on the embedded platform. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { loadConfig } from '../../config/load.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { createDaemon } from '../../daemon.ts';
import {
  clusterEvents,
  type DemoContext,
  type DemoParts,
  holdDeletion,
  makeAcmeRepository,
  makeDemoDropFolder,
  reportIntake,
  reportPasses,
  runStory,
} from '../../demo/story.ts';
import { type Emulator, startEmulator } from '../../emulator/emulator.ts';
import { kinds } from '../../kinds/registry.ts';
import { createLogger } from '../../log.ts';
import { shortApproval } from '../../plan/render/words.ts';
import { openReader, openWriter } from '../../platform/client.ts';
import { openConnection } from '../../platform/connection.ts';
import { LogBuffer } from '../../web/model/log-buffer.ts';
import { type CommandContext, paintFor } from '../cli/context.ts';
import { nextCommand } from '../plan/next-command.ts';

/** Runs `octavo demo`: demonstrates Octavo on the embedded platform, then keeps applying commits until it is stopped. */
export async function demoCommand(flags: { readonly once?: boolean }, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  // Without --once, a closed standard output ends the command too.
  const ends = flags.once === true ? [] : [terminal.outputClosed].filter((end) => end !== undefined);
  const signal = AbortSignal.any([context.signal, ...ends]);
  const demo: DemoContext = {
    say: terminal.out,
    paint: paintFor(terminal.isOutTerminal, terminal.env),
    columns: terminal.columns - 4,
    clock: context.clock,
    signal,
  };
  // Everything that was started is stopped in reverse order, also if a later part fails to start.
  await using cleanup = new AsyncDisposableStack();
  const parts = await startDemo(demo, context, cleanup);
  introduce(parts, demo);
  if (!(await runStory(parts, demo))) {
    return signal.aborted && flags.once !== true ? EXIT.done : EXIT.failed;
  }
  if (flags.once === true) {
    demo.say(`\n${demo.paint.strong('The demonstration is complete.')}\n`);
  } else {
    await stayUp(parts, demo);
  }
  return EXIT.done;
}

/** Starts the parts of the demonstration; the machine needs only git. */
async function startDemo(
  demo: DemoContext,
  context: CommandContext,
  cleanup: AsyncDisposableStack,
): Promise<DemoParts> {
  const { clock, random, version, root } = context;
  const directory = await mkdtemp(join(tmpdir(), 'octavo-demo-'));
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  const emulator = await startEmulator({ clock, latency: 20 });
  cleanup.defer(() => emulator.close());
  const connection = openConnection({
    baseUrl: emulator.url,
    token: emulator.token,
    userAgent: `octavo-demo/${version}`,
    concurrency: 2,
    clock,
    random,
  });
  cleanup.defer(() => connection.close());
  const repository = await makeAcmeRepository(new URL('examples/acme/', root), join(directory, 'acme'));
  const dropBox = await makeDemoDropFolder(new URL('examples/tickets/', root), join(directory, 'drop'));
  // Written to a file, so that commands such as `octavo approve` find the daemon.
  const configFile = join(directory, 'config.yaml');
  const command = (checksum: string) => nextCommand(['approve', shortApproval(checksum)], { config: configFile });
  const passes = reportPasses(demo, { when: '', command });
  const intake = reportIntake(demo);
  const store = join(directory, 'state', 'octavo.db');
  const text = demoSettings(emulator, repository.directory, dropBox.directory, store);
  await writeFile(configFile, text, { mode: 0o600 });
  const readFile = () => {
    throw new Error('the configuration of the demo cannot read files');
  };
  const config = loadConfig({ text, file: configFile, env: {}, readFile, kinds });
  const logBuffer = new LogBuffer();
  // The log is shown on the web page only.
  const destination = new Writable({ write: (_chunk, _encoding, done) => done() });
  const onRecord = (record: string) => logBuffer.add(record);
  const log = createLogger({ level: 'info', format: 'json', secrets: config.secrets, destination, onRecord });
  const daemon = await createDaemon({
    config,
    clock,
    random,
    log,
    logBuffer,
    version,
    dryRun: false,
    listeners: () => [passes.events, intake.events, clusterEvents(demo)],
  });
  cleanup.defer(() => daemon.stop());
  const client = { organization: emulator.organization, priority: 'person' } as const;
  return {
    emulator,
    repository,
    daemon,
    passes,
    dropBox,
    intake,
    reader: openReader(connection, client),
    otherUser: openWriter(connection, client),
  };
}

function introduce({ emulator, repository }: DemoParts, { say, paint }: DemoContext): void {
  say(`${paint.strong('Octavo')}: apply a git repository to an organization.\n\n`);
  say(`  Embedded platform: ${emulator.url}\n`);
  say(`  Git repository, created from examples/acme: ${repository.directory}\n`);
}

async function stayUp(parts: DemoParts, demo: DemoContext): Promise<void> {
  const { say, paint, clock, signal } = demo;
  const { repository, dropBox, daemon, emulator } = parts;
  await holdDeletion(parts, demo);
  say(
    [
      '',
      paint.strong(
        'Your turn: approve the deletion, commit changes to the repository, or add tickets to the drop folder.',
      ),
      '',
      `  web page     ${daemon.pageAddress}`,
      `               sign in with the token "${PAGE_TOKEN}", click Review, read the plan and approve it`,
      '               then open History, Conversations, Questions and Audit',
      `  repository   ${repository.directory}`,
      `               edit a file, run git commit -am "…" and watch this output`,
      `  drop folder  ${dropBox.directory}`,
      '               copy an mbox, eml, JSON, NDJSON or CSV file of tickets into it',
      `  health       ${daemon.address}/healthz   ${daemon.address}/readyz`,
      `  metrics      ${daemon.address}/metrics`,
      `  platform     ${emulator.url}/v1/orgs/${emulator.organization}`,
      `               with the header Authorization: Bearer ${emulator.token}`,
      '',
      '  Press Ctrl-C to stop and delete everything.',
      '',
      '',
    ].join('\n'),
  );
  while (!signal.aborted) {
    await clock.sleep(CLUSTER_INTERVAL, signal).catch(() => {});
    await daemon.runClusters();
  }
}

/** Token for the web page of the demonstration, which only this machine can open. */
const PAGE_TOKEN = 'demo';

/** Milliseconds between two runs of cluster automation. */
const CLUSTER_INTERVAL = 3000;

/** The configuration file of the daemon: it polls every second and checks for drift every 3 seconds. */
function demoSettings(emulator: Emulator, repository: string, drop: string, store: string): string {
  return JSON.stringify({
    platform: { baseUrl: emulator.url, token: emulator.token, user: 'ana@acme.example' },
    organizations: [
      {
        id: emulator.organization,
        source: { git: { url: repository, ref: 'main', pollInterval: '1s' } },
        schedule: { drift: '*/3 * * * * *' },
        conversations: {
          sources: [{ name: 'drop', pollInterval: '1s', folder: { path: drop, teamDomains: ['acme.example'] } }],
          settleDelay: '1ms',
        },
        clusters: {
          enabled: true,
          // The demonstration runs cluster automation itself.
          schedule: '0 0 1 1 *',
          select: { impact: ['high', 'medium'] },
          routes: [{ label: 'sso|saml', space: 'onboarding' }],
          defaultSpace: 'changelog',
        },
      },
    ],
    store: { path: store },
    server: { listen: '127.0.0.1:0' },
    ui: {
      listen: '127.0.0.1:0',
      tokens: [{ name: 'ana@acme.example', sha256: createHash('sha256').update(PAGE_TOKEN).digest('hex') }],
      roles: [{ role: 'approver', people: ['*'] }],
    },
  });
}
