import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import type { DemoContext } from '../../demo/context.ts';
import { ChildGuard } from '../../demo/fleet/child-guard.ts';
import { openDemoDatabase } from '../../demo/fleet/database.ts';
import {
  ORGANIZATIONS,
  PAGE_TOKEN,
  platformOptions,
  replicaConfig,
  writeManifests,
} from '../../demo/fleet/fleet-config.ts';
import { explainFleet, type FleetParts, playFleet, showFleet } from '../../demo/fleet/fleet-story.ts';
import { LeaseWatch } from '../../demo/fleet/lease-watch.ts';
import { ReplicaProcess } from '../../demo/fleet/replica-process.ts';
import { type Emulator, startEmulator } from '../../emulator/emulator.ts';
import type { CommandContext } from '../cli/context.ts';
import { createDemoContext } from './demo-context.ts';

/** Runs `octavo demo --fleet N`: N replicas on PostgreSQL and the embedded platform, until it is stopped. */
export async function demoFleetCommand(
  flags: { readonly fleet: number; readonly once?: boolean },
  context: CommandContext,
): Promise<ExitCode> {
  const { signal } = context;
  const demo = createDemoContext(context, signal);
  // Everything that was started is stopped in reverse order, also if a later part fails to start.
  await using cleanup = new AsyncDisposableStack();
  const parts = await startFleet(flags.fleet, demo, context, cleanup);
  if (flags.once !== true) {
    explainFleet(parts, demo, PAGE_TOKEN);
    await showFleet(parts, demo);
    return EXIT.done;
  }
  if (!(await playFleet(parts, demo))) {
    demo.say(demo.paint.remove(signal.aborted ? '\nStopped.\n' : '\nThis step did not complete within 30 s.\n'));
    return EXIT.failed;
  }
  demo.say(`\n${demo.paint.strong('The demonstration is complete.')}\n`);
  return EXIT.done;
}

async function startFleet(
  count: number,
  demo: DemoContext,
  { clock, root, terminal }: CommandContext,
  cleanup: AsyncDisposableStack,
): Promise<FleetParts> {
  const guard = cleanup.use(new ChildGuard());
  const directory = await mkdtemp(join(tmpdir(), 'octavo-demo-'));
  guard.removeLater(directory);
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  const emulator = await startEmulator({ clock, latency: 20, ...platformOptions() });
  cleanup.defer(() => emulator.close());
  demo.say(`${demo.paint.strong('Octavo')}: a fleet of ${count} replicas on PostgreSQL.\n\n`);
  demo.say(`  Embedded platform with ${ORGANIZATIONS.length} organizations: ${emulator.url}\n`);
  const database = cleanup.use(await openDemoDatabase(terminal.env, clock, guard));
  demo.say(`  Database: ${database.description}\n`);
  const manifests = join(directory, 'manifests');
  const editions = new Map<string, number>();
  const edit = async (organization: string) => {
    editions.set(organization, (editions.get(organization) ?? 0) + 1);
    await writeManifests(manifests, organization, editions.get(organization) as number);
  };
  await Promise.all(ORGANIZATIONS.map(edit));
  const replicas: ReplicaProcess[] = [];
  let isStopping = false;
  cleanup.defer(async () => {
    isStopping = true;
    await Promise.all(replicas.map((replica) => replica.end('SIGTERM')));
  });
  const onEnd = ({ name }: ReplicaProcess) => {
    if (!isStopping) {
      demo.say(`  ${demo.paint.remove('✗')} ${name} has ended\n`);
    }
  };
  for (let number = 1; number <= count; number += 1) {
    const config = join(directory, `replica-${number}.yaml`);
    const paths = {
      platform: emulator.url,
      store: database.url,
      manifests,
      runtime: join(directory, `runtime-${number}`),
    };
    await writeFile(config, replicaConfig(paths), { mode: 0o600 });
    const options = { root, config, directory, env: terminal.env, guard, onEnd };
    replicas.push(new ReplicaProcess(`replica ${number}`, options));
  }
  await Promise.all(replicas.map((replica) => replica.untilServed()));
  const hasEnded = (pid: number) => replicas.some((replica) => replica.pid === pid && replica.hasEnded);
  const watch = new LeaseWatch(database.leases, () => clock.monotonic(), hasEnded);
  return { replicas, watch, edit, isApplied: () => isApplied(emulator, editions) };
}

function isApplied(emulator: Emulator, editions: ReadonlyMap<string, number>): boolean {
  const { teams = [] } = emulator.state() as unknown as { teams?: { title: string; organization: string }[] };
  return [...editions].every(([id, edition]) =>
    teams.some(({ organization, title }) => organization === id && title === `Writers ${edition}`),
  );
}
