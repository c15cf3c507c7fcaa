/** The demonstration of a fleet: replicas that end, and others that take their organizations over. */
import { largest } from '../../core/lists.ts';
import { counted } from '../../plan/render/words.ts';
import { type DemoContext, STEP_LIMIT } from '../context.ts';
import { LEASE_SECONDS, ORGANIZATIONS } from './fleet-config.ts';
import type { LeaseMove, LeaseWatch } from './lease-watch.ts';
import type { ReplicaProcess } from './replica-process.ts';

/** Milliseconds between two checks of the leases. */
const INTERVAL = 100;
/** Milliseconds between two changes of manifests. */
const EDIT_INTERVAL = 2000;

/** Parts of the demonstration. */
export interface FleetParts {
  readonly replicas: readonly ReplicaProcess[];
  readonly watch: LeaseWatch;
  /** Writes the next edition of the manifests of an organization. */
  readonly edit: (organization: string) => Promise<void>;
  /** Returns true if the platform has the newest edition of all manifests. */
  readonly isApplied: () => boolean;
}

/** Shows who has which organization until the demonstration is stopped, and changes manifests. */
export async function showFleet(parts: FleetParts, demo: DemoContext): Promise<void> {
  let editAt = 0;
  for (let edits = 0; !demo.signal.aborted; await pause(demo)) {
    await report(parts, demo);
    if (demo.clock.monotonic() >= editAt) {
      editAt = demo.clock.monotonic() + EDIT_INTERVAL;
      await parts.edit(ORGANIZATIONS[edits % ORGANIZATIONS.length] as string);
      edits += 1;
    }
  }
}

/** Ends one replica in each way. Returns false as soon as a step does not complete. */
export async function playFleet(parts: FleetParts, demo: DemoContext): Promise<boolean> {
  const { say, paint } = demo;
  if (!(await untilOwned(parts, demo))) {
    return false;
  }
  const [first, second] = parts.replicas.toSorted((a, b) => parts.watch.count(b.pid) - parts.watch.count(a.pid));
  if (first === undefined || second === undefined) {
    return false;
  }
  say(`\n${paint.strong('1. A replica is killed, and the others take over its organizations')}\n`);
  say(paint.faint(`   $ kill -9 ${first.pid}\n`));
  await first.end('SIGKILL');
  if (!(await untilOwned(parts, demo))) {
    return false;
  }
  // The last replica has to stay.
  if (parts.replicas.length > 2) {
    say(`\n${paint.strong('2. A replica is stopped, and releases its organizations first')}\n`);
    say(paint.faint(`   $ kill ${second.pid}\n`));
    await Promise.all([second.end('SIGTERM'), untilOwned(parts, demo)]);
    if (!(await untilOwned(parts, demo))) {
      return false;
    }
  }
  const last = parts.replicas.length > 2 ? 3 : 2;
  say(`\n${paint.strong(`${last}. All manifests change, and the remaining replicas apply them`)}\n`);
  await Promise.all(ORGANIZATIONS.map((organization) => parts.edit(organization)));
  if (!(await until(parts, demo, parts.isApplied))) {
    return false;
  }
  say(`  ${paint.create('✓')} ${counted(ORGANIZATIONS.length, 'organization')} applied\n`);
  return true;
}

/** Waits until replicas that run have all organizations. */
function untilOwned(parts: FleetParts, demo: DemoContext): Promise<boolean> {
  return until(parts, demo, () => {
    const running = parts.replicas.filter(({ hasEnded }) => !hasEnded);
    return running.reduce((sum, { pid }) => sum + parts.watch.count(pid), 0) === ORGANIZATIONS.length;
  });
}

async function until(parts: FleetParts, demo: DemoContext, isDone: () => boolean): Promise<boolean> {
  const limit = demo.clock.monotonic() + STEP_LIMIT;
  for (; !demo.signal.aborted && demo.clock.monotonic() < limit; await pause(demo)) {
    await report(parts, demo);
    if (isDone()) {
      return true;
    }
  }
  return false;
}

/** Prints what changed since the last report, one line for each replica. */
async function report({ watch, replicas }: FleetParts, { say, paint }: DemoContext): Promise<void> {
  // The database may be restarting.
  const moves = await watch.check().catch((): readonly LeaseMove[] => []);
  const taken = Map.groupBy(
    moves.filter(({ owner }) => owner !== null),
    ({ owner }) => owner,
  );
  for (const [pid, each] of taken) {
    const names = each.map(({ organization }) => organization).join(', ');
    const gap = largest(each.map((move) => move.gap));
    const name = replicas.find((replica) => replica.pid === pid)?.name ?? `process ${pid}`;
    const without =
      gap > 0 ? ` (${each.length === 1 ? 'it had' : 'they had'} no owner for ${(gap / 1000).toFixed(1)} s)` : '';
    say(`  ${paint.create('→')} ${name} has ${names}${without}\n`);
  }
}

async function pause({ clock, signal }: DemoContext): Promise<void> {
  await clock.sleep(INTERVAL, signal).catch(() => undefined);
}

/** Explains what to do with the running fleet. */
export function explainFleet({ replicas }: FleetParts, { say, paint }: DemoContext, token: string): void {
  const lines = replicas.map(({ name, page, pid }) => `  ${name}   ${page}   process ${pid}`);
  say(
    [
      '',
      paint.strong('Stop replicas, and watch the others take over their organizations, here and on the pages.'),
      '',
      ...lines,
      `              sign in with the token "${token}", and open Replicas`,
      '',
      `  kill -9 ${replicas[0]?.pid}   a crash: the others take over when its lease expires, in ${LEASE_SECONDS} s at most`,
      `  kill ${replicas[0]?.pid}      a restart: it releases its organizations first, so the others take over in less than 1 s`,
      '',
      '  A manifest changes every 2 s, so that there is something to apply.',
      '  Press Ctrl-C to stop and delete everything.',
      '',
      '',
    ].join('\n'),
  );
}
