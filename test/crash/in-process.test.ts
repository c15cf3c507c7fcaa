import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Emulator, type EmulatorState, startEmulator } from '../../src/emulator/emulator.ts';
import type { Kind } from '../../src/kinds/model/kind.ts';
import { kinds, parts } from '../../src/kinds/registry.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { AppliedRecord, OrganizationRecord } from '../../src/store/record.ts';
import { countCases, SEED } from '../support/campaign.ts';
import { type BaseSource, type Death, runCrashingPass } from '../support/crashing-pass.ts';
import { addForeign } from '../support/foreign.ts';
import { isIn, samples, sampleVersions } from '../support/kind-samples.ts';
import { type Model, manifestsOf } from '../support/model.ts';
import { differences } from '../support/oracle.ts';
import { foreignRecords } from '../support/oracle-lookups.ts';
import { openWorld } from '../support/world.ts';
import { leftover, scenarioOf } from './scenario.ts';

/*
 * Deaths of a pass before and after a write; only the platform and the record survive. The campaign covers every write,
 * a sample every STRIDE-th. CRASH_STRIDE and CRASH_FROM repeat a failed death.
 */

/** Passes that may be needed after a death: background processing of the platform is finished by the next pass. */
const PASSES = 4;
const STRIDE = Number(process.env.CRASH_STRIDE ?? countCases({ sample: 24, ci: 12, full: 1 }));
const FROM = Number(process.env.CRASH_FROM ?? 1 + (SEED % STRIDE));

/** The platform, and the record and the model that were applied to it; null: none. */
interface Beginning {
  readonly state: EmulatorState;
  readonly record: AppliedRecord | null;
  readonly model: Model | null;
}

describe.each(sampleVersions)('platform %s', (version) => {
  const { first, second, nothing } = scenarioOf(version);
  const platform = { platform: version, processing: { openapi: 0, translation: 0 } };
  let emulator: Emulator;
  let start: EmulatorState;
  let made: Beginning;

  beforeAll(async () => {
    const world = await openWorld({ platform: version });
    await addForeign(world);
    start = world.emulator.state();
    await world.close();
    emulator = await startEmulator({ seed: start, ...platform });
    const record = await recordOf(null);
    await settle(first, { record }, start);
    made = { state: emulator.state(), record: await record.read(), model: first };
  });
  afterAll(() => emulator.close());

  async function recordOf(contents: AppliedRecord | null): Promise<OrganizationRecord> {
    const record = openMemoryStore().organization('test');
    await record.put(contents?.entries ?? []);
    if (contents !== null && contents.head !== null) {
      await record.moveHead(contents.head, []);
    }
    return record;
  }

  /** Runs passes until nothing is left to do, and compares by other means than the planner's. */
  async function settle(model: Model, source: BaseSource, before: EmulatorState): Promise<void> {
    const manifests = manifestsOf(model);
    let base = source;
    for (let pass = 1; ; pass += 1) {
      const { planned, results } = await runCrashingPass(emulator, manifests, base, null);
      const open = results.filter((result) => result.status !== 'applied');
      if (planned.plan.changes.length === 0 && planned.plan.pending.length === 0) {
        break;
      }
      const failed = open.filter((result) => result.status === 'failed');
      if (pass === PASSES || failed.length > 0) {
        const changes = planned.plan.changes.map(({ action, address, fields }) => ({ action, address, fields }));
        throw new Error(JSON.stringify({ pass, failed, changes, pending: planned.plan.pending }, null, 1));
      }
      if (open.length === 0 && 'manifests' in base) {
        // The applied ref moves once everything has been applied.
        base = { manifests };
      }
    }
    expect(differences(model, before, emulator.state()).join('\n')).toBe('');
    expect(foreignRecords(before, emulator.state())).toBe(foreignRecords(before, before));
  }

  /** Initial and target model. */
  interface Way {
    readonly from: () => Beginning;
    readonly to: Model;
  }

  const WAYS: Readonly<Record<string, Way>> = {
    'from an empty organization': { from: () => ({ state: start, record: null, model: null }), to: first },
    'from one declaration to the next': { from: () => made, to: second },
    'from a declaration to an empty one': { from: () => made, to: nothing },
  };

  /** The section of a site space is in its address: only an `id` that names one elsewhere replaces it. */
  const ONLY_BY_ID = 'replace site-space';

  /** Operations on a resource of a kind. */
  function actionsOf(kind: Kind): string[] {
    const fields = Object.values(kind.fields);
    const isOrdered = parts.some((part) => part.kind === kind);
    const moves = isOrdered || fields.some((rules) => rules.move === true);
    return [
      ...(kind.creatable === true ? ['create'] : []),
      'update',
      ...(moves ? ['move'] : []),
      ...(fields.some((rules) => rules.fixed === 'replace') ? ['replace'] : []),
      ...(kind.deletable ? ['delete'] : []),
    ].map((action) => `${action} ${kind.name}`);
  }

  test('the scenarios create, update, move and delete a resource of every kind', async () => {
    const seen = new Set<string>();
    for (const way of Object.values(WAYS)) {
      const { state, record } = way.from();
      emulator.restore(state);
      const { planned } = await runCrashingPass(
        emulator,
        manifestsOf(way.to),
        { record: await recordOf(record) },
        null,
      );
      for (const { action, kind, isReplacement } of planned.plan.changes) {
        seen.add(`${isReplacement ? 'replace' : action} ${kind}`);
      }
    }
    expect([...seen].toSorted()).toEqual(
      kinds
        .filter(({ name }) => samples.some((each) => each.kind === name && isIn(each, version)))
        .flatMap(actionsOf)
        .filter((each) => each !== ONLY_BY_ID)
        .toSorted(),
    );
  });

  /** Tests every STRIDE-th death among the writes; errors contain the name of the death. */
  async function everyDeath(writes: number, of: Death['of'], run: (death: Death) => Promise<void>): Promise<void> {
    const wrong: string[] = [];
    for (let write = FROM; write <= writes && wrong.length < 10; write += STRIDE) {
      for (const when of ['before', 'after'] as const) {
        await run({ write, when, of }).catch((error: unknown) => {
          wrong.push(`${when} write ${write}: ${tell(error)}`);
        });
      }
    }
    expect(wrong.join('\n\n')).toBe('');
  }

  /** Full comparison of a failed assertion. */
  function tell(error: unknown): string {
    const { actual, message } = error as Error & { actual?: unknown };
    return typeof actual === 'string' ? actual : message;
  }

  const names = Object.keys(WAYS);
  /** Programs that are killed at their writes to the platform or to their record. */
  const VICTIMS = [
    { victim: 'a daemon killed at any write', of: undefined, hasRecord: true, ways: names },
    { victim: 'a daemon killed at a write to its record', of: 'record', hasRecord: true, ways: names.slice(0, 2) },
    { victim: 'an apply with a git ref as base, killed at any write', hasRecord: false, ways: names.slice(0, 2) },
  ] as const;

  test.each(VICTIMS.flatMap(({ ways, ...victim }) => ways.map((name) => ({ of: undefined, ...victim, name }))))(
    '$victim, converges after a restart, $name',
    async ({ name, of, hasRecord }) => {
      const way = WAYS[name] as Way;
      const { state, model, record: contents } = way.from();
      const sourceOf = async (): Promise<BaseSource> =>
        hasRecord ? { record: await recordOf(contents) } : { manifests: model === null ? null : manifestsOf(model) };
      emulator.restore(state);
      emulator.requests.reset();
      const undisturbed = await runCrashingPass(emulator, manifestsOf(way.to), await sourceOf(), null);
      const { total, byMethod } = emulator.requests;
      const writes = of === 'record' ? undisturbed.recorded : total - (byMethod.GET ?? 0);
      // The record has an intent or a confirmation for every change.
      expect(writes).toBeGreaterThan(of === 'record' ? undisturbed.planned.plan.changes.length : 15);
      await everyDeath(writes, of, async (death) => {
        emulator.restore(state);
        const source = await sourceOf();
        const { died } = await runCrashingPass(emulator, manifestsOf(way.to), source, death);
        expect(died).toBe(true);
        const left = { state: emulator.state(), record: 'record' in source ? await source.record.read() : null };
        // Restarted with the same commit, it ends as declared.
        await settle(way.to, source, start);
        if (!('record' in source)) {
          return;
        }
        expect(leftover(way.to, emulator.state()).join()).toBe('');
        const { entries } = await source.record.read();
        expect(entries.filter(({ metadata }) => metadata.begun === true)).toEqual([]);
        if (of === undefined) {
          // Restarted with a commit that declares nothing, it deletes everything that it ever created.
          emulator.restore(left.state);
          await settle(nothing, { record: await recordOf(left.record) }, start);
        }
      });
    },
    300_000,
  );
});
