import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { countCases, SEED } from '../support/campaign.ts';
import { eventually } from '../support/octavo-process.ts';
import { hasPostgres, type PostgresCluster, startPostgres } from '../support/postgres.ts';
import { shiftClock } from '../support/shifted-clock.ts';
import { createDice, type Dice } from './fault-schedule.ts';
import { OwnerSampler } from './owner-sampler.ts';
import { type FleetReplica, LEASE, ProcessFleet } from './process-fleet.ts';
import { findEpochFaults } from './stamps.ts';

/*
 * Three daemons as processes on one PostgreSQL server. Manifests change and tickets arrive all the time, while replicas are
 * killed, frozen and cut off, and the database fails. The platform's request log has the replica and the epoch of each
 * request.
 */

const ROUNDS = countCases({ sample: 1, ci: 2, full: 40 });
const ORGANIZATIONS = 9;
/** Rate limit of each token. */
const LIMITS = { all: { kind: 'fixed', limit: 40, window: 2000 } } as const;
/** Milliseconds after which every organization has an owner again: a lease, and 5 s. */
const TAKE_OVER = LEASE + 5000;
/** Number of steps of a take-over that wait for the processor, as one sample of the owners does. */
const PATIENCE = 5;
/** Milliseconds without an owner when replicas end in order. */
const HAND_OVER = 5000;

/** Seconds until the last work is done: connections without an answer are given up after 35 s. */
const LAST_WORK = TAKE_OVER / 1000 + 45;

/** Milliseconds of a test: starting processes takes long on a busy machine. */
const WHOLE = 180_000;

/** Milliseconds within which a daemon ends after SIGTERM. */
const STOP_LIMIT = 15_000;

/** Targets of a fault. */
interface Scene {
  readonly cluster: PostgresCluster;
  readonly fleet: ProcessFleet;
  readonly victim: FleetReplica;
  /** Waits until running replicas own everything. */
  readonly untilOwned: () => Promise<void>;
}

/** Each leaves three replicas that run. */
const FAULTS: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  'kill -9': async ({ fleet, victim, untilOwned }) => {
    await victim.kill();
    await untilOwned();
    await fleet.start();
  },
  'SIGSTOP for longer than a lease': async ({ victim, untilOwned }) => {
    victim.freeze();
    await untilOwned();
    await pause(500);
    victim.thaw();
  },
  'database connections that stall': async ({ victim, untilOwned }) => {
    victim.proxy.stall();
    victim.isAlive = false;
    await untilOwned();
    victim.proxy.pass();
    victim.isAlive = true;
  },
  'database connections that are cut one way': async ({ victim, untilOwned }) => {
    victim.proxy.stall(['to client']);
    victim.isAlive = false;
    await untilOwned();
    victim.proxy.reset();
    victim.proxy.pass();
    victim.isAlive = true;
  },
  'database connections that are forgotten': async ({ victim }) => victim.proxy.abandon(),
  'SIGTERM after the database connections were forgotten': async ({ fleet, victim }) => {
    await fleet.start();
    victim.proxy.abandon();
    const began = performance.now();
    await victim.drain();
    expect(performance.now() - began).toBeLessThan(STOP_LIMIT);
  },
  'database connections that are reset': async ({ victim }) => victim.proxy.reset(),
  'an immediate restart of the database': async ({ cluster }) => cluster.restart('immediate'),
  'terminated backends': async ({ cluster }) => cluster.terminateConnections(),
  SIGTERM: async ({ fleet, victim }) => {
    await fleet.start();
    await victim.drain();
  },
  'a clock that is an hour off': async ({ fleet, victim }) => {
    await fleet.start(shiftClock(3_600_000));
    await victim.drain();
  },
};

describe.skipIf(!hasPostgres)('three daemons', () => {
  test.concurrent(
    'change and send everything once, and take over in time, whatever fails',
    async () => {
      await using cluster = await startPostgres();
      await using fleet = await ProcessFleet.open({ cluster, organizations: ORGANIZATIONS, limits: LIMITS });
      await Promise.all([fleet.start(), fleet.start(), fleet.start()]);
      await using owners = new OwnerSampler(fleet);
      const untilOwned = async () => {
        const seen = owners.samples;
        const isOwned = () => owners.samples > seen + 1 && owners.owned === ORGANIZATIONS;
        await eventually('owners of all organizations', isOwned, (3 * TAKE_OVER) / 1000);
      };
      await untilOwned();
      const dice = createDice(SEED);
      await using work = new Work(fleet, dice);
      const names = pickNames(ROUNDS, dice);
      for (const name of names) {
        const victim = fleet.alive[dice(fleet.alive.length)] as FleetReplica;
        try {
          await FAULTS[name]?.({ cluster, fleet, victim, untilOwned });
          await untilOwned();
        } catch (error) {
          throw new Error(`${name}: ${(error as Error).message}\n${logsOf(fleet)}`, { cause: error });
        }
      }
      await work.finish();
      const story = `seed ${SEED}: ${names.join(', ')}`;
      expect(findEpochFaults(fleet.writes()).filter(isNotFrozen(names)), story).toEqual([]);
      expect(refused(fleet), story).toEqual([]);
      expect(owners.longest, story).toBeLessThan(TAKE_OVER + PATIENCE * owners.slowest);
      expect(await undelivered(fleet), story).toEqual([]);
      // A process that is killed or frozen after it sent a message may not have stored that, so the same message comes again.
      const interrupted = names.filter((name) => /kill|SIGSTOP|database/.test(name)).length;
      expect(fleet.receiver.repeated, story).toBeLessThanOrEqual(interrupted);
      expect(findWarnings(fleet), story).toEqual([]);
    },
    240_000 + ROUNDS * 2 * TAKE_OVER,
  );

  test.concurrent(
    'are restarted one after the other, and every organization has an owner all the time',
    async () => {
      await using cluster = await startPostgres();
      await using fleet = await ProcessFleet.open({ cluster, organizations: ORGANIZATIONS, limits: LIMITS });
      const old = await Promise.all([fleet.start(), fleet.start(), fleet.start()]);
      await using owners = new OwnerSampler(fleet);
      await eventually('owners of all organizations', () => owners.owned === ORGANIZATIONS);
      owners.reset();
      await using work = new Work(fleet, createDice(SEED + 1));
      for (const replica of old) {
        await fleet.start();
        await replica.drain();
      }
      await work.finish();
      expect(owners.owned).toBe(ORGANIZATIONS);
      expect(owners.longest).toBeLessThan(HAND_OVER + PATIENCE * owners.slowest);
      expect(findEpochFaults(fleet.writes())).toEqual([]);
      expect(refused(fleet)).toEqual([]);
      expect(await undelivered(fleet)).toEqual([]);
      expect(fleet.receiver.repeated).toBe(0);
      expect(findWarnings(fleet)).toEqual([]);
    },
    WHOLE,
  );
});

/** Returns the names of faults in random order: each once before any comes again. */
function pickNames(count: number, dice: Dice): readonly string[] {
  let left: string[] = [];
  return Array.from({ length: count }, () => {
    left = left.length === 0 ? Object.keys(FAULTS) : left;
    return left.splice(dice(left.length), 1)[0] as string;
  });
}

/** A request that was in flight when a process froze arrives when it is thawed. */
function isNotFrozen(names: readonly string[]): (fault: string, index: number) => boolean {
  const frozen = names.filter((name) => name.startsWith('SIGSTOP')).length;
  return (_fault, index) => index >= frozen;
}

/** Requests that the platform refused because of its rate limit. */
function refused(fleet: ProcessFleet): readonly string[] {
  return fleet.emulator.requests.entries.filter(({ status }) => status === 429).map(({ path }) => path);
}

/** Waits until all messages are sent. Returns the events and deliveries that wait or are missing, and events sent twice. */
async function undelivered(fleet: ProcessFleet): Promise<readonly string[]> {
  let found: readonly string[] = [];
  const isDelivered = async () => {
    found = await findUndelivered(fleet);
    return found.length === 0;
  };
  await eventually('all messages', isDelivered, LAST_WORK).catch(() => undefined);
  return found;
}

async function findUndelivered(fleet: ProcessFleet): Promise<readonly string[]> {
  const rows = await fleet.query(
    `SELECT 'waits: ' || id AS id FROM octavo.notification_event WHERE channels IS NULL OR channels <> '[]'
     UNION ALL SELECT 'waits: ' || id FROM octavo.notification_delivery WHERE next_at IS NOT NULL`,
  );
  const stored = (await fleet.query('SELECT id FROM octavo.notification_event')).map(({ id }) => String(id));
  const deliveries = await fleet.query('SELECT id, about FROM octavo.notification_delivery');
  const received = deliveries.filter(({ id }) => fleet.receiver.messages.has(String(id)));
  const events = received.flatMap(({ about }) => JSON.parse(String(about)) as string[]);
  const twice = events.filter((event, index) => events.indexOf(event) !== index);
  return [
    ...rows.map(({ id }) => String(id)),
    ...stored.filter((id) => !events.includes(id)).map((id) => `not received: ${id}`),
    ...twice.map((id) => `received twice: ${id}`),
  ];
}

/** Returns output of the daemons that is not part of their log, such as warnings of Node.js. */
function findWarnings(fleet: ProcessFleet): readonly string[] {
  const lines = fleet.replicas.flatMap(({ run }) => run.stderr.split('\n'));
  return lines.filter((line) => line !== '' && !line.startsWith('{'));
}

function logsOf(fleet: ProcessFleet): string {
  return fleet.replicas.map(({ run }, index) => `replica ${index}:\n${run.stderr.slice(-3000)}`).join('\n');
}

/** Changes of manifests and new tickets, one after the other, and what the platform must have in the end. */
class Work implements AsyncDisposable {
  readonly #fleet: ProcessFleet;
  readonly #dice: Dice;
  readonly #titles = new Map<string, string[]>();
  readonly #tickets = new Map<string, string[]>();
  readonly #over = new AbortController();
  readonly #running: Promise<void>;

  constructor(fleet: ProcessFleet, dice: Dice) {
    this.#fleet = fleet;
    this.#dice = createDice(dice(1_000_000));
    this.#running = this.#run();
  }

  /** Waits until the platform has everything, each once. */
  async finish(): Promise<void> {
    await this[Symbol.asyncDispose]();
    for (const [organization, titles] of this.#titles) {
      await this.#fleet.untilTeams(organization, titles, LAST_WORK);
    }
    const missing = () =>
      [...this.#tickets].filter(([id, tickets]) => conversationsOf(this.#fleet, id) !== tickets.toSorted().join());
    await eventually('all conversations', () => missing().length === 0, LAST_WORK).catch((error: Error) => {
      const first = missing()[0];
      throw new Error(
        `${error.message}: ${first?.[0]} has ${conversationsOf(this.#fleet, first?.[0] ?? '')} and not ${first?.[1].toSorted()}\n${logsOf(this.#fleet)}`,
      );
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let step = 0; !this.#over.signal.aborted; step += 1) {
      const id = this.#fleet.organizations[this.#dice(ORGANIZATIONS)] as string;
      const titles = [...(this.#titles.get(id) ?? []), `T${step}`];
      this.#titles.set(id, titles);
      this.#fleet.declare(id, ...titles);
      const tickets = [`a${step}`, `b${step}`];
      this.#tickets.set(id, [...(this.#tickets.get(id) ?? []), ...tickets]);
      this.#fleet.drop(id, ...tickets);
      await pause(400);
    }
  }
}

/** Returns the ids of the tickets of an organization's conversations. */
function conversationsOf(fleet: ProcessFleet, organization: string): string {
  const { conversations = [] } = fleet.emulator.state() as unknown as {
    conversations?: { readonly externalId: string; readonly organization: string }[];
  };
  return conversations
    .filter((each) => each.organization === organization)
    .map(({ externalId }) => externalId.split('/').at(-1))
    .toSorted()
    .join();
}
