/** Actions whose entry the audit does not take at once. */
import { describe, expect, test } from 'vitest';
import { LeaseLostError, StoreError } from '../../src/core/errors.ts';
import { carryOut } from '../../src/daemon/organization/audit.ts';
import type { Logger } from '../../src/log.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';

const FAILURE = new StoreError('the state cannot be used; wait');
const ANA = { name: 'ana', method: 'socket' } as const;
const ACTION = { actor: ANA, action: 'pause', subject: 'team/a', reason: 'a freeze' };

/** A writer whose store has these outcomes first, and then works. */
function open(...fates: ('refused' | 'lost' | 'lease-lost')[]) {
  const clock = createVirtualClock();
  const history = openMemoryStore().history('org_1');
  const stopping = new AbortController();
  const lines: string[] = [];
  const write = (_fields: object, message: string) => void lines.push(message);
  const log = { warn: write, error: write } as unknown as Logger;
  const context = { clock, log, stopping: stopping.signal };
  const table: Pick<typeof history, 'addAudit'> = {
    addAudit: async (...call) => {
      const fate = fates.shift();
      if (fate === 'lease-lost') {
        throw new LeaseLostError('organization/org_1');
      }
      if (fate !== 'refused') {
        await history.addAudit(...call);
      }
      if (fate !== undefined) {
        throw FAILURE;
      }
    },
  };
  const entries = async () =>
    (await history.audit({ limit: 10 })).map(({ outcome, detail }) => `${outcome} ${detail}`.trim());
  return {
    clock,
    stopping,
    lines,
    entries,
    carryOut: (work: () => Promise<{ id: string }>) => carryOut(context, table, ACTION, work, () => []),
  };
}

describe('an action whose entry the store does not take', () => {
  test.each([
    ['at once', []],
    ['after a while', ['refused', 'refused']],
    ['without an answer, later', ['refused', 'lost', 'refused']],
  ] as const)('is answered without delay, and recorded once as carried out: %s', async (_what, fates) => {
    const { clock, lines, entries, carryOut } = open(...fates);
    const from = clock.monotonic();
    expect(await carryOut(async () => ({ id: 's1' }))).toEqual({ id: 's1' });
    expect(clock.monotonic()).toBe(from);
    await clock.advance(60_000);
    expect(await entries()).toEqual(['done']);
    expect(lines).toHaveLength(fates.length === 0 ? 0 : 1);
  });

  test('fails with its own error, and is recorded as refused', async () => {
    const { clock, entries, carryOut } = open('refused');
    await expect(carryOut(() => Promise.reject(new Error('no such team')))).rejects.toThrow('no such team');
    await clock.advance(60_000);
    expect(await entries()).toEqual(['refused no such team']);
  });

  test('fails if another replica has the lease, and is not recorded here', async () => {
    const { entries, carryOut } = open('lease-lost');
    await expect(carryOut(async () => ({ id: 's1' }))).rejects.toThrow(LeaseLostError);
    expect(await entries()).toEqual([]);
  });

  test('is logged as lost if the daemon stops meanwhile', async () => {
    const { clock, stopping, lines, entries, carryOut } = open('refused', 'refused', 'refused');
    await carryOut(async () => ({ id: 's1' }));
    stopping.abort();
    await clock.settle();
    expect(lines).toEqual(['cannot record an action in the audit; retrying', 'cannot record an action in the audit']);
    expect(await entries()).toEqual([]);
  });
});
