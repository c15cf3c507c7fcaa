import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codePoint } from '../../support/code-points.ts';
import { outline, read, ticketsOf } from './inputs.ts';

const conversation = (id: string, body = 'How do I export?') => ({
  id,
  subject: 'Export',
  parts: [
    { type: 'message', role: 'user', body },
    { type: 'message', role: 'team-member', body: 'In the menu.' },
  ],
  metadata: { url: 'https://x.example/1', attributes: { plan: 'pro' }, createdAt: '2026-01-02T03:04:05Z' },
});
const line = (id: string, body?: string) => JSON.stringify(conversation(id, body));
const zendesk = (id: number, more: object = {}) => ({
  id,
  url: `https://Acme.zendesk.com/api/v2/tickets/${id}.json`,
  subject: 'Export',
  status: 'solved',
  created_at: '2026-01-02T03:04:05Z',
  updated_at: '2026-01-03T03:04:05Z',
  requester_id: 7,
  requester: { id: 7, name: 'Ana Lima', email: 'ana@x.example' },
  tags: ['billing', 'vip'],
  via: { channel: 'email' },
  comments: [
    { id: 1, author_id: 7, public: true, plain_body: 'Plain', body: '<b>no</b>', created_at: '2026-01-02T03:04:05Z' },
    { id: 2, author_id: 9, public: false, body: 'internal note', created_at: '2026-01-02T04:04:05Z' },
    { id: 3, author_id: 9, public: true, body: 'Answer', created_at: '2026-01-02T05:04:05Z' },
  ],
  ...more,
});

describe('native JSON', () => {
  const shapes: [string, string][] = [
    ['one.json', line('a')],
    ['one.json', JSON.stringify(conversation('a'), null, 2)],
    ['array.json', JSON.stringify([conversation('a'), conversation('b')], null, 2)],
    [
      'list.json',
      JSON.stringify({ next: [1, { tickets: [] }], tickets: [conversation('a'), conversation('b')], n: [2] }),
    ],
    ['list.json', JSON.stringify({ conversations: [conversation('a')], end: { tickets: [{}] } }, null, 4)],
    ['lines.ndjson', `${line('a')}\r\n\r\n  \n${line('b')}\r\n`],
    ['lines.json', `${line('a')}\n${line('b')}\n`],
    ['lines', `${line('a')}\n${line('b')}`],
    ['mark.json', `\uFEFF[${line('a')}]`],
    ['mark.ndjson', `\uFEFF${line('a')}\n`],
  ];
  it.each(shapes)('reads %s in chunks of any size: %#', async (name, text) => {
    const whole = await read(name, text);
    expect(ticketsOf(whole)[0]).toEqual({
      key: 'file/acme/a',
      subject: 'Export',
      createdAt: '2026-01-02T03:04:05.000Z',
      settledAt: null,
      url: 'https://x.example/1',
      attributes: { plan: 'pro' },
      parts: [
        { role: 'user', body: 'How do I export?' },
        { role: 'team-member', body: 'In the menu.' },
      ],
      people: [],
      completeness: null,
    });
    expect(outline(whole)).toEqual(['file/acme/a', 'file/acme/b'].slice(0, whole.length));
    for (const chunk of [1, 2, 3, 7]) {
      expect(await read(name, text, {}, chunk)).toEqual(whole);
    }
  });

  it('reads UTF-16 in both byte orders', async () => {
    const little = Buffer.from(`\uFEFF[${line('a', 'Größe 😀')}]`, 'utf16le');
    for (const bytes of [little, Buffer.from(little).swap16()]) {
      for (const chunk of [1, 5, 4096]) {
        expect(ticketsOf(await read('x.json', bytes, {}, chunk))[0]?.parts[0]?.body).toBe('Größe 😀');
      }
    }
  });

  it('converts HTML to text, keeps Markdown, and skips empty parts', async () => {
    const parts = (...each: [string, string][]) => ({ id: 'a', parts: each.map(([role, body]) => ({ role, body })) });
    const found = await read(
      'x.json',
      JSON.stringify([
        parts(['user', '<p>Hi<br>you</p>'], ['user', '**a** <br> b'], ['user', ' ']),
        parts(['user', ' ']),
        parts(['assistant', 'x']),
      ]),
    );
    expect(ticketsOf(found)[0]?.parts.map(({ body }) => body)).toEqual(['Hi\nyou', '**a** <br> b']);
    expect(outline(found).slice(1)).toEqual(['file/acme/a empty', 'file/acme/a no-customer']);
  });

  it('reports the problem and line of a record without its content', async () => {
    const secret = 'hunter2';
    const found = await read(
      'x.ndjson',
      [
        line('a'),
        `{"id":"${secret}","parts":`,
        `${secret}`,
        `{"id":5,"parts":[]}`,
        `{"id":"b","parts":[{"role":"${secret}","body":"x"}]}`,
        `{"id":"b","parts":[],"metadata":{"attributes":{"${secret}":1}}}`,
        `{"${secret}":1}`,
        '[1]',
        line('b'),
      ].join('\n'),
    );
    const neither = 'is neither a conversation (id, parts) nor a Zendesk ticket (id, status, comments)';
    expect(outline(found)).toEqual([
      'file/acme/a',
      'x.ndjson:2 is not valid JSON',
      'x.ndjson:3 is not valid JSON',
      'x.ndjson:4 id is missing or not of type string',
      'x.ndjson:5 parts.0.role must be user, assistant or team-member',
      'x.ndjson:6 metadata.attributes is missing or not of type string',
      `x.ndjson:7 ${neither}`,
      `x.ndjson:8 ${neither}`,
      'file/acme/b',
    ]);
  });

  it('continues after an invalid element of an array', async () => {
    const found = await read('x.json', `[\n${line('a')},\n{"id": nope},\ntrue, 5,"s" ,\n}, ${line('b')}\n]`);
    expect(outline(found).map((each) => each.replace(/ .*/, ''))).toEqual([
      'file/acme/a',
      'x.json:3',
      'x.json:4',
      'x.json:4',
      'x.json:4',
      'x.json:5',
      'file/acme/b',
    ]);
  });

  it('rejects a line that is too long without buffering it, and continues', async () => {
    const long = 'x'.repeat(5000);
    const lines = await read('x.ndjson', `${line('a')}\n{"id":"${long}\n${line('b')}`, { longest: 1000 }, 64);
    expect(outline(lines)).toEqual(['file/acme/a', 'x.ndjson:2 is larger than 1000 bytes', 'file/acme/b']);
    const array = await read('x.json', `[${line('a')},\n${line('l', long)},\n${line('b')}]`, { longest: 1000 }, 64);
    expect(outline(array)).toEqual(['file/acme/a', 'x.json:2 is larger than 1000 bytes', 'file/acme/b']);
  });

  it('rejects only the record that is not UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${line('a')}\n`),
      Buffer.from(line('ü'), 'latin1'),
      Buffer.from(`\n${line('b')}`),
    ]);
    expect(outline(await read('x.ndjson', bytes))).toEqual(['file/acme/a', 'x.ndjson:2 is not UTF-8', 'file/acme/b']);
  });
});

describe('a Zendesk export', () => {
  it.each([
    ['array', JSON.stringify([zendesk(1)])],
    ['list', JSON.stringify({ tickets: [zendesk(1)], count: 1 })],
    ['lines', `${JSON.stringify(zendesk(1))}\n`],
  ])('as %s is read with public comments, roles and people', async (_, text) => {
    expect(ticketsOf(await read('export.json', text))).toEqual([
      {
        key: 'zendesk/acme/1',
        subject: 'Export',
        createdAt: '2026-01-02T03:04:05Z',
        settledAt: Date.parse('2026-01-03T03:04:05Z'),
        url: 'https://acme.zendesk.com/agent/tickets/1',
        attributes: { channel: 'email', tags: 'billing, vip' },
        parts: [
          { role: 'user', body: 'Plain' },
          { role: 'team-member', body: 'Answer' },
        ],
        people: [{ names: ['Ana Lima'], emails: ['ana@x.example'] }],
        completeness: null,
      },
    ]);
  });

  it('skips ineligible tickets, and uses the account of the folder if the ticket names none', async () => {
    const own = { id: 1, author_id: 7, public: true, body: 'x' };
    const found = await read(
      'export.ndjson',
      [
        zendesk(1, { status: 'open' }),
        zendesk(2, { status: 'deleted' }),
        zendesk(3, { tags: ['closed_by_merge'] }),
        zendesk(4, { comments: [{ ...own, public: false }] }),
        zendesk(5, { comments: [{ ...own, body: ' ' }] }),
        zendesk(6, { comments: [{ ...own, author_id: 9 }] }),
        zendesk(7, { comments: [{ id: 1, author_id: 7, body: 'does not say that it is public' }] }),
        zendesk(8, { url: null }),
        zendesk(9, { comments: undefined }),
        zendesk(10, { status: 5 }),
        zendesk(11, { comment_count: 9 }),
      ]
        .map((each) => JSON.stringify(each))
        .join('\n'),
      { account: 'other' },
    );
    expect(outline(found)).toEqual([
      'zendesk/acme/1 open',
      'zendesk/acme/2 gone',
      'zendesk/acme/3 merged',
      'zendesk/acme/4 private',
      'zendesk/acme/5 empty',
      'zendesk/acme/6 no-customer',
      'zendesk/acme/7 private',
      'zendesk/other/8',
      'export.ndjson:9 comments is missing or does not match the Zendesk export format',
      'export.ndjson:10 status is missing or does not match the Zendesk export format',
      'zendesk/acme/11',
    ]);
    expect(ticketsOf(found).at(-1)?.completeness).toEqual({ reported: 9, fetched: 3 });
  });

  it('orders comments by date, and converts HTML only if there is no plain text', async () => {
    const comments = [
      { author_id: 9, public: true, html_body: '<p>Second</p>', created_at: '2026-01-02T05:00:00Z' },
      { author: { id: 3, role: 'end-user' }, public: true, body: 'First', created_at: '2026-01-02T03:00:00Z' },
    ];
    expect(ticketsOf(await read('x.json', JSON.stringify([zendesk(1, { comments })])))[0]?.parts).toEqual([
      { role: 'user', body: 'First' },
      { role: 'team-member', body: 'Second' },
    ]);
  });
});

const body = fc.string({ unit: codePoint, minLength: 1 }).filter((text) => text.trim() !== '' && !/^\s*</.test(text));
// The schema drops an attribute of that name, because it would change the record's type.
const attributeName = fc.string({ unit: 'grapheme' }).filter((name) => name !== '__proto__');
const native = fc.record({
  id: fc.string({ unit: 'grapheme', minLength: 1 }),
  subject: fc.string({ unit: 'grapheme' }),
  parts: fc.tuple(
    fc.record({ role: fc.constant('user' as const), body }),
    fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const, 'team-member' as const), body }),
  ),
  metadata: fc.record({ attributes: fc.dictionary(attributeName, fc.string({ unit: 'grapheme' })) }),
});
// A lone surrogate is not valid text, and UTF-8 cannot encode it.
const natives = fc
  .array(native, { minLength: 1, maxLength: 6 })
  .map((all) => JSON.parse(JSON.stringify(all).toWellFormed()) as typeof all);
const written = {
  'x.json': (all: readonly unknown[]) => JSON.stringify(all),
  'y.json': (all: readonly unknown[]) => JSON.stringify({ count: 1, tickets: all, after: [1] }, null, 1),
  'x.ndjson': (all: readonly unknown[]) => all.map((each) => JSON.stringify(each)).join('\n'),
};

describe.each(Object.entries(written))('%s', (name, write) => {
  it('is read unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(natives, fc.integer({ min: 1, max: 100 }), async (all, chunk) => {
        const tickets = ticketsOf(await read(name, write(all), {}, chunk));
        expect(tickets.map(({ key, subject, parts, attributes }) => ({ key, subject, parts, attributes }))).toEqual(
          all.map(({ id, subject, parts, metadata }) => ({
            key: `file/acme/${id}`,
            subject,
            parts,
            attributes: metadata.attributes,
          })),
        );
      }),
      { numRuns: 60 },
    );
  });

  it('keeps every record before the end of a truncated file', async () => {
    await fc.assert(
      fc.asyncProperty(natives, fc.double({ min: 0, max: 1, noNaN: true }), async (all, share) => {
        const bytes = Buffer.from(write(all));
        const cut = Math.floor(share * bytes.length);
        const whole = await read(name, bytes);
        const found = await read(name, bytes.subarray(0, cut));
        const kept = ticketsOf(found);
        expect(kept).toEqual(ticketsOf(whole).slice(0, kept.length));
        // A record is complete at the end of its own text: what follows does not matter.
        const complete = all.filter((_, index) => endOf(bytes, all, index) <= cut).length;
        expect(kept.length).toBeGreaterThanOrEqual(complete);
        expect(found.length > kept.length || kept.length === whole.length || cut === 0 || isBetween(bytes, cut)).toBe(
          true,
        );
      }),
      { numRuns: 100 },
    );
  });
});

/** Position of the end of a record's text. */
function endOf(bytes: Buffer, all: readonly unknown[], index: number): number {
  const indent = bytes.includes('\n  {') ? 1 : undefined;
  let at = 0;
  for (const each of all.slice(0, index + 1)) {
    const text = JSON.stringify(each, null, indent).replaceAll('\n', indent === undefined ? '\n' : '\n  ');
    at = bytes.indexOf(text, at) + Buffer.byteLength(text);
  }
  return at;
}

/** A cut between two lines of NDJSON leaves no broken record. */
function isBetween(bytes: Buffer, cut: number): boolean {
  return bytes[cut] === 0x0a || bytes[cut - 1] === 0x0a;
}
