import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pushFile } from '../../../src/conversations/control-api.ts';
import { openDropFolder } from '../../../src/conversations/sources/files/drop-folder.ts';
import { openMemoryStore } from '../../../src/store/memory.ts';
import type { Outbox } from '../../../src/store/outbox/outbox.ts';
import { createIngestion } from '../../support/helpdesk.ts';

/* Bad input, end to end: bad records are in the reject file with their line and a reason, the rest is in the outbox. */

const record = (id: string, body = 'How?') => JSON.stringify({ id, parts: [{ role: 'user', body }] });

interface Bad {
  readonly name: string;
  readonly content: string | Buffer;
  /** Line, number in the file, and reason. */
  readonly rejects: readonly (readonly [number, number, string])[];
  /** Ids of the accepted records. */
  readonly taken: readonly string[];
}

const CASES: readonly (readonly [string, Bad])[] = [
  [
    'a truncated line of NDJSON and one that is not JSON',
    {
      name: 'half.ndjson',
      content: `${record('1')}\n{"id":"2","par\n7\n${record('3')}\n`,
      rejects: [
        [2, 1, 'is not valid JSON'],
        [3, 2, 'is neither a conversation (id, parts) nor a Zendesk ticket (id, status, comments)'],
      ],
      taken: ['1', '3'],
    },
  ],
  [
    'empty, missing and invalid parts',
    {
      name: 'parts.ndjson',
      content: [
        record('1'),
        '{"id":"2","parts":null}',
        '{"id":"3","parts":[{}]}',
        '{"id":"4","parts":[]}',
        record('5', ' '),
        record('6'),
      ].join('\n'),
      rejects: [
        [2, 1, 'parts is missing or not of type array'],
        [3, 2, 'parts.0.role must be user, assistant or team-member'],
        [4, 3, 'skipped: no part has any text'],
        [5, 4, 'skipped: no part has any text'],
      ],
      taken: ['1', '6'],
    },
  ],
  [
    'ids that are too long for the platform',
    {
      name: 'ids.ndjson',
      content: [record('1'), record('x'.repeat(246)), record('a'.repeat(245))].join('\n'),
      rejects: [[2, 1, 'its id, with the account before it, has 256 characters; the platform accepts 1 to 255']],
      taken: ['1', 'a'.repeat(245)],
    },
  ],
];

let folder: string;
let outbox: Outbox;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-bad-'));
  outbox = openMemoryStore().outbox('org_1', { items: 1000, bytes: 1e6 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

// Long after every file here was written, so that the files are settled.
const now = Date.now() + 60_000;
const clock = {
  now: () => now,
  monotonic: () => now,
  /** The files are settled, and no time limit is reached. */
  sleep: (milliseconds: number) => (milliseconds < 60_000 ? Promise.resolve() : new Promise<void>(() => {})),
};
const signal = new AbortController().signal;

const UNTIMED = { webhook: null, every: 1, since: 1 };
const open = (after: 'keep' | 'move' = 'keep') =>
  createIngestion({
    sources: [{ name: 'drop', polling: openDropFolder({ name: 'drop', folder, after, clock }), ...UNTIMED }],
    outbox,
    clock,
  });
const drop = async () => expect([...(await open().pollOnce(signal))]).toEqual([]);
const push = (name: string) => pushFile(join(folder, name), { account: 'drop' }, open().intake('push'), signal);

/** Content of the reject file of a file; null if there is none. */
const rejectsOf = (name: string) =>
  readFileSync(join(folder, `${name}.rejects.ndjson`), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const waiting = async () => {
  const batch = await outbox.next({ items: 100, bytes: 1e6, open: 1 }, now);
  return (batch?.items ?? []).map(({ key }) => key).sort();
};

describe.each(CASES)('%s', (_what, { name, content, rejects, taken }) => {
  const expected = rejects.map(([line, index, reason]) => ({ line, record: index, reason }));
  const keys = taken.map((id) => `file/drop/${id}`);

  test('is rejected with reasons in a drop folder', async () => {
    writeFileSync(join(folder, name), content);
    writeFileSync(join(folder, 'zz-good.ndjson'), record('good'));
    await drop();
    expect(rejectsOf(name)).toEqual(expected);
    expect(await waiting()).toEqual([...keys, 'file/drop/good']);
  });

  test('is rejected with reasons when pushed', async () => {
    writeFileSync(join(folder, name), content);
    expect(await push(name)).toMatchObject({
      tickets: taken.length,
      rejected: rejects.filter(([, , reason]) => !String(reason).startsWith('skipped')).length,
      rejectFile: join(folder, `${name}.rejects.ndjson`),
    });
    expect(rejectsOf(name)).toEqual(expected);
    expect(await waiting()).toEqual(keys);
  });
});

describe('an unreadable file', () => {
  test('in a drop folder is reported once in its reject file, also across restarts', async () => {
    mkdirSync(join(folder, 'folder.json'));
    symlinkSync(join(folder, 'nowhere'), join(folder, 'link.json'));
    writeFileSync(join(folder, 'good.ndjson'), record('good'));
    for (let start = 0; start < 3; start += 1) {
      await drop();
    }
    const once = (reason: string) => [{ line: 1, record: 0, reason }];
    expect(rejectsOf('folder.json')).toEqual(once('is a directory; only files directly in the folder are read'));
    expect(rejectsOf('link.json')).toEqual(once('is a symbolic link that is broken or leads out of the folder'));
    expect(await waiting()).toEqual(['file/drop/good']);
  });

  test('that also cannot be moved is reported without its name, which may be private', async () => {
    writeFileSync(join(folder, 'processed'), '');
    writeFileSync(join(folder, 'letter of hush-1.ndjson'), record('1'));
    await open('move').pollOnce(signal);
    const failed = await open('move').pollOnce(signal);
    expect(failed.get('drop')?.message).toContain('cannot move');
    expect(String(failed.get('drop')?.stack)).not.toContain('hush-1');
  });

  test('is reported in its reject file when pushed', async () => {
    mkdirSync(join(folder, 'folder.json'));
    expect(await push('folder.json')).toMatchObject({ tickets: 0, rejected: 1 });
    expect(rejectsOf('folder.json')).toEqual([{ line: 1, record: 0, reason: 'cannot be read: it is a directory' }]);
  });
});
