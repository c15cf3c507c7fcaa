import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { createDaemon } from '../../daemon.ts';
import { makeAcmeRepository } from '../../demo/acme-repository.ts';
import { OpeningNarrator } from '../../demo/clusters.ts';
import { makeDropBox } from '../../demo/drop-box.ts';
import { IntakeNarrator } from '../../demo/intake-narrator.ts';
import type { Stage } from '../../demo/stage.ts';
import { type Cast, Narrator, playStory } from '../../demo/story.ts';
import { type Emulator, startEmulator } from '../../emulator/emulator.ts';
import { kinds } from '../../kinds/registry.ts';
import { createLogger } from '../../log.ts';
import { openReader, openWriter } from '../../platform/client.ts';
import { openConnection } from '../../platform/connection.ts';
import type { CommandContext } from '../cli/setup.ts';
import { paintFor } from '../cli/terminal.ts';

/** `octavo demo`: all of it on the embedded platform, told as it happens; then it follows whatever is committed. */
export async function demoCommand(flags: { readonly once?: boolean }, context: CommandContext): Promise<ExitCode> {
  const { terminal, clock } = context;
  // What goes on until it is stopped stops when nobody reads it any more.
  const ends = flags.once === true ? [] : [terminal.readerLeft].filter((end) => end !== undefined);
  const signal = AbortSignal.any([context.signal, ...ends]);
  const stage: Stage = {
    say: terminal.out,
    paint: paintFor(terminal.isOutTerminal, terminal.env),
    columns: terminal.columns - 4,
    clock,
    signal,
  };
  // Whatever was begun is ended, in the opposite order, also where something later cannot begin.
  await using ending = new AsyncDisposableStack();
  const cast = await gather(stage, context, ending);
  introduce(cast, stage);
  if (!(await playStory(cast, stage))) {
    return signal.aborted && flags.once !== true ? EXIT.done : EXIT.failed;
  }
  if (flags.once === true) {
    stage.say(`\n${stage.paint.strong('The demonstration is complete.')}\n`);
  } else {
    await stayUp(cast, stage);
  }
  return EXIT.done;
}

/** Everybody who takes part, on a machine that has nothing but git. */
async function gather(stage: Stage, context: CommandContext, ending: AsyncDisposableStack): Promise<Cast> {
  const { clock, random, version, root } = context;
  const directory = await mkdtemp(join(tmpdir(), 'octavo-demo-'));
  ending.defer(() => rm(directory, { recursive: true, force: true }));
  const emulator = await startEmulator({ clock, latency: 20 });
  ending.defer(() => emulator.close());
  const connection = openConnection({
    baseUrl: emulator.url,
    token: emulator.token,
    userAgent: `octavo-demo/${version}`,
    concurrency: 2,
    clock,
    random,
  });
  ending.defer(() => connection.close());
  const repository = await makeAcmeRepository(new URL('examples/acme/', root), join(directory, 'acme'));
  const dropBox = await makeDropBox(new URL('examples/tickets/', root), join(directory, 'drop'));
  const narrator = new Narrator(stage);
  const intake = new IntakeNarrator(stage);
  const openings = new OpeningNarrator(stage);
  const config = demoConfig(emulator, {
    repository: repository.directory,
    drop: dropBox.directory,
    store: join(directory, 'state', 'octavo.db'),
  });
  const log = createLogger({ level: 'fatal', format: 'json', secrets: config.secrets });
  const daemon = await createDaemon({
    config,
    clock,
    random,
    log,
    version,
    dryRun: false,
    events: () => narrator.events,
    conversationEvents: () => intake.events,
    clusterEvents: () => openings.events,
  });
  ending.defer(() => daemon.stop());
  const client = { organization: emulator.organization, priority: 'person' } as const;
  return {
    emulator,
    repository,
    daemon,
    narrator,
    dropBox,
    intake,
    reader: openReader(connection, client),
    somebody: openWriter(connection, client),
  };
}

function introduce({ emulator, repository }: Cast, { say, paint }: Stage): void {
  say(`${paint.strong('Octavo')}: apply a git repository to an organization.\n\n`);
  say(`  Embedded platform: ${emulator.url}\n`);
  say(`  Git repository, created from examples/acme: ${repository.directory}\n`);
}

async function stayUp(cast: Cast, { say, paint, clock, signal }: Stage): Promise<void> {
  const { repository, dropBox, daemon, emulator } = cast;
  say(
    [
      '',
      paint.strong('Your turn: commit changes to the repository, or add tickets to the drop folder.'),
      '',
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
    await clock.sleep(LOOK_AT_CLUSTERS, signal).catch(() => {});
    await daemon.lookAtClusters();
  }
}

/** Milliseconds from one look at the clusters to the next. */
const LOOK_AT_CLUSTERS = 3000;

/** Where the daemon finds what it needs. */
interface Places {
  readonly repository: string;
  readonly drop: string;
  readonly store: string;
}

/** The daemon's configuration, as a user would write it, but quick to look: every second, and every 3 s for drift. */
function demoConfig(emulator: Emulator, { repository, drop, store }: Places) {
  const text = JSON.stringify({
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
          // The story looks when it is their turn, and then again and again.
          schedule: '0 0 1 1 *',
          select: { impact: ['high', 'medium'] },
          routes: [{ label: 'sso|saml', space: 'onboarding' }],
          defaultSpace: 'changelog',
        },
      },
    ],
    store: { path: store },
    server: { listen: '127.0.0.1:0' },
  });
  const readFile = () => {
    throw new Error('the configuration of the demo cannot read files');
  };
  return loadConfig({ text, file: 'demo', env: {}, readFile, kinds });
}
