/** Commands of replicas and states of organizations, as what uses them does not see them. */
import { expect, test } from 'vitest';
import { type NewCommand, openCommands } from '../../src/store/commands.ts';
import { openMemoryDatabase } from '../../src/store/memory.ts';
import { openOrganizationStates } from '../../src/store/organization-states.ts';
import { ANA } from './samples.ts';

const command = (organization: string, at = 1000, over: Partial<NewCommand> = {}): NewCommand => ({
  ...{ organization, kind: 'act', request: { subcommand: 'reconcile' }, by: ANA, at },
  ...over,
});

test('any number of commands of one organization hides none of another, nor does a request that is not JSON', async () => {
  const database = openMemoryDatabase();
  const commands = openCommands(database);
  for (let index = 0; index < 1200; index += 1) {
    await commands.add(command('a', index), false);
  }
  await commands.add(command('b'), false);
  await commands.add(command('c'), false);
  await database.write('x', (sql) =>
    sql.run("UPDATE command SET request = '{', kind = 'newer' WHERE organization = 'b'"),
  );
  expect(await commands.open()).toEqual([
    { ...command('a', 0), number: 1, epoch: null },
    { ...command('b'), kind: 'newer', request: null, number: 1, epoch: null },
    { ...command('c'), number: 1, epoch: null },
  ]);
});

test('an equal command is shared until it is begun, which names its owner and is not possible after its answer', async () => {
  const commands = openCommands(openMemoryDatabase());
  const push = command('acme', 1000, { kind: 'push', request: {} });
  expect(await commands.add(push, true)).toBe(1);
  expect(await commands.add(push, true)).toBe(1);
  expect(await commands.add({ ...push, organization: 'globex' }, true)).toBe(1);
  expect(await commands.add({ ...push, kind: 'hints' }, true)).toBe(2);
  expect(await commands.begin('acme', 1, 4)).toBe(true);
  expect((await commands.open()).map(({ epoch }) => epoch)).toEqual([4, null, null]);
  expect(await commands.add(push, true)).toBe(3);
  expect(await commands.add(push, false)).toBe(4);
  await commands.answer('acme', 1, { ok: null }, 2000);
  expect(await commands.begin('acme', 1, 9)).toBe(false);
  expect(await commands.begin('acme', 99, 9)).toBe(false);
});

const part = (name: string, content: string) => ({ part: name, hash: `hash of ${content}`, content });

test('states are read by organization and part, and replaced or removed part by part', async () => {
  const states = openOrganizationStates(openMemoryDatabase());
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
