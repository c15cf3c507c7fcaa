/** Runs an organization with random faults, commits and out-of-band edits. */
import fc from 'fast-check';
import type { Emulator, EmulatorState, FaultRule } from '../../src/emulator/emulator.ts';
import { seededRandom } from '../../src/emulator/http/faults.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { createManifestLoader } from '../../src/manifests/loader.ts';
import { openReader, openWriter } from '../../src/platform/client.ts';
import { OrganizationReconciler } from '../../src/reconcile/organization.ts';
import type { PassEnd, PassEvents } from '../../src/reconcile/pass.ts';
import type { DesiredSource } from '../../src/reconcile/source.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { reconcilerOptions, sourceOf } from '../reconcile/reconciler-options.ts';
import { twoModels } from '../support/arbitrary-manifests.ts';
import { memoryTree } from '../support/memory-tree.ts';
import { type Model, manifestsOf } from '../support/model.ts';
import { differences } from '../support/oracle.ts';
import { foreignRecords } from '../support/oracle-lookups.ts';
import { organizationConfig } from './organization-config.ts';
import { SequencedPlatform } from './sequenced-platform.ts';

/** Share of requests with a fault. */
const SHARE = 0.2;
/** Passes after the last commit, with faults and then without. */
const TROUBLED = 12;
const QUIET = 12;
/** Idle milliseconds between two of those passes, so that backoffs expire. */
const PAUSE = 2 * 3_600_000;

/** All faults, which together have this share. */
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
    { kind: 'half' },
    { kind: 'wrong-content-type' },
    { kind: 'delay', ms: 2000 },
    { kind: '429' },
    { kind: '429', retryAfter: 2 },
    { kind: 'hook', when: 'after', run: restart },
  ];
  return faults.map((fault) => ({ fault, rate: SHARE / faults.length }));
}

/** Returns the differences at the end of one seeded run, in words; empty if there are none. */
export async function soak(seed: number, start: EmulatorState): Promise<string> {
  await using platform = await SequencedPlatform.open(seed, start);
  return await platform.clock.run(new Soak(seed, start, platform).run());
}

class Soak {
  readonly #start: EmulatorState;
  readonly #platform: SequencedPlatform;
  readonly #emulator: Emulator;
  readonly #random: () => number;
  readonly #seed: number;
  readonly #record = openMemoryStore().organization('soak');
  readonly #stop = new AbortController();
  readonly #reconciler: OrganizationReconciler;
  #model: Model;
  #commits = 0;

  constructor(seed: number, start: EmulatorState, platform: SequencedPlatform) {
    this.#seed = seed;
    this.#start = start;
    this.#platform = platform;
    this.#emulator = platform.emulator;
    this.#random = seededRandom(seed);
    this.#model = this.#models()[0] as Model;
    const { clock } = platform;
    const { organization } = platform.emulator;
    const connection = platform.connect(seed % 2 === 0 ? 1 : 6, seededRandom(seed + 1));
    this.#reconciler = new OrganizationReconciler({
      // A third of the runs requires approval, like organizations with the default configuration.
      config: organizationConfig(organization, seed % 3 === 0),
      ...reconcilerOptions('soak', openMemoryStore(), this.#stop.signal),
      source: this.#source(),
      record: this.#record,
      clock,
      openReader: (priority) => openReader(connection, { organization, priority }),
      openWriter: (priority) => openWriter(connection, { organization, priority }),
      parallel: 10,
      events: this.#events(),
    });
  }

  async run(): Promise<string> {
    this.#emulator.setFaults(everything(() => this.#platform.restart(1000)));
    await this.#trouble();
    this.#emulator.setFaults([]);
    return this.#settled();
  }

  #models(): readonly Model[] {
    return fc.sample(twoModels, { seed: this.#seed, numRuns: 2 }).flat();
  }

  /** Commits one after another, out-of-band edits, and sometimes both in the middle of a pass. */
  async #trouble(): Promise<void> {
    for (const model of this.#models()) {
      this.#model = model;
      this.#commits += 1;
      const passes = 1 + Math.floor(this.#random() * 4);
      for (let pass = 0; pass < passes; pass += 1) {
        const running = this.#reconciler.trigger('commit');
        if (this.#random() < 0.3) {
          await this.#platform.clock.sleep(this.#random() * 5000);
          await this.#edit();
        }
        if (this.#random() < 0.3) {
          break;
        }
        await running;
        await this.#person(0.7);
        if (this.#random() < 0.5) {
          await this.#edit();
        }
      }
    }
    await this.#reconciler.idle();
    for (let pass = 0; pass < TROUBLED && !isDone(this.#reconciler.lastEnd, this.#commits); pass += 1) {
      await this.#platform.clock.sleep(PAUSE);
      await this.#reconciler.trigger('retry');
      await this.#person(0.7);
    }
  }

  /** Reviews held changes, and usually approves them. */
  async #person(how: number): Promise<void> {
    const { lastEnd } = this.#reconciler;
    if (lastEnd?.outcome === 'held' && lastEnd.plan !== null && this.#random() < how) {
      await this.#reconciler.approve(lastEnd.plan.checksum, { name: 'reviewer', method: 'socket' }, '');
      await this.#reconciler.trigger('approval');
    }
  }

  async #settled(): Promise<string> {
    let end: PassEnd | null = null;
    for (let pass = 0; pass < QUIET; pass += 1) {
      await this.#platform.clock.sleep(PAUSE);
      await this.#reconciler.trigger('retry');
      end = this.#reconciler.lastEnd;
      if (end?.outcome === 'done' && end.plan?.changes.length === 0 && end.plan.pending.length === 0) {
        break;
      }
      // No more faults: everything is done except for changes that require approval, which is now given.
      if (end?.outcome === 'held' && !end.results.some(({ status }) => status === 'applied' || status === 'failed')) {
        await this.#person(1);
        end = this.#reconciler.lastEnd;
      }
    }
    const now = this.#emulator.state();
    const touched =
      foreignRecords(this.#start, now) === foreignRecords(this.#start, this.#start) ? [] : ['others were touched'];
    const decisions = await this.#record.decisions();
    const open = end?.results.filter((result) => result.status !== 'applied') ?? [];
    const left = end?.plan?.changes ?? [];
    return [
      ...differences(this.#model, this.#start, now),
      ...touched,
      ...decisions.map(({ checksum }) => `an approval was never used up: ${checksum}`),
      ...(end?.outcome === 'done' ? [] : [`the last pass: ${end?.outcome} ${end?.error?.message ?? ''}`]),
      ...(end?.plan?.verdict.reasons ?? []),
      ...open.map(({ action, address, status, error }) => `${status}: ${action} ${address}: ${error}`),
      ...left.map(({ action, address, fields }) => `in the last plan: ${action} ${address} ${JSON.stringify(fields)}`),
    ].join('\n');
  }

  /** Prints the events of every pass, to examine a single seed (SOAK_TRACE=1). */
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
    const load = () => createManifestLoader(kinds).load(memoryTree(manifestsOf(this.#model)));
    const read = { subject: '', author: null, forced: false };
    return {
      ...sourceOf(() => ''),
      read: async () => ({ ...read, state: await load(), commit: String(this.#commits) }),
      peek: load,
      hasMoved: async () => true,
    };
  }

  /** Edits a declared resource out of band: changes its title, or deletes it. */
  async #edit(): Promise<void> {
    // A resource that is not recorded yet is identified by its title alone, so that a renamed one would not be
    // recognized.
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
