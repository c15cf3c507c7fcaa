import {
  appendFile,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Batch } from '../../../src/conversations/model/source.ts';
import {
  type DropFolderOptions,
  type DroppedFile,
  FolderReader,
  isSettled,
  openDropFolder,
  readFileStat,
} from '../../../src/conversations/sources/files/drop-folder.ts';
import { MAX_BATCH_SIZE } from '../../../src/conversations/sources/files/input.ts';
import type { Json } from '../../../src/core/json.ts';
import { countCases } from '../../support/campaign.ts';
import { collectBatches } from '../../support/polls.ts';
import { outline } from './inputs.ts';

const record = (id: string) => `${JSON.stringify({ id, parts: [{ role: 'user', body: 'x' }] })}\n`;
const records = (...ids: string[]) => ids.map(record).join('');
const keys = (...ids: string[]) => ids.map((id) => `file/drop/${id}`);

let folder: string;
/** Milliseconds from which a sleep is a time limit, which is never reached. */
const TIME_LIMIT = 60_000;
/** Long after every file here was written, so that the files are settled; `sleep` only advances the clock. */
let now: number;
let slept: (() => Promise<void>) | null;
const clock = {
  now: () => now,
  monotonic: () => now,
  sleep: async (milliseconds: number) => {
    if (milliseconds >= TIME_LIMIT) {
      return new Promise<void>(() => {});
    }
    now += milliseconds;
    await slept?.();
  },
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'octavo-drop-'));
  now = Date.now() + 60_000;
  slept = null;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (options: Partial<DropFolderOptions> = {}) =>
  openDropFolder({ name: 'drop', folder, after: 'keep', clock, ...options });
const put = (name: string, text: string) => writeFile(join(folder, name), text);

/** Content of a source in the outbox. */
interface Position {
  readonly cursor: Json;
  readonly processed: ReadonlySet<string>;
}
const START: Position = { cursor: null, processed: new Set() };
const signal = new AbortController().signal;

/** The position once a batch is durable. */
function after({ processed }: Position, batch: Batch): Position {
  const { add = [], remove = [] } = batch.processed ?? {};
  return {
    cursor: batch.cursor,
    processed: new Set([...processed].filter((each) => !remove.includes(each)).concat(add)),
  };
}

/** A complete poll, or one that ends after `most` batches. */
async function poll(source: ReturnType<typeof open>, from: Position = START, most = 1000) {
  const batches = await collectBatches(source, { ...from, since: 0, most });
  return { batches, found: outline(batches.flatMap(({ found }) => found)), position: batches.reduce(after, from) };
}

describe('a file', () => {
  const stats = { size: 5, mtimeMs: 1000, ino: 1 };
  it('is settled when its modification time and content have been unchanged for long enough', () => {
    const first = readFileStat(undefined, stats, 1500);
    expect(isSettled(first, 1500)).toBe(false);
    expect(isSettled(first, 3000)).toBe(true);
    // A clock that was set back, or another machine's: the content decides.
    const ahead = readFileStat(undefined, { ...stats, mtimeMs: 1e9 }, 1500);
    expect(isSettled(readFileStat(ahead, { ...stats, mtimeMs: 1e9 }, 3400), 3400)).toBe(false);
    expect(isSettled(readFileStat(ahead, { ...stats, mtimeMs: 1e9 }, 3500), 3500)).toBe(true);
    expect(readFileStat(first, { ...stats, size: 6 }, 3500).since).toBe(3500);
  });
});

describe('a drop folder', () => {
  it('returns files in batches, with small files combined, then nothing', async () => {
    await put('b.ndjson', records('3', '4', '5'));
    await put('a.ndjson', records('1', '2'));
    await Promise.all(['a', 'b'].map((name) => utimes(join(folder, `${name}.ndjson`), 1, 1)));
    for (const temporary of ['.x.json', 'x.json.tmp', 'x.part', '~x.csv', 'x.json~', 'x.crdownload']) {
      await put(temporary, records('no'));
    }
    await mkdir(join(folder, 'processed'));
    await put('processed/d.ndjson', records('no'));
    const source = open({ batch: 4 });
    const first = await poll(source);
    expect(first.batches.map(({ found }) => found.length)).toEqual([4, 1]);
    expect(first.found).toEqual(keys('1', '2', '3', '4', '5'));
    expect((await poll(source, first.position)).batches).toEqual([]);
  });

  it('returns the same keys for a renamed file with the same account', async () => {
    await put('a.ndjson', records('1'));
    expect((await poll(open({ name: 'renamed', account: 'drop' }))).found).toEqual(keys('1'));
    expect((await poll(open({ name: 'renamed' }))).found).toEqual(['file/renamed/1']);
  });

  it('returns long records in smaller batches', async () => {
    const long = (id: string) =>
      JSON.stringify({ id, parts: [{ role: 'user', body: 'x'.repeat(0.6 * MAX_BATCH_SIZE) }] });
    await put('long.ndjson', ['1', '2', '3'].map(long).join('\n'));
    const { batches } = await poll(open());
    expect(batches.map(({ found }) => found.length)).toEqual([2, 1]);
  });

  it('continues after the durable records after a crash, at every batch', async () => {
    await put('a.ndjson', records('1', '2', '3'));
    await put('b.ndjson', records('4', '5'));
    for (let crash = 1; crash <= 5; crash++) {
      const before = await poll(open({ batch: 1 }), START, crash);
      const after = await poll(open({ batch: 2 }), before.position);
      expect([...before.found, ...after.found]).toEqual(keys('1', '2', '3', '4', '5'));
    }
  });

  it('identifies a file by content and time, and does not read a renamed file again', async () => {
    await put('a.ndjson', records('1'));
    const { position } = await poll(open());
    await rename(join(folder, 'a.ndjson'), join(folder, 'z.ndjson'));
    expect((await poll(open(), position)).batches).toEqual([]);
    await appendFile(join(folder, 'z.ndjson'), record('2'));
    expect((await poll(open(), position)).found).toEqual(keys('1', '2'));
  });

  /** Creates a file that was written this many seconds after the first one. */
  const putAt = async (seconds: number, name: string, text: string) => {
    await put(name, text);
    await utimes(join(folder, name), 1_700_000_000 + seconds, 1_700_000_000 + seconds);
  };

  it('reads files by age, then by name in natural order', async () => {
    await putAt(9, 'a.ndjson', records('newest'));
    await putAt(5, '10.ndjson', records('ten'));
    await putAt(5, '2.ndjson', records('two'));
    await putAt(1, 'z.ndjson', records('oldest'));
    expect((await poll(open())).found).toEqual(keys('oldest', 'two', 'ten', 'newest'));
  });

  it('reads a file again that returns to an earlier version under another name', async () => {
    await putAt(1, 'first.ndjson', records('A'));
    await putAt(2, 'second.ndjson', records('B'));
    await putAt(3, 'third.ndjson', records('A'));
    const together = await poll(open());
    expect(together.found).toEqual(keys('A', 'B', 'A'));
    await putAt(4, 'fourth.ndjson', records('B'));
    const later = await poll(open(), together.position);
    expect(later.found).toEqual(keys('B'));
    expect((await poll(open(), later.position)).batches).toEqual([]);
  });

  it('reads a file again that was replaced or removed in the meantime', async () => {
    await put('a.ndjson', records('1'));
    const first = await poll(open());
    await put('a.ndjson', records('2'));
    const second = await poll(open(), first.position);
    await put('a.ndjson', records('1'));
    const third = await poll(open(), second.position);
    expect(third.found).toEqual(keys('1'));
    await rm(join(folder, 'a.ndjson'));
    expect((await poll(open(), third.position)).position).toEqual({ cursor: { file: null }, processed: new Set() });
  });

  it('reads each of many small files once while they stay in the folder', async () => {
    const names = Array.from({ length: countCases({ sample: 1200, ci: 4200, full: 4200 }) }, (_, index) => `${index}`);
    for (const name of names) {
      await put(`${name}.ndjson`, record(name));
    }
    const source = open();
    const { found, position } = await poll(source);
    expect(new Set(found)).toEqual(new Set(keys(...names)));
    const afterRestart = await poll(open(), position);
    expect(afterRestart.batches).toEqual([]);
  });

  it('records many small files with space and writes linear in their number', async () => {
    const written = async (count: number) => {
      for (let index = 0; index < count; index++) {
        await put(`${index}.ndjson`, record(`${index}`));
      }
      const { batches } = await poll(open({ batch: 10 }));
      return batches.reduce((size, { cursor, processed }) => size + JSON.stringify([cursor, processed]).length, 0);
    };
    const once = await written(200);
    expect((await written(400)) / once).toBeLessThan(2.2);
  });

  it('finds a free name among many copies without trying each', async () => {
    const reader = new FolderReader({ folder, after: 'move', clock });
    const copies = 300;
    await mkdir(join(folder, 'processed'));
    await put('processed/a.csv', '1');
    for (let copy = 2; copy <= copies; copy++) {
      await put(`processed/${copy}-a.csv`, `${copy}`);
    }
    await put('a.csv', 'new');
    const { files } = await reader.list(signal);
    expect(await reader.moveOrDelete(files[0] as DroppedFile)).toBe(true);
    expect(await readFile(join(folder, `processed/${copies + 1}-a.csv`), 'utf8')).toBe('new');
  });

  it('moves or deletes a file only after its final cursor is stored', async () => {
    await put('a.ndjson', records('1'));
    const first = await poll(open({ after: 'move' }));
    expect(await readdir(folder)).toEqual(['a.ndjson']);
    await poll(open({ after: 'move' }), first.position);
    expect(await readdir(folder)).toEqual(['processed']);
    await put('a.ndjson', records('2'));
    const second = await poll(open({ after: 'move' }), first.position);
    await poll(open({ after: 'move' }), second.position);
    expect((await readdir(join(folder, 'processed'))).toSorted()).toEqual(['2-a.ndjson', 'a.ndjson']);
    expect(await readFile(join(folder, 'processed/a.ndjson'), 'utf8')).toBe(records('1'));
    await put('b.ndjson', records('3'));
    const third = await poll(open({ after: 'delete' }), second.position);
    await poll(open({ after: 'delete' }), third.position);
    expect(await readdir(folder)).toEqual(['processed']);
  });

  it('waits for a file that is being written, and defers it to the next poll if it keeps changing', async () => {
    await put('a.ndjson', records('1'));
    const path = join(folder, 'a.ndjson');
    await utimes(path, now / 1000, now / 1000);
    slept = async () => {
      await appendFile(path, record('2'));
      await utimes(path, now / 1000, now / 1000);
    };
    const source = open();
    expect((await poll(source)).batches).toEqual([]);
    slept = null;
    expect((await poll(source)).found).toEqual(keys('1', '2'));
  });

  it('reads a file again that changed while it was read', async () => {
    await put('a.ndjson', records('1', '2', '3'));
    const source = open({ batch: 1 });
    let position = START;
    for await (const batch of source.poll({ ...START, since: 0, signal })) {
      position = after(position, batch);
      await appendFile(join(folder, 'a.ndjson'), '');
      await utimes(join(folder, 'a.ndjson'), 1, 1);
      await writeFile(join(folder, 'a.ndjson'), records('1', '2', '3', '4'));
    }
    now += 600_000;
    const { found } = await poll(source, position);
    expect(found).toContain('file/drop/4');
  });

  it('rejects anything but regular files once, and reads the rest', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'octavo-outside-'));
    try {
      await writeFile(join(outside, 'secret.ndjson'), records('no'));
      await symlink(join(outside, 'secret.ndjson'), join(folder, 'out.ndjson'));
      await symlink(join(folder, 'none'), join(folder, 'nowhere.ndjson'));
      await mkdir(join(folder, 'x.json'));
      await put('good.ndjson', records('1'));
      await put('empty.json', '');
      await link(join(folder, 'good.ndjson'), join(folder, 'same.ndjson'));
      const source = open();
      const first = await poll(source);
      expect(first.found.toSorted()).toEqual([
        'empty.json:1 the file is empty',
        // The same file was created under another name at the same time: it is read once.
        ...keys('1'),
        'nowhere.ndjson:1 is a symbolic link that is broken or leads out of the folder',
        'out.ndjson:1 is a symbolic link that is broken or leads out of the folder',
        'x.json:1 is a directory; only files directly in the folder are read',
      ]);
      expect((await poll(source, first.position)).batches).toEqual([]);
    } finally {
      await rm(outside, { recursive: true, force: true });
    }
  });

  it('writes rejected records to a reject file, which it does not read', async () => {
    await put('a.ndjson', `${record('1')}{"half\n`);
    const elsewhere = join(folder, 'rejects');
    await mkdir(elsewhere);
    const first = await poll(open());
    await poll(open(), first.position);
    await poll(open({ rejects: elsewhere }));
    const line = '{"line":2,"record":1,"reason":"is not valid JSON"}\n';
    expect(await readFile(join(folder, 'a.ndjson.rejects.ndjson'), 'utf8')).toBe(line);
    expect(await readFile(join(elsewhere, 'a.ndjson.rejects.ndjson'), 'utf8')).toBe(line);
  });

  it('reports a missing folder, and refuses to fetch single tickets', async () => {
    await expect(poll(open({ folder: join(folder, 'none') }))).rejects.toThrow(/cannot read the folder/);
    await expect(open().fetch('1', new AbortController().signal)).rejects.toThrow(/no single tickets/);
  });

  it('notices a file that is moved into it', async () => {
    const source = open();
    let reports = 0;
    let resolveNext = () => {};
    const nextReport = () => new Promise<void>((resolve) => (resolveNext = resolve));
    const stop = source.watch(() => {
      reports += 1;
      resolveNext();
    });
    try {
      // The watcher reports nothing until it has started: files are added until it does.
      let attempt = 0;
      while (reports === 0) {
        attempt += 1;
        await put('.a.tmp', `${attempt}`);
        await rename(join(folder, '.a.tmp'), join(folder, `a${attempt}.ndjson`));
        await new Promise((resolve) => setImmediate(resolve));
      }
      const next = nextReport();
      await put('.b.tmp', record('2'));
      await rename(join(folder, '.b.tmp'), join(folder, 'b.ndjson'));
      await next;
    } finally {
      await stop();
    }
    expect(reports).toBeGreaterThan(0);
  });
});

it('rejects a file whose name is not UTF-8, once and with the reason', async () => {
  const name = Buffer.concat([Buffer.from(join(folder, 'caf')), Buffer.of(0xe9), Buffer.from('.json')]);
  await writeFile(name, records('1'));
  await put('café.json', records('2'));
  const source = open();
  const first = await poll(source);
  expect(first.batches.flatMap(({ found }) => found)).toEqual([
    expect.objectContaining({ kind: 'rejected', reason: expect.stringContaining('has a name that is not UTF-8') }),
    expect.objectContaining({ kind: 'ticket' }),
  ]);
  expect((await readdir(folder)).filter((each) => each.endsWith('.rejects.ndjson'))).toHaveLength(1);
  expect((await poll(source, first.position)).found).toEqual([]);
});
