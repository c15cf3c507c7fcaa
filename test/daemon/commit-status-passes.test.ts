/** Status of a commit whose daemon is killed while it applies it, and of one whose pass takes long. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Change, ChangeResult, Plan } from '../../src/core/change.ts';
import { OrganizationCommitStatuses } from '../../src/daemon/organization/commit-statuses.ts';
import type { OrganizationContext, OrganizationEvents } from '../../src/daemon/organization/feature.ts';
import { counted } from '../../src/plan/render/words.ts';
import type { PassEnd } from '../../src/reconcile/pass.ts';
import type { Planned } from '../../src/reconcile/planning.ts';
import type { Desired } from '../../src/reconcile/source.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/store.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';
import { countCases, SEED } from '../support/campaign.ts';

const COMMIT = 'a'.repeat(40);

/** End of a pass that was applying changes. `killed`: the process ends; `broken`: an error leaves its results unknown. */
interface Pass {
  /** Number of changes that it applies before. */
  readonly applies: number;
  readonly ends: 'killed' | 'broken' | 'failed';
}

/** Changes of the commit that are left, and a manual change that somebody made, which the commit does not cause. */
function planOf(left: number): { readonly plan: Plan; readonly drift: Change } {
  const changes = Array.from({ length: left + 1 }, (_, index) => {
    const address = `team/${index === left ? 'drift' : index}`;
    return { address, action: 'update', kind: 'team', held: null, paused: null } as unknown as Change;
  });
  const plan = { changes, pending: [], verdict: { state: 'ready', reasons: [] } } as unknown as Plan;
  return { plan, drift: changes[left] as Change };
}

/** A daemon on a store that survives it. */
class Daemon {
  readonly clock = createVirtualClock();
  readonly #statuses: OrganizationCommitStatuses;
  readonly #store: Store;

  constructor(store: Store) {
    const forge = { type: 'github', repository: 'acme/docs', apiUrl: 'http://127.0.0.1:9', token: 't' };
    const signal = new AbortController().signal;
    this.#store = store;
    this.#statuses = OrganizationCommitStatuses.open({
      ...{ clock: this.clock, store, random: () => 0.5, version: '0', dryRun: false, stopping: signal, abort: signal },
      organization: { id: 'org_1', forge, source: { git: { url: 'https://github.com/acme/docs.git', ref: 'main' } } },
      config: { secrets: new Set(), ui: {} },
      log: { warn: expect.unreachable, error: expect.unreachable },
    } as unknown as OrganizationContext) as OrganizationCommitStatuses;
  }

  /** Runs a pass up to its end, which is left out if the process is killed. Returns the status of the commit. */
  async pass(left: number, end: Partial<PassEnd> | null): Promise<string> {
    const events = this.begin();
    const { plan, drift } = planOf(left);
    events.onPlan?.({ plan } as Planned, [drift]);
    events.onApply?.({ plan } as Planned);
    if (end !== null) {
      events.onPassEnd?.({ plan, results: [], error: null, ...end } as PassEnd);
      events.onRecorded?.(1);
    }
    return this.shown();
  }

  /** Begins a pass of the commit, and returns the listener for the rest of it. */
  begin(): OrganizationEvents {
    const events = this.#statuses.events();
    events.onPassStart?.('start');
    events.onSource?.({ commit: COMMIT } as Desired);
    return events;
  }

  /** Returns the status of the commit; empty without one. */
  async shown(): Promise<string> {
    for (let turn = 0; turn < 5; turn += 1) {
      await this.clock.settle();
    }
    const [record] = await this.#store.commitStatuses('org_1').list();
    return record?.wanted.description ?? '';
  }
}

const resultsOf = (applied: number, failed: number) =>
  Array.from({ length: applied + failed }, (_, index) => ({
    ...{ address: `team/${index}`, action: 'update', status: index < applied ? 'applied' : 'failed', error: 'no' },
  })) as unknown as readonly ChangeResult[];

test('every change is counted once, whatever ended the passes that applied them', async () => {
  const pass = fc.record({ applies: fc.nat(5), ends: fc.constantFrom<Pass['ends']>('killed', 'broken', 'failed') });
  await fc.assert(
    fc.asyncProperty(fc.array(pass, { maxLength: 6 }), fc.integer({ min: 1, max: 5 }), async (passes, last) => {
      const store = openMemoryStore();
      const total = passes.reduce((sum, { applies }) => sum + applies, last);
      let daemon = new Daemon(store);
      let left = total;
      for (const { applies, ends } of passes) {
        if (ends === 'failed') {
          const text = await daemon.pass(left, { results: resultsOf(applies, 1) });
          expect(text).toBe(`1 of ${counted(total, 'change')} failed: team/${applies}: no`);
        } else {
          await daemon.pass(left, ends === 'broken' ? { plan: null, error: new Error('disk full') } : null);
        }
        daemon = ends === 'killed' ? new Daemon(store) : daemon;
        left -= applies;
      }
      const text = await daemon.pass(left, { results: resultsOf(left, 0) });
      expect(text).toBe(`${counted(total, 'change')} applied`);
      await store.close();
    }),
    { seed: SEED, numRuns: countCases({ sample: 50, ci: 200, full: 2000 }) },
  );
});

test('a new commit is shown as waiting once its pass has taken ten seconds, and only then', async () => {
  const inTime = new Daemon(openMemoryStore());
  inTime.begin().onPassEnd?.({} as PassEnd);
  await inTime.clock.advance(60_000);
  expect(await inTime.shown()).toBe('');
  const daemon = new Daemon(openMemoryStore());
  daemon.begin();
  await daemon.clock.advance(9999);
  expect(await daemon.shown()).toBe('');
  await daemon.clock.advance(1);
  expect(await daemon.shown()).toBe('waits for the platform');
});
