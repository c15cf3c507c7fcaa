import fc from 'fast-check';
import type { Clock } from '../../src/core/clock.ts';
import { type Emulator, type EmulatorState, type FaultRule, startEmulator } from '../../src/emulator/emulator.ts';
import { seededRandom } from '../../src/emulator/faults.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { createManifestLoader } from '../../src/manifests/loader.ts';
import { openReader, openWriter } from '../../src/platform/client.ts';
import { openConnection } from '../../src/platform/connection.ts';
import { FightBook } from '../../src/reconcile/fight-book.ts';
import { OrganizationReconciler } from '../../src/reconcile/organization.ts';
import type { PassEnd, PassEvents } from '../../src/reconcile/pass.ts';
import type { DesiredSource } from '../../src/reconcile/source.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { twoModels } from '../support/arbitrary-manifests.ts';
import { memoryTree } from '../support/memory-tree.ts';
import { type Model, manifestsOf } from '../support/model.ts';
import { differences } from '../support/oracle.ts';
import { untouched } from '../support/oracle-lookups.ts';
import { organizationConfig } from './organization-config.ts';

/** Goes so many times as fast as the machine's, so that backing off takes next to no time. */
const SPEED = 500;
/** The share of requests that something happens to. */
const SHARE = 0.2;
/** Passes after the last commit with faults, and then without. */
const TROUBLED = 12;
const QUIET = 6;

const fastClock: Clock = {
  now: () => Date.parse('2026-06-01T00:00:00Z') + performance.now() * SPEED,
  monotonic: () => performance.now() * SPEED,
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, milliseconds / SPEED);
      signal?.addEventListener('abort', stop, { once: true });
      if (signal?.aborted) {
        stop();
      }
    }),
};

/** Everything that can go wrong, all together at the share. */
function everything(restart: () => void): FaultRule[] {
  const faults: FaultRule['fault'][] = [
    { kind: 'reset-before' },
    { kind: 'reset-after' },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 502 },
    { kind: 'status', status: 503 },
    { kind: 'html' },
    { kind: 'html', status: 502 },
    { kind: 'truncate' },
    { kind: 'wrong-content-type' },
    { kind: 'delay', ms: 2000 },
    { kind: '429' },
    { kind: '429', retryAfter: 2 },
    { kind: 'hook', when: 'after', run: restart },
  ];
  return faults.map((fault) => ({ fault, rate: SHARE / faults.length }));
}

/** One seeded run. What is wrong at its end, in words; empty: nothing. */
export async function soak(seed: number, start: EmulatorState): Promise<string> {
  const emulator = await startEmulator({
    seed: start,
    seedNumber: seed,
    clock: fastClock,
    processing: { openapi: 0, translation: 0 },
  });
  try {
    return await new Soak(seed, start, emulator).run();
  } finally {
    await emulator.close();
  }
}

class Soak {
  readonly #start: EmulatorState;
  readonly #emulator: Emulator;
  readonly #random: () => number;
  readonly #seed: number;
  readonly #record = openMemoryStore().organization('soak');
  readonly #stop = new AbortController();
  #model: Model;
  #commits = 0;
  #restarting: Promise<void> | null = null;

  constructor(seed: number, start: EmulatorState, emulator: Emulator) {
    this.#seed = seed;
    this.#start = start;
    this.#emulator = emulator;
    this.#random = seededRandom(seed);
    this.#model = this.#models()[0] as Model;
  }

  async run(): Promise<string> {
    const connection = openConnection({
      baseUrl: this.#emulator.url,
      token: this.#emulator.token,
      userAgent: 'octavo/0',
      concurrency: this.#seed % 2 === 0 ? 1 : 6,
      clock: fastClock,
      random: seededRandom(this.#seed + 1),
    });
    const organization = this.#emulator.organization;
    const reconciler = new OrganizationReconciler({
      config: organizationConfig(organization),
      user: null,
      kinds,
      source: this.#source(),
      record: this.#record,
      fights: new FightBook(openMemoryStore().note('fights')),
      clock: fastClock,
      openReader: (priority) => openReader(connection, { organization, priority }),
      openWriter: (priority) => openWriter(connection, { organization, priority }),
      estimate: () => 0,
      parallel: 10,
      signal: this.#stop.signal,
      abort: this.#stop.signal,
      events: this.#events(),
    });
    this.#emulator.setFaults(everything(() => this.#restart()));
    try {
      await this.#trouble(reconciler);
      this.#emulator.setFaults([]);
      await this.#restarting;
      return await this.#settled(reconciler);
    } finally {
      await connection.close(0);
      await this.#restarting;
    }
  }

  #models(): readonly Model[] {
    return fc.sample(twoModels, { seed: this.#seed, numRuns: 2 }).flat();
  }

  /** Commits one after the other, edits behind the back, now and then in the middle of a pass. */
  async #trouble(reconciler: OrganizationReconciler): Promise<void> {
    for (const model of this.#models()) {
      this.#model = model;
      this.#commits += 1;
      const passes = 1 + Math.floor(this.#random() * 4);
      for (let pass = 0; pass < passes; pass += 1) {
        const running = reconciler.trigger('commit');
        if (this.#random() < 0.3) {
          break;
        }
        await running;
        if (this.#random() < 0.5) {
          await this.#edit();
        }
      }
    }
    for (let pass = 0; pass < TROUBLED && !isDone(reconciler.lastEnd, this.#commits); pass += 1) {
      await reconciler.trigger('retry');
    }
  }

  async #settled(reconciler: OrganizationReconciler): Promise<string> {
    let end: PassEnd | null = null;
    for (let pass = 0; pass < QUIET; pass += 1) {
      await reconciler.trigger('retry');
      end = reconciler.lastEnd;
      if (end?.outcome === 'done' && end.plan?.changes.length === 0 && end.plan.pending.length === 0) {
        break;
      }
    }
    const now = this.#emulator.state();
    const touched = untouched(this.#start, now) === untouched(this.#start, this.#start) ? [] : ['others were touched'];
    const open = end?.results.filter((result) => result.status !== 'applied') ?? [];
    const left = end?.plan?.changes ?? [];
    return [
      ...differences(this.#model, this.#start, now),
      ...touched,
      ...(end?.outcome === 'done' ? [] : [`the last pass: ${end?.outcome} ${end?.error?.message ?? ''}`]),
      ...open.map(({ action, address, status, error }) => `${status}: ${action} ${address}: ${error}`),
      ...left.map(({ action, address, fields }) => `in the last plan: ${action} ${address} ${JSON.stringify(fields)}`),
    ].join('\n');
  }

  /** What every pass does, for whoever looks at one seed alone (SOAK_TRACE=1). */
  #events(): PassEvents {
    if (process.env.SOAK_TRACE === undefined) {
      return {};
    }
    const tell = (text: string) => process.stderr.write(`${text}\n`);
    return {
      onPassStart: (trigger) => tell(`pass: ${trigger}, commit ${this.#commits}`),
      onResult: ({ action, address, status, id, error }) =>
        tell(`  ${status} ${action} ${address} ${id} ${error ?? ''}`),
      onPassEnd: ({ outcome, error }) => tell(`  ${outcome} ${error?.message ?? ''}`),
    };
  }

  #source(): DesiredSource {
    const loader = createManifestLoader(kinds);
    return {
      applied: null,
      poll: null,
      read: async () => {
        const commit = String(this.#commits);
        return { state: await loader.load(memoryTree(manifestsOf(this.#model))), commit, subject: '', forced: false };
      },
      hasMoved: async () => true,
      watch: async () => undefined,
      close: async () => undefined,
    };
  }

  #restart(): void {
    this.#restarting ??= this.#emulator.restart(1000).finally(() => {
      this.#restarting = null;
    });
  }

  /** Somebody changes something by hand that is declared: another title, or it is gone. */
  async #edit(): Promise<void> {
    // What is not recorded yet is known by its title alone, and nobody could tell that it is the same.
    const { entries } = await this.#record.read();
    const known = new Set(entries.map((entry) => entry.id));
    const state = this.#emulator.state();
    const table = (['teams', 'collections', 'spaces', 'sections', 'sectionGroups', 'sites'] as const)[
      Math.floor(this.#random() * 6)
    ] as 'teams';
    const own = (state[table] ?? []).filter(({ id }) => known.has(id));
    const chosen = own[Math.floor(this.#random() * own.length)];
    if (chosen === undefined || / \(\w+\)$/.test(chosen.title)) {
      return;
    }
    const title = `By hand ${Math.floor(this.#random() * 1e9)}`;
    const gone = table === 'teams' && this.#random() < 0.3;
    const rows = gone
      ? (state[table] ?? []).filter((each) => each !== chosen)
      : (state[table] ?? []).map((each) => (each === chosen ? { ...each, title } : each));
    this.#emulator.restore({ ...state, [table]: rows });
    if (process.env.SOAK_TRACE !== undefined) {
      process.stderr.write(`by hand: ${gone ? 'gone' : title}: ${table} ${chosen.id} ${chosen.title}\n`);
    }
  }
}

function isDone(end: PassEnd | null, commits: number): boolean {
  return end?.outcome === 'done' && end.plan?.commit === String(commits) && end.plan.changes.length === 0;
}
