/** Commands of many organizations in one table. */
import { expect, test } from 'vitest';
import { type NewCommand, openCommands } from '../../src/store/commands.ts';
import { openMemoryDatabase } from '../../src/store/memory.ts';
import { ANA } from './samples.ts';

const command = (organization: string, at: number): NewCommand => ({
  ...{ organization, kind: 'act', request: { subcommand: 'reconcile' }, by: ANA, at },
});

test('any number of commands of one organization hides none of another, nor does a request that is not JSON', async () => {
  const database = openMemoryDatabase();
  const commands = openCommands(database);
  for (let index = 0; index < 1200; index += 1) {
    await commands.add(command('a', index), false);
  }
  await commands.add(command('b', 1000), false);
  await commands.add(command('c', 1000), false);
  await database.write('x', (sql) =>
    sql.run("UPDATE command SET request = '{', kind = 'newer' WHERE organization = 'b'"),
  );
  expect(await commands.open()).toEqual([
    { ...command('a', 0), number: 1, epoch: null },
    { ...command('b', 1000), kind: 'newer', request: null, number: 1, epoch: null },
    { ...command('c', 1000), number: 1, epoch: null },
  ]);
});
