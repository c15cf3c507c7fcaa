/** Longest stretch of the main thread while the slowest texts are delivered by a webhook, or dropped as files. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook as Signer } from 'standardwebhooks';
import { afterEach, expect, test, vi } from 'vitest';
import { createIdPseudonymizer } from '../../src/conversations/private-ids.ts';
import { RedactionThreads } from '../../src/conversations/redact/redaction-threads.ts';
import { createConversationRedactor } from '../../src/conversations/redact/redactor.ts';
import { TicketFileReader } from '../../src/conversations/sources/files/read-tickets.ts';
import { foundOfNative, standardWebhook } from '../../src/conversations/sources/own-format.ts';
import { foundOfExport } from '../../src/conversations/sources/zendesk-ticket.ts';
import { systemClock } from '../../src/core/clock.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { makeFolder } from '../git/repository.ts';
import { pickCases } from '../support/campaign.ts';
import { createIngestion } from '../support/helpdesk.ts';

/** Limit in milliseconds of CPU time of the main thread, which does not depend on what else the machine does. */
const LONGEST = 200;
/** Just below the largest request, in bytes. */
const SIZE = 4_900_000;

/** Values, and beginnings of values, of each finder: repeated, they are the slowest texts. */
const PIECES = [
  ...['4111 1111 1111 1111 ', '4111111111111111 ', '4111-1111-1111-1112-', '4111 1111 1111 111', '4111 '],
  ...['DE89 3704 0044 0532 0130 00 ', 'DE89370400440532013000', 'DE89 ', '123-45-6789 ', 'SSN: 123-45-6789 '],
  ...['passport: X1234567 ', 'CPF 123.456.789-09 ', 'born 12.03.1980 ', 'DOB: 1980-03-12\n', '12. März 1980 '],
  ...['+1 (555) ', '+1 202 555 0100 ', '(202) 555-0100 ', '202.', 'tel: 2025550100 ', '1 ', '12 34 ', '0 ', '+'],
  ...['Musterstraße 12, 12345 Berlin ', '12 Main Street, Springfield, IL 62701\n', 'Address: ', 'Anschrift: Weg 1\n'],
  ...['192.0.2.7 ', '2001:db8::1 ', '192.0.', '1:', '::', '00:1a:2b:3c:4d:5e ', '00-1a-2b-', '0011.2233.4455 '],
  ...[
    'ana@example.com ',
    'a@',
    'ana@example.',
    'ana=40example.com ',
    'ana (at) example (dot) com ',
    'ana at ',
    ' dot ',
  ],
  ...[
    'Ana Smith ',
    'Hi Ana,\n',
    'my name is Ana Smith. ',
    'Name: Ana Smith\n',
    'Regards,\nAna Smith\n',
    'I am Ana Smith, ',
  ],
  ...[
    'From: Ana Smith <ana@example.com>\n',
    '姓名：王伟\n',
    '王伟 ',
    '김철수님 ',
    '田中さん',
    'ana_smith.pdf ',
    'cv ana smith.pdf ',
  ],
  ...[
    'password: hunter2x9 ',
    'api_key=abcd1234efgh5678 ',
    'AKIAIOSFODNN7EXAMPLE ',
    'Bearer abcdefghijklmnop ',
    'curl -u a:b ',
  ],
  ...['https://u:p@h.example/ ', 'https://a.example/reset?token=abcdef123456 ', '-----BEGIN PRIVATE KEY-----\n', 'a='],
  ...[
    '| name | email |\n',
    'name\temail\nAna\tx\n',
    'a,b,c\n',
    '"',
    '&#64;',
    '%40',
    '=\n',
    '＠',
    '\u200b',
    '[PERSON_1]',
  ],
];

const KEY = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const createRedactor = () => createConversationRedactor({}, createIdPseudonymizer(Buffer.alloc(32, 1)));

function open(
  redactor = createRedactor(),
): (body: string) => Promise<{ readonly status: number; readonly longest: number }> {
  const ingestion = createIngestion({
    sources: [
      { name: 'crm', polling: null, webhook: standardWebhook({ name: 'crm', secrets: [KEY] }), every: 1, since: 0 },
    ],
    outbox: openMemoryStore().outbox('org_1', { items: 1000, bytes: 1e9 }),
    redactor,
    threads: new RedactionThreads({ redaction: {}, threads: 1, clock: systemClock }),
    clock: systemClock,
  });
  closing.push(() => ingestion.stop(0));
  let count = 0;
  return async (body) => {
    count += 1;
    const id = `msg_${count}`;
    const now = systemClock.now();
    const request = {
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now / 1000)),
        'webhook-signature': new Signer(KEY).sign(id, new Date(now), body),
      },
      body: Buffer.from(body),
      receivedAt: now,
    };
    const meter = new StretchMeter();
    const { status } = await ingestion.deliver('crm', request);
    return { status, longest: meter.stop() };
  };
}

/** Measures the CPU time of this thread between two turns of its event loop. */
class StretchMeter {
  #longest = 0;
  #last = process.threadCpuUsage();
  readonly #timer = setInterval(() => this.#turn(), 1);

  #turn(): void {
    const { user, system } = process.threadCpuUsage(this.#last);
    this.#longest = Math.max(this.#longest, (user + system) / 1000);
    this.#last = process.threadCpuUsage();
  }

  /** Returns the longest stretch in milliseconds. */
  stop(): number {
    this.#turn();
    clearInterval(this.#timer);
    return this.#longest;
  }
}

const conversation = (text: string) => ({ id: '1', parts: [{ type: 'message', role: 'user', body: text }] });

test.each(pickCases(PIECES, 1, 4))('5 MB of %j', { timeout: 300_000 }, async (piece) => {
  const deliver = open();
  await deliver(JSON.stringify(conversation('warm')));
  const bytes = Buffer.byteLength(JSON.stringify(piece)) - 2;
  const { status, longest } = await deliver(JSON.stringify(conversation(`x${piece.repeat(SIZE / bytes)}`)));
  expect(status).toBe(202);
  expect(longest).toBeLessThan(LONGEST);
});

test('an id that is read as English, in the first conversation', async () => {
  const deliver = open();
  const first = {
    ...conversation('I asked Anna Smith, and she has it.'),
    id: 'a note from Anna Smith, she has the key',
  };
  const { status, longest } = await deliver(JSON.stringify(first));
  expect(status).toBe(202);
  expect(longest).toBeLessThan(LONGEST / 4);
});

test('ids of conversations without a customer are read on the threads', async () => {
  const redactor = createRedactor();
  const text = vi.spyOn(redactor, 'text');
  const pseudonymize = vi.spyOn(redactor, 'pseudonymize');
  const news = [{ type: 'message', role: 'team-member', body: 'News' }];
  const list = Array.from({ length: 20 }, (_, at) => ({ id: `ana${at}@shop.example`, parts: news }));
  expect((await open(redactor)(JSON.stringify(list))).status).toBe(202);
  expect(pseudonymize).toHaveBeenCalledTimes(20);
  expect(text).not.toHaveBeenCalled();
});

const parts = (count: number, part: unknown) => ({ id: '1', parts: Array.from({ length: count }, () => part) });

test.each<[string, unknown, number]>([
  ['invalid parts', parts(400_000, {}), 400],
  ['parts of a letter', parts(90_000, { type: 'message', role: 'user', body: 'a' }), 202],
  ['tags without an end', conversation(`<p>${'<div>'.repeat(900_000)}</p>`), 202],
  [
    'a list',
    Array.from({ length: 1000 }, (_, at) => ({ ...conversation('4111 1111 '.repeat(450)), id: `${at}` })),
    202,
  ],
])('5 MB of %s', { timeout: 300_000 }, async (_, body, expected) => {
  const deliver = open();
  await deliver(JSON.stringify(conversation('warm')));
  const { status, longest } = await deliver(JSON.stringify(body));
  expect(status).toBe(expected);
  expect(longest).toBeLessThan(LONGEST);
});

/** Files that take their parsers long, or much memory: a beginning, and what follows it again and again. */
const FILES = [
  ['a.eml', 'From: a@b.example\nMessage-ID: <1@a>\n\n', '\n'],
  ['a.eml', 'From: a@b.example\nMessage-ID: <1@a>\n\n', '-- \n'],
  ['a.eml', 'From: a@b.example\nMessage-ID: <1@a>\n\n', 'On Mon, Jan 1 Ana wrote:\n'],
  ['a.eml', 'From: a@b.example\nContent-Type: text/html\n\n', '<table><tr><td>1</td></tr></table>\n'],
  ['a.eml', 'From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n', '--b\n'],
  ['a.mbox', 'From a@b.example Sat Jan  3 01:05:34 2026\nFrom: a@b.example\n\n', '> a\n'],
  ['a.csv', 'ticket_id,author_role,body\n1,user,', ','],
  ['a.csv', 'ticket_id,author_role,body\n1,user,"', '""'],
  ['a.csv', '', '\r'],
  ['a.json', '[{"id":"1","parts":[', '{},'],
  ['a.json', '', '[],'],
  ['a.ndjson', '{"id":"1","parts":[', '"a",'],
] as const;

test.each(pickCases(FILES, 1, 3))('4 MB in %s, which begins with %j, of %j', { timeout: 300_000 }, async (...file) => {
  const [name, head, piece] = file;
  const path = join(makeFolder(), name);
  const size = 4_000_000;
  writeFileSync(path, head + piece.repeat((size - head.length) / piece.length));
  await using reader = new TicketFileReader(systemClock);
  const meter = new StretchMeter();
  let records = 0;
  for await (const _record of reader.read({ path, size }, { account: 'a' }, new AbortController().signal)) {
    records += 1;
  }
  expect(records).toBeGreaterThan(0);
  expect(meter.stop()).toBeLessThan(LONGEST);
});

test('a file that takes too long is rejected', async () => {
  const path = join(makeFolder(), 'a.json');
  writeFileSync(path, '[]');
  await using reader = new TicketFileReader({ ...systemClock, sleep: async () => {} });
  const records = await Array.fromAsync(
    reader.read({ path, size: 20_000 }, { account: 'a' }, new AbortController().signal),
  );
  const reason = expect.stringMatching(/^cannot be read in 180 s and 1024 MB of memory; split the file$/);
  expect(records).toEqual([{ index: 0, found: { kind: 'rejected', place: 'a.json:1', reason } }]);
});

test.each<[string, () => object]>([
  ['conversation', () => foundOfNative(parts(400_000, {}), 'a')],
  ['Zendesk ticket', () => foundOfExport({ id: 1, status: 'solved', tags: [], comments: Array(400_000).fill(1) }, 'a')],
])('reports the first of 400,000 problems of a %s in a file', (_, read) => {
  const meter = new StretchMeter();
  expect(read()).toMatchObject({ problem: expect.stringMatching(/0/) });
  expect(meter.stop()).toBeLessThan(LONGEST);
});
