/** Commit statuses of passes that take long. */
import { expect, test } from 'vitest';
import { OrganizationCommitStatuses } from '../../src/daemon/organization/commit-statuses.ts';
import type { OrganizationContext } from '../../src/daemon/organization/feature.ts';
import type { PassEnd } from '../../src/reconcile/pass.ts';
import type { Desired } from '../../src/reconcile/source.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';

const COMMIT = 'a'.repeat(40);

/** Opens the commit statuses of one organization, with a virtual clock. */
function open() {
  const clock = createVirtualClock();
  const store = openMemoryStore();
  const forge = { type: 'github', repository: 'acme/docs', apiUrl: 'http://127.0.0.1:9', token: 't' };
  const statuses = OrganizationCommitStatuses.open({
    ...{ clock, store, random: () => 0.5, version: '0', dryRun: false },
    ...{ stopping: new AbortController().signal, abort: new AbortController().signal },
    organization: { id: 'org_1', forge, source: { git: { url: 'https://github.com/acme/docs.git', ref: 'main' } } },
    config: { secrets: new Set(), ui: {} },
    log: { warn: expect.unreachable, error: expect.unreachable },
  } as unknown as OrganizationContext);
  if (statuses === null) {
    throw new Error('the organization has no commit statuses');
  }
  const events = statuses.events();
  const shown = async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      await clock.settle();
    }
    return (await store.commitStatuses('org_1').list()).map(({ commit, wanted }) => `${commit} ${wanted.description}`);
  };
  return { clock, events, shown };
}

test('a new commit is shown as waiting once its pass has taken ten seconds, and only then', async () => {
  const { clock, events, shown } = open();
  events.onPassStart?.('start');
  events.onSource?.({ commit: COMMIT } as Desired);
  await clock.advance(9999);
  expect(await shown()).toEqual([]);
  await clock.advance(1);
  expect(await shown()).toEqual([`${COMMIT} waits for the platform`]);
});

test('a pass that ends in time shows nothing but its result', async () => {
  const { clock, events, shown } = open();
  events.onPassStart?.('start');
  events.onSource?.({ commit: COMMIT } as Desired);
  await clock.advance(5000);
  events.onPassEnd?.({} as PassEnd);
  await clock.advance(60_000);
  expect(await shown()).toEqual([]);
});
