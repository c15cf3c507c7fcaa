import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { type NewCommand, openCommands } from '../../../src/store/commands.ts';
import { openOrganizationStates } from '../../../src/store/organization-states.ts';
import { COMMAND_LAYOUT, ORGANIZATION_STATE_LAYOUT } from '../../../src/store/sql/schema-migrations.ts';
import { SqliteDatabase } from '../../../src/store/sqlite.ts';

function openTables() {
  const sqlite = new DatabaseSync(':memory:');
  sqlite.exec(COMMAND_LAYOUT);
  sqlite.exec(ORGANIZATION_STATE_LAYOUT);
  const database = new SqliteDatabase(sqlite, 'memory');
  return { sqlite, commands: openCommands(database), states: openOrganizationStates(database) };
}

const ANA = { name: 'ana@acme.example', method: 'oidc' } as const;
const command = (over: Partial<NewCommand> = {}): NewCommand => ({
  ...{ organization: 'acme', kind: 'act', request: { subcommand: 'reconcile' }, by: ANA, at: 1000 },
  ...over,
});

test('commands are numbered for each organization, and are open until they are answered', async () => {
  const { commands } = openTables();
  expect(await commands.add(command(), false)).toBe(1);
  expect(await commands.add(command({ organization: 'globex' }), false)).toBe(1);
  expect(await commands.add(command({ at: 2000 }), false)).toBe(2);
  expect(await commands.add(command({ kind: 'push', request: {} }), false)).toBe(3);
  // The second one of the same kind has to wait for the first.
  expect(await commands.open()).toEqual([
    { ...command(), number: 1, epoch: null },
    { ...command({ kind: 'push', request: {} }), number: 3, epoch: null },
    { ...command({ organization: 'globex' }), number: 1, epoch: null },
  ]);
  expect(await commands.findAnswer('acme', 1)).toBeNull();
  await commands.answer('acme', 1, { ok: { count: 3 } }, 3000);
  expect(await commands.findAnswer('acme', 1)).toEqual({ ok: { count: 3 } });
  expect((await commands.open()).map(({ organization, number }) => [organization, number])).toEqual([
    ['acme', 2],
    ['acme', 3],
    ['globex', 1],
  ]);
});

test('any number of commands of one organization hides none of another, nor does a request that is not JSON', async () => {
  const { commands, sqlite } = openTables();
  for (let index = 0; index < 1200; index += 1) {
    await commands.add(command({ organization: 'a', at: index }), false);
  }
  await commands.add(command({ organization: 'b' }), false);
  await commands.add(command({ organization: 'c' }), false);
  sqlite.exec("UPDATE command SET request = '{', kind = 'newer' WHERE organization = 'b'");
  expect(await commands.open()).toEqual([
    { ...command({ organization: 'a', at: 0 }), number: 1, epoch: null },
    { ...command({ organization: 'b' }), kind: 'newer', request: null, number: 1, epoch: null },
    { ...command({ organization: 'c' }), number: 1, epoch: null },
  ]);
});

test('a command that was begun names the epoch of its owner, and cannot be begun after its answer', async () => {
  const { commands } = openTables();
  await commands.add(command(), false);
  expect(await commands.begin('acme', 1, 7)).toBe(true);
  expect((await commands.open()).map(({ epoch }) => epoch)).toEqual([7]);
  expect(await commands.begin('acme', 1, 8)).toBe(true);
  await commands.answer('acme', 1, { ok: null }, 2000);
  expect(await commands.begin('acme', 1, 9)).toBe(false);
  expect(await commands.begin('acme', 99, 9)).toBe(false);
});

test('an equal command is shared until it is begun', async () => {
  const { commands } = openTables();
  const push = command({ kind: 'push', request: {} });
  expect(await commands.add(push, true)).toBe(1);
  expect(await commands.add(push, true)).toBe(1);
  expect(await commands.add({ ...push, organization: 'globex' }, true)).toBe(1);
  expect(await commands.add({ ...push, kind: 'hints' }, true)).toBe(2);
  await commands.begin('acme', 1, 4);
  expect(await commands.add(push, true)).toBe(3);
  expect(await commands.add(push, false)).toBe(4);
});

test('old commands are removed, answered or not', async () => {
  const { commands } = openTables();
  await commands.add(command({ at: 1 }), false);
  await commands.add(command({ at: 2 }), false);
  await commands.add(command({ at: 3 }), false);
  await commands.answer('acme', 1, { ok: {} }, 2);
  expect(await commands.removeBefore(3)).toBe(2);
  expect((await commands.open()).map(({ number }) => number)).toEqual([3]);
  expect(await commands.findAnswer('acme', 1)).toBeNull();
});

const part = (name: string, content: string) => ({ part: name, hash: `hash of ${content}`, content });

test('states are read by organization and part, and replaced or removed part by part', async () => {
  const { states } = openTables();
  const parts = [part('status', '1'), part('plan', '2'), part('declared/0', '3')];
  await states.write('acme', { epoch: 1, at: 1000, parts, removed: [] });
  await states.write('globex', { epoch: 4, at: 1500, parts: [part('status', '9')], removed: [] });
  await states.write('acme', { epoch: 2, at: 2000, parts: [part('plan', '5')], removed: ['declared/0', 'none'] });
  expect(await states.versions('acme')).toEqual([
    { organization: 'acme', part: 'plan', hash: 'hash of 5', epoch: 2, at: 2000 },
    { organization: 'acme', part: 'status', hash: 'hash of 1', epoch: 1, at: 1000 },
  ]);
  const all = await states.allVersions(['status', 'none']);
  expect(all.map(({ organization, epoch }) => [organization, epoch]).sort()).toEqual([
    ['acme', 1],
    ['globex', 4],
  ]);
  expect(await states.read(['acme', 'none'], ['plan', 'status'])).toEqual([
    { organization: 'acme', ...part('plan', '5') },
    { organization: 'acme', ...part('status', '1') },
  ]);
});
