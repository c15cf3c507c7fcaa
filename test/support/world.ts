/** An embedded platform with the record of earlier passes. */
import type { Address } from '../../src/core/address.ts';
import type { ChangeResult } from '../../src/core/change.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { ManifestSecrets } from '../../src/core/manifest-secrets.ts';
import type { Base, Declared } from '../../src/core/resource.ts';
import { type Emulator, type EmulatorOptions, type EmulatorState, startEmulator } from '../../src/emulator/emulator.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { createManifestLoader } from '../../src/manifests/loader.ts';
import { DEFAULT_POLICY, type Policy } from '../../src/plan/guard.ts';
import { openReader, openWriter, type Reader } from '../../src/platform/client.ts';
import { type Connection, openConnection } from '../../src/platform/connection.ts';
import { withIds } from '../../src/reconcile/applied.ts';
import { apply } from '../../src/reconcile/apply.ts';
import { platformSource } from '../../src/reconcile/observe.ts';
import { makePlan, type Planned, type PlanningInput } from '../../src/reconcile/planning.ts';
import { baseOfManifests, baseOfRecord } from '../../src/reconcile/record.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { callPlatform } from './call-platform.ts';
import { memoryTree } from './memory-tree.ts';
import { filesNamedIn } from './model.ts';
import type { Between } from './preferring-proxy.ts';

/** Manifests: one text, for which files are made up, or texts by file name. */
export type Manifests = string | Readonly<Record<string, string>>;

/** Nothing requires approval. */
export const UNLIMITED: Partial<Policy> = {
  requireApproval: [],
  limits: { maxDeletions: 1e6, maxChangedPercent: 100 },
};

export interface PassOptions {
  /**
   * `record`: the record of earlier passes (the default); null: none; manifests: as of a git ref, with the ids that
   * were recorded with it, if any.
   */
  readonly base?:
    | 'record'
    | null
    | { readonly manifests: Manifests; readonly ids?: ReadonlyMap<Address, string> | undefined };
  readonly policy?: Partial<Policy>;
  /** Secrets that manifests may name; none by default. */
  readonly secrets?: ManifestSecrets;
  /** Addresses to which the plan is limited; the whole plan by default. */
  readonly targets?: readonly Address[];
  /** True if confirmed changes are recorded; the default where the base is the record. */
  readonly records?: boolean;
}

export interface Pass {
  readonly planned: Planned;
  readonly results: readonly ChangeResult[];
}

/** Declared content of manifests. */
export async function declare(manifests: Manifests): Promise<ReadonlyMap<Address, Declared>> {
  const files = typeof manifests === 'string' ? { ...filesNamedIn(manifests), 'octavo.yaml': manifests } : manifests;
  return (await createManifestLoader(kinds).load(memoryTree(files))).declared;
}

/** Starts an embedded platform whose processing takes no time. */
export async function openWorld(
  options: EmulatorOptions = {},
  /** Proxy in front of the platform; none by default. */
  between?: (platform: string) => Promise<Between>,
): Promise<World> {
  const emulator = await startEmulator({ processing: { openapi: 0, translation: 0 }, ...options });
  const proxy = await between?.(emulator.url);
  const connection = connectTo(proxy?.url ?? emulator.url, emulator);
  return new World(emulator, connection, proxy);
}

/** An embedded platform, its transport, and its record. */
export class World {
  readonly emulator: Emulator;
  readonly record = openMemoryStore().organization('test');
  readonly #connection: Connection;
  readonly #start: EmulatorState;
  readonly #proxy: Between | undefined;

  constructor(emulator: Emulator, connection: Connection, proxy: Between | undefined) {
    this.#proxy = proxy;
    this.emulator = emulator;
    this.#start = emulator.state();
    this.#connection = connection;
  }

  async plan(manifests: Manifests, options: PassOptions = {}): Promise<Planned> {
    return this.planOf(await this.#input(manifests, options));
  }

  /** Plans and applies. */
  async apply(manifests: Manifests, options: PassOptions = {}): Promise<Pass> {
    const input = await this.#input(manifests, options);
    const planned = await this.planOf(input);
    const signal = new AbortController().signal;
    const records = options.records ?? (options.base === undefined || options.base === 'record');
    const writer = openWriter(this.#connection, { organization: this.emulator.organization, priority: 'apply' });
    const applied = await apply(input, planned, {
      writer,
      clock: systemClock,
      parallel: 20,
      signal,
      abort: signal,
      record: records ? this.record : null,
    });
    return { planned, results: applied.results };
  }

  /** Plans and applies until only changes that wait for approval are pending; throws if a change fails. */
  async settle(manifests: Manifests, options: PassOptions = {}): Promise<Pass> {
    let approved: readonly string[] = [];
    for (let round = 0; ; round += 1) {
      const pass = await this.apply(manifests, {
        ...options,
        policy: { ...options.policy, approved: [...approved, ...(options.policy?.approved ?? [])] },
      });
      const open = pass.results.filter((result) => result.status !== 'applied');
      const pendingChanges = pass.planned.plan.pending.filter(({ address }) => !address.startsWith('member/'));
      if (open.length === 0 && pendingChanges.length === 0) {
        return pass;
      }
      if (round === 3 || open.some((result) => result.status === 'failed')) {
        throw new Error(describeUnsettled(pass, open));
      }
      // A person approves what is held, such as a new space in place of one that readers see.
      const { heldChecksum, checksum, verdict } = pass.planned.plan;
      approved = [...(heldChecksum === null ? [] : [heldChecksum]), ...(verdict.state === 'held' ? [checksum] : [])];
    }
  }

  /** Read-only access to the platform. */
  reader(): Reader {
    return openReader(this.#connection, { organization: this.emulator.organization, priority: 'person' });
  }

  /**
   * Sends a request out of band, below the organization unless the path begins with `/v1`. Throws unless it succeeds.
   */
  call(method: string, path: string, body?: unknown): ReturnType<typeof callPlatform> {
    return callPlatform(this.emulator, method, path, body);
  }

  /** Resets to an initial state, by default the one that it started with: no faults, and no record. */
  async begin(start = this.#start): Promise<void> {
    this.emulator.restore(start);
    this.emulator.setFaults([]);
    await this.record.remove((await this.record.read()).entries.map((entry) => entry.address));
  }

  async close(): Promise<void> {
    await this.#connection.close();
    await this.#proxy?.close();
    await this.emulator.close();
  }

  /** Plans with this input, and counts the reads. */
  planOf(input: PlanningInput): Promise<Planned> {
    let reads = 0;
    const reader = openReader(this.#connection, {
      organization: this.emulator.organization,
      priority: 'person',
      onRequest: () => {
        reads += 1;
      },
    });
    return makePlan(
      input,
      platformSource(reader, () => reads),
    );
  }

  async #input(manifests: Manifests, { base, policy, targets, secrets }: PassOptions): Promise<PlanningInput> {
    const declared = await declare(manifests);
    const input = planningInput(this.emulator.organization, declared, await this.#base(base), policy);
    return { ...input, targets, ...(secrets === undefined ? {} : { secrets }) };
  }

  async #base(base: PassOptions['base']): Promise<Base> {
    if (base === null) {
      return null;
    }
    if (base === undefined || base === 'record') {
      return (await baseOfRecord(this.record)).base;
    }
    const { manifests, ids } = base;
    const declared = baseOfManifests(kinds, await declare(manifests));
    return ids === undefined || declared === null ? declared : withIds(declared, ids);
  }
}

/** Input of a plan without commits, at a fixed time. */
export function planningInput(
  organization: string,
  declared: PlanningInput['declared'],
  base: Base,
  policy: Partial<Policy> = {},
): PlanningInput {
  return {
    organization,
    kinds,
    declared,
    commit: null,
    base,
    baseCommit: null,
    policy: { ...DEFAULT_POLICY, now: Date.parse('2026-06-01T00:00:00Z'), ...policy },
    estimate: () => 0,
  };
}

/** Connects to a platform as the program does. */
export function connectTo(baseUrl: string, { token }: Emulator): Connection {
  return openConnection({
    baseUrl,
    token,
    userAgent: 'octavo/0',
    concurrency: 10,
    clock: systemClock,
    random: () => 0,
  });
}

function describeUnsettled({ planned }: Pass, open: readonly ChangeResult[]): string {
  const { changes, pending } = planned.plan;
  return [
    ...open.map(({ action, address, status, error }) => `${status}: ${action} ${address}: ${error}`),
    'in this plan:',
    ...changes.map((each) => `${each.action} ${each.address} ${JSON.stringify(each.fields)}`),
    ...pending.map(({ address, reason }) => `pending ${address}: ${reason}`),
  ].join('\n');
}
