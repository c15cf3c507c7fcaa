/** A daemon whose store fails: at one point, and at random. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openMemoryDatabase } from '../../../src/store/memory.ts';
import { openSqliteDatabase } from '../../../src/store/sqlite.ts';
import { countCases, SEED } from '../../support/campaign.ts';
import { CampaignRun } from './campaign-run.ts';
import { FailingDaemon } from './failing-daemon.ts';

const TEAMS = 'teams:\n  a: { title: A }\n  b: { title: B }\n  c: { title: C }\n';
/** Runs of the campaign, and the limit of each in milliseconds. */
const COUNT = countCases({ sample: 1, ci: 2, full: 300 });
const LIMIT = 120_000;

test.each(['refused', 'lost'] as const)(
  'a pass whose changes cannot be recorded is in the history with them: %s',
  async (fate) => {
    await using daemon = await FailingDaemon.open();
    const { work, store, clock } = daemon;
    const commit = daemon.commit(TEAMS, 'Begin');
    // Changes are sent, and then the store fails for a while.
    let failures = 0;
    daemon.fate = (operation) => {
      const isFailing = operation === 'write' && work.emulator.requests.count('createTeam') >= 2 && failures < 10;
      failures += isFailing ? 1 : 0;
      return isFailing ? fate : 'works';
    };
    await daemon.start(() => 0.5);
    await clock.advance(5 * 60_000);
    expect(failures).toBe(10);
    const history = store.history('org_acme');
    for (const address of ['team/a', 'team/b', 'team/c']) {
      const created = (await history.changesOf(address, 10)).filter(({ status }) => status === 'applied');
      expect(created).toMatchObject([{ action: 'create', commit }]);
    }
    expect(daemon.receiver.messages.filter(({ code }) => code === 'applied')).toHaveLength(1);
    expect(daemon.forge.of(commit).at(-1)).toBe('success: 3 changes applied');
    expect(work.emulator.requests.count('createTeam')).toBe(3);
  },
  LIMIT,
);

test(
  'a daemon whose store fails at random loses and doubles nothing, and recovers by itself',
  async () => {
    const wrong: string[] = [];
    for (let number = 0; number < COUNT; number += 1) {
      const isFile = number % 2 === 1;
      const open = (folder: string) => (isFile ? openSqliteDatabase(join(folder, 'state.db')) : openMemoryDatabase());
      await CampaignRun.run(SEED + number, open).catch((error: Error) => {
        wrong.push(error.message);
      });
    }
    expect(wrong.join('\n\n')).toBe('');
  },
  COUNT * LIMIT,
);
