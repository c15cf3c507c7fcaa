import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Emulator, type EmulatorState, startEmulator } from '../../src/emulator/emulator.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { AppliedRecord, OrganizationRecord } from '../../src/store/store.ts';
import { addForeign } from '../support/foreign.ts';
import { type Model, manifestsOf } from '../support/model.ts';
import { type BaseSource, type Death, mortalPass } from '../support/mortal-pass.ts';
import { differences, untouched } from '../support/oracle.ts';
import { openWorld } from '../support/world.ts';
import { FIRST, leftover, NOTHING, SECOND } from './scenario.ts';

/* A pass dies at every write there is, before it is processed and after; nothing of it is left but platform and record. */

/** Passes that may be needed after a death: what the platform still works on is finished by the next. */
const PASSES = 4;

let emulator: Emulator;
let start: EmulatorState;
let made: { readonly state: EmulatorState; readonly record: AppliedRecord };

beforeAll(async () => {
  const world = await openWorld();
  await addForeign(world);
  start = world.emulator.state();
  await world.close();
  emulator = await startEmulator({ seed: start, processing: { openapi: 0, translation: 0 } });
  const record = await recordOf(null);
  await settle(FIRST, { record }, start);
  made = { state: emulator.state(), record: await record.read() };
});
afterAll(() => emulator.close());

async function recordOf(contents: AppliedRecord | null): Promise<OrganizationRecord> {
  const record = openMemoryStore().organization('test');
  await record.put(contents?.entries ?? []);
  if (contents !== null && contents.head !== null) {
    await record.moveHead(contents.head);
  }
  return record;
}

/** Passes until nothing is left to do, and looks by other means than the planner's. */
async function settle(model: Model, source: BaseSource, before: EmulatorState): Promise<void> {
  const manifests = manifestsOf(model);
  for (let pass = 1; ; pass += 1) {
    const { planned, results } = await mortalPass(emulator, manifests, source, null);
    const open = results.filter((result) => result.status !== 'applied');
    if (planned.plan.changes.length === 0 && planned.plan.pending.length === 0) {
      break;
    }
    if (pass === PASSES) {
      expect([open, planned.plan.changes, planned.plan.pending]).toEqual([[], [], []]);
    }
    expect(open.filter((result) => result.status === 'failed')).toEqual([]);
  }
  expect(differences(model, before, emulator.state())).toEqual([]);
  expect(untouched(before, emulator.state())).toBe(untouched(before, before));
}

/** Where to begin from, and what to go to. */
interface Way {
  readonly from: () => { readonly state: EmulatorState; readonly record: AppliedRecord | null };
  readonly to: Model;
}

const WAYS: Readonly<Record<string, Way>> = {
  'from nothing': { from: () => ({ state: start, record: null }), to: FIRST },
  'from one state to the next': { from: () => made, to: SECOND },
  'from everything to nothing': { from: () => made, to: NOTHING },
};

/** Every death there is on a way; each told by its name where anything is wrong. */
async function everyDeath(run: (death: Death) => Promise<boolean>): Promise<number> {
  const wrong: string[] = [];
  for (let write = 1; ; write += 1) {
    let died = false;
    for (const when of ['before', 'after'] as const) {
      try {
        const reached = await run({ write, when });
        died ||= reached;
      } catch (error) {
        died = true;
        wrong.push(`${when} write ${write}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    if (!died) {
      expect(wrong.join('\n\n')).toBe('');
      return write - 1;
    }
  }
}

describe('a daemon, whose record says what it owns', () => {
  test.each(Object.keys(WAYS))('%s', async (name) => {
    const way = WAYS[name] as Way;
    const writes = await everyDeath(async (death) => {
      const { state, record: contents } = way.from();
      emulator.restore(state);
      const record = await recordOf(contents);
      const { died } = await mortalPass(emulator, manifestsOf(way.to), { record }, death);
      const left = { state: emulator.state(), record: await record.read() };
      // Started again with the same commit, it ends as declared.
      await settle(way.to, { record }, start);
      expect(leftover(way.to, emulator.state())).toEqual([]);
      // Started again with a commit that declares nothing, it takes away all it ever made.
      emulator.restore(left.state);
      await settle(NOTHING, { record: await recordOf(left.record) }, start);
      return died;
    });
    expect(writes).toBeGreaterThan(20);
  }, 300_000);
});

describe('an apply, whose base is a git ref that has not moved', () => {
  test.each([
    ['from nothing', null],
    ['from one state to the next', FIRST],
  ] as const)('%s', async (name, base) => {
    const way = WAYS[name] as Way;
    const source = { manifests: base === null ? null : manifestsOf(base) };
    const writes = await everyDeath(async (death) => {
      emulator.restore(way.from().state);
      const { died } = await mortalPass(emulator, manifestsOf(way.to), source, death);
      await settle(way.to, source, start);
      return died;
    });
    expect(writes).toBeGreaterThan(20);
  }, 300_000);
});
