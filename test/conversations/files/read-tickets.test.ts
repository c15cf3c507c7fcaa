import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileInput, linesOf, type TicketRecord } from '../../../src/conversations/sources/files/input.ts';
import { readTickets } from '../../../src/conversations/sources/files/read-tickets.ts';
import { SourceError } from '../../../src/core/errors.ts';
import { outline, read } from './inputs.ts';

const record = '{"id":"a","parts":[{"role":"user","body":"x"}]}';
const zip = Buffer.from([0x50, 0x4b, 3, 4, 20, 0, 0, 0, 8, 0, 1, 2]);

async function readPath(path: string): Promise<string[]> {
  const found: TicketRecord[] = [];
  for await (const each of readTickets(path, { account: 'acme' })) {
    found.push(each);
  }
  return outline(found.map((each) => each.found));
}

it.each(['x.csv', 'x.eml', 'x.ndjson', 'x'])('rejects %s if it is a Git LFS pointer', async (name) => {
  const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n';
  expect(outline(await read(name, pointer))).toEqual([
    `${name}:1 is a Git LFS pointer and not the content of the file`,
  ]);
});

describe('the format of a file', () => {
  it.each([
    ['json', `[${record}]`],
    ['json', `\n {\n  "tickets": [${record}] }`],
    ['ndjson', `${record}\n${record}\n{"id":`],
    ['ndjson', `{"id":"half\n${record}\n`],
    ['csv', 'ticket_id;author_role;body\na;user;x\n'],
    ['mbox', 'From a@x.example Mon Jan  5 10:00:00 2026\nFrom: a@x.example\nDate: x\n\nhello\n'],
    ['eml', 'Received: from x\nFrom: a@x.example\n\nhello\n'],
  ])('is detected from the first bytes: %s (%#)', async (_, text) => {
    const outlines = outline(await read('without-an-end', text));
    expect(outlines.some((each) => /^(?:file\/acme\/a|mail\/\w+)$/.test(each))).toBe(true);
  });

  it.each([
    ['x.json', '', 'the file is empty'],
    ['x.csv', '', 'the file is empty'],
    ['x.mbox', '', 'the file is empty'],
    ['x.json', zip, 'is not text; it looks like an archive or another binary file'],
    ['x.csv', gzipSync('x'.repeat(100)), 'is not text; it looks like an archive or another binary file'],
    ['x.ndjson', Buffer.from(record, 'utf16le'), 'is not text; it looks like an archive or another binary file'],
    ['x', 'Dear all, hello', 'is not JSON, NDJSON, CSV, eml or mbox'],
    ['x', 'no\nformat', 'is not JSON, NDJSON, CSV, eml or mbox'],
  ])('of %s is rejected once with a reason (%#)', async (name, content, reason) => {
    expect(outline(await read(name, content))).toEqual([`${name}:1 ${reason}`]);
  });
});

describe('a file on disk', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'octavo-files-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is rejected if it is missing, a folder or a broken link', async () => {
    await mkdir(join(folder, 'x.json'));
    await symlink(join(folder, 'nowhere'), join(folder, 'link.json'));
    expect(await readPath(join(folder, 'x.json'))).toEqual(['x.json:1 cannot be read: it is a directory']);
    expect(await readPath(join(folder, 'link.json'))).toEqual(['link.json:1 cannot be read: file not found']);
  });

  it.skipIf(process.getuid?.() === 0)('is rejected without read permission', async () => {
    await writeFile(join(folder, 'x.json'), record);
    await chmod(join(folder, 'x.json'), 0);
    expect(await readPath(join(folder, 'x.json'))).toEqual(['x.json:1 cannot be read: no permission (EACCES)']);
  });

  it('is retried after a disk error', async () => {
    let opened = 0;
    const input: FileInput = {
      name: 'x.ndjson',
      async *open() {
        yield Buffer.from(`${record}\n`);
        opened += 1;
        if (opened > 1) {
          throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' });
        }
      },
    };
    const reading = async () => {
      for await (const each of readTickets(input, { account: 'acme' })) {
        expect(each.index).toBe(0);
      }
    };
    await expect(reading()).rejects.toThrow(SourceError);
  });
});

describe('a line of 100 MB', () => {
  it('is reported by its number, without buffering more than the limit', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    async function* chunks() {
      yield Buffer.from('first\n');
      for (let sent = 0; sent < 100; sent++) {
        yield chunk;
      }
      yield Buffer.from('\nlast');
    }
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const lines: (string | undefined)[] = [];
    for await (const some of linesOf(chunks(), 16 * 1024 * 1024)) {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      lines.push(...some.map(({ number, bytes }) => `${number} ${bytes?.toString() ?? 'too long'}`));
    }
    expect(lines).toEqual(['1 first', '2 too long', '3 last']);
    expect(most).toBeLessThan(17 * 1024 * 1024);
  });
});
