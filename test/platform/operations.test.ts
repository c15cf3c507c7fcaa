/** The table of operations: its content, what other code relies on in it, and when it is read. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { operations } from '../../src/platform/operations/index.ts';
import { RequestSchema } from '../../src/platform/operations/model/request-schema.ts';
import { allOperations } from '../../src/platform/operations/table.ts';
import { execFileSync } from '../support/programs.ts';

test('searches have a rate limit of their own', () => {
  expect(operations.searchOrganization.class).toBe('search');
});

describe('the table', () => {
  const all = allOperations();
  const names = all.flatMap(({ name, alias }) => [name, ...(alias === null ? [] : [alias])]);

  test('has distinct names', () => {
    expect(new Set(names).size).toBe(names.length);
  });

  test('has schemas that zod reads, and that refuse what no document has', () => {
    const open = all.filter(({ query, body }) =>
      [query, body].some((schema) => schema?.safeParse({ 'not a member': 1 }).success),
    );
    expect(open.map(({ name }) => name).toSorted()).toEqual(['createChangeRequest', 'updateSiteCustomization']);
  });

  test('has summaries that are distinct sentences', () => {
    const summaries = all.map(({ summary }) => summary);
    expect(summaries.filter((summary, at) => summaries.indexOf(summary) !== at)).toEqual([]);
    expect(summaries.filter((summary) => !/^[A-Z].*\.$/.test(summary) || summary.length > 100)).toEqual([]);
  });

  test('is read once an operation is used, and not before', () => {
    const script = `
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      let reads = 0;
      const { readFileSync } = fs;
      fs.readFileSync = (...args) => { reads += String(args[0]).endsWith('operations.json') ? 1 : 0; return readFileSync(...args); };
      syncBuiltinESMExports();
      await import('./src/daemon.ts');
      const { kinds } = await import('./src/kinds/registry.ts');
      const { operations } = await import('./src/platform/operations/index.ts');
      const before = reads;
      operations.listTeams.path;
      operations.createTeam.body.safeParse({});
      console.log(JSON.stringify({ kinds: kinds.length > 5, before, after: reads }));
    `;
    const shown = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(JSON.parse(shown)).toEqual({ kinds: true, before: 0, after: 1 });
  });
});

describe('a length', () => {
  const schema = new RequestSchema({ type: ['string', 'null'], minLength: 2, maxLength: 3, pattern: '^[^ ]' });

  test.each([
    ['ab', true],
    ['abcd', false],
    ['a', false],
    ['😀', false],
    ['😀😀😀', true],
    ['👨‍👩', true],
    ['\ud83d', false],
    ['\ud83d\ud83d', true],
    ['a\n', true],
    [' ab', false],
    [null, true],
    [undefined, false],
  ])('is counted in code points: %j (%s)', (value, isGood) => {
    expect(schema.safeParse(value).success).toBe(isGood);
  });

  test('is checked in time that grows with the text, and reported in words', () => {
    const long = new RequestSchema({ type: 'string', maxLength: 10_000 });
    const refused = long.safeParse('\ud83d'.repeat(5_000_000));
    expect(refused.error?.issues.map(({ message }) => message)).toEqual(['must have 0 to 10000 characters']);
  });
});

test('requests are sent only by the client, octavo api and its transport', () => {
  const sources = globSync('src/**/*.ts').filter((file) => !file.startsWith('src/emulator/'));
  const senders = sources.filter((file) => /\btransport\.(send|open)\(/.test(readFileSync(file, 'utf8')));
  expect(senders.sort()).toEqual([
    'src/commands/api/response.ts',
    'src/commands/cli/session.ts',
    'src/platform/client.ts',
    'src/platform/http/transport.ts',
  ]);
});
