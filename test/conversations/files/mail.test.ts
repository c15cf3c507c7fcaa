import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { senderText } from '../../../src/conversations/sources/files/mail.ts';
import { outline, read, ticketsOf } from './inputs.ts';

interface Draft {
  readonly id?: string;
  readonly from?: string;
  readonly at?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}
const mail = ({
  id,
  from = 'Ana Lima <ana@x.example>',
  at = '05 Jan 2026 10:00:00 +0000',
  headers = [],
  body = 'Hello',
}: Draft) =>
  [
    `From: ${from}`,
    'To: Support <help@acme.example>',
    `Date: ${at}`,
    ...(headers.some((each) => /^subject:/i.test(each)) ? [] : ['Subject: Export']),
    ...(id === undefined ? [] : [`Message-ID: <${id}>`]),
    ...headers,
    '',
    body,
    '',
  ].join('\r\n');
const mbox = (...mails: string[]) =>
  mails.map((each) => `From ana@x.example Mon Jan  5 10:00:00 2026\r\n${each}\r\n`).join('');
const thread = [
  mail({ id: 'a@x', at: '05 Jan 2026 10:00:00 +0000', body: 'How do I export?' }),
  mail({
    id: 'b@acme',
    from: 'Bo <bo@acme.example>',
    at: '05 Jan 2026 11:00:00 +0000',
    headers: ['References: <a@x>', 'Cc: "Cy, the third" <cy@x.example>'],
    body: 'In the menu.\r\n\r\n-- \r\nBo, Acme\r\n\r\nOn Mon, Jan 5, 2026 at 10:00 AM Ana Lima <ana@x.example> wrote:\r\n> How do I export?',
  }),
  mail({ id: 'c@x', at: '05 Jan 2026 14:00:00 +0200', headers: ['In-Reply-To: <b@acme>'], body: 'Thanks!' }),
];

describe('a mailbox', () => {
  it('becomes one ticket per thread, ordered by date, without quotations and signatures', async () => {
    const mails = mbox(...thread, mail({ id: 'other@x', body: 'Same subject, another matter' }));
    const found = await read('x.mbox', mails, { teamDomains: ['acme.example'] });
    expect(ticketsOf(found)).toEqual([
      {
        key: expect.stringMatching(/^mail\/[0-9a-f]{40}$/),
        subject: 'Export',
        createdAt: '2026-01-05T10:00:00.000Z',
        settledAt: Date.parse('2026-01-05T12:00:00Z'),
        url: null,
        attributes: { channel: 'email' },
        parts: [
          { role: 'user', body: 'How do I export?' },
          { role: 'team-member', body: 'In the menu.' },
          { role: 'user', body: 'Thanks!' },
        ],
        people: [
          { names: ['Ana Lima'], emails: ['ana@x.example'] },
          { names: ['Support'], emails: ['help@acme.example'] },
          { names: ['Bo'], emails: ['bo@acme.example'] },
          { names: ['Cy, the third'], emails: ['cy@x.example'] },
        ],
        completeness: null,
        mails: { ids: [expect.anything(), expect.anything(), expect.anything()], links: expect.any(Array) },
      },
      expect.objectContaining({ parts: [{ role: 'user', body: 'Same subject, another matter' }] }),
    ]);
  });

  it('keeps the key of a thread whose first mail is missing', async () => {
    const [whole] = ticketsOf(await read('x.mbox', mbox(...thread)));
    const [rest] = ticketsOf(await read('x.mbox', mbox(thread[1] as string), { teamDomains: ['x.example'] }));
    expect(rest?.key).toBe(whole?.key);
  });

  it('recognizes the team by its domains and subdomains only', async () => {
    const from = (address: string, id: string) =>
      mail({ id, from: address, headers: ['References: <root@x>'], body: address });
    const found = await read(
      'x.mbox',
      mbox(from('bo@eu.acme.example', '1@x'), from('ana@x.example', '2@x'), from('eve@notacme.example', '3@x')),
      { teamDomains: ['Acme.example'] },
    );
    expect(ticketsOf(found)[0]?.parts.map(({ role }) => role)).toEqual(['team-member', 'user', 'user']);
    const team = await read('x.mbox', mbox(from('bo@acme.example', '1@x')), { teamDomains: ['acme.example'] });
    // The customer's text may be in another file.
    expect(ticketsOf(team)[0]?.parts.map(({ role }) => role)).toEqual(['team-member']);
    const unknown = await read('x.mbox', mbox(from('bo@acme.example', '1@x'), from('ana@x.example', '2@x')));
    expect(ticketsOf(unknown)[0]?.parts.map(({ role }) => role)).toEqual(['user', 'user']);
  });

  it.each([
    ['Auto-Submitted: auto-replied', 'bulk'],
    ['Precedence: bulk', 'bulk'],
    ['Precedence: list', 'bulk'],
    ['List-Id: <news.x.example>', 'bulk'],
    ['Return-Path: <>', 'bulk'],
    ['Content-Type: multipart/report; boundary=x; report-type=delivery-status', 'bulk'],
    ['X-Spam-Flag: YES', 'spam'],
  ])('skips %s', async (header, reason) => {
    const machine = mail({ id: 'm@x', headers: [header, 'References: <a@x>'] });
    expect(outline(await read('x.mbox', mbox(machine)))).toEqual([expect.stringMatching(new RegExp(` ${reason}$`))]);
    const [ticket] = ticketsOf(await read('x.mbox', mbox(thread[0] as string, machine)));
    expect(ticket?.parts).toHaveLength(1);
  });

  it('removes the escapes of mboxrd, and splits mails only at separators', async () => {
    const body = 'See:\r\n\r\n>From the menu\r\n>>From here\r\nFrom now on it works\r\n\r\nFrom all of us, thanks';
    const found = await read('x.mbox', mbox(mail({ id: 'a@x', body })));
    expect(found).toHaveLength(1);
    // A line that still begins with > is a quotation.
    expect(ticketsOf(found)[0]?.parts[0]?.body).toContain('From the menu');
  });

  it('rejects an invalid mail with its line, and continues', async () => {
    const nested = Array.from(
      { length: 60 },
      (_, level) => `--b${level}\r\nContent-Type: multipart/mixed; boundary=b${level + 1}\r\n\r\n`,
    );
    const deep = mail({ id: 'd@x', headers: ['Content-Type: multipart/mixed; boundary=b0'], body: nested.join('') });
    const found = await read(
      'x.mbox',
      mbox(thread[0] as string, 'Note: x\r\n\r\nnothing like a mail\r\n', deep, mail({ id: 'z@x' })),
    );
    expect(outline(found)).toEqual([
      expect.stringMatching(/^mail\//),
      'x.mbox:10 is not a mail: From, Date and Message-ID are missing',
      expect.stringMatching(/^x\.mbox:15 is a mail that cannot be read/),
      expect.stringMatching(/^mail\//),
    ]);
  });

  it('rejects a mail that is too large, and continues', async () => {
    const large = mail({ id: 'l@x', body: 'x'.repeat(3000) });
    expect(outline(await read('x.mbox', mbox(large, mail({ id: 'z@x' })), { longest: 1000 }))).toEqual([
      'x.mbox:1 is larger than 2000 bytes',
      expect.stringMatching(/^mail\//),
    ]);
  });

  it('accepts circular, self-referring and endless References', async () => {
    const cycle = [
      mail({ id: 'a@x', headers: ['References: <b@x> <a@x>'] }),
      mail({ id: 'b@x', headers: ['References: <a@x>', `In-Reply-To: <${'x'.repeat(5000)}>`] }),
      mail({ id: 'c@x', headers: [`References: <b@x> ${'<q@x>\r\n '.repeat(20_000)}<r@x>`] }),
    ];
    expect(ticketsOf(await read('x.mbox', mbox(...cycle)))).toMatchObject([{ parts: { length: 3 } }]);
  });

  it('keeps every mail before the end of a truncated file', async () => {
    const bytes = Buffer.from(mbox(mail({ id: '1@x' }), mail({ id: '2@x' }), mail({ id: '3@x' })));
    const whole = ticketsOf(await read('x.mbox', bytes));
    for (let cut = 0; cut < bytes.length; cut += 1) {
      const found = await read('x.mbox', bytes.subarray(0, cut));
      const complete = Math.floor(cut / (bytes.length / 3));
      expect(ticketsOf(found).slice(0, complete)).toEqual(whole.slice(0, complete));
    }
  });

  it('is rejected without a separator line', async () => {
    expect(outline(await read('x.mbox', 'Dear all,\r\n\r\nhello\r\n'))).toEqual([
      'x.mbox:1 is not a mail: From, Date and Message-ID are missing',
    ]);
  });
});

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'ß', '😀', 'é', '中'), minLength: 1, maxLength: 8 });
const words = fc
  .array(fc.array(word, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 })
  .map((lines) => lines.map((line) => line.join(' ')).join('\n'));
const conversations = fc.array(
  fc.record({
    subject: word,
    mails: fc.array(fc.record({ team: fc.boolean(), words }), { maxLength: 4 }),
    first: words,
  }),
  { minLength: 1, maxLength: 4 },
);

describe('generated threads as a mailbox', () => {
  it('are read unchanged in any order of mails, and in chunks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(conversations, fc.boolean(), fc.integer({ min: 1, max: 99 }), async (all, isReversed, chunk) => {
        const mails = all.flatMap(({ subject, mails: replies, first }, thread) =>
          [{ team: false, words: first }, ...replies].map((each, index) =>
            mail({
              id: `${thread}-${index}@x`,
              from: each.team ? 'bo@acme.example' : 'ana@x.example',
              at: new Date(Date.UTC(2026, 0, 5, thread, index)).toUTCString(),
              headers: [
                `Subject: =?UTF-8?B?${Buffer.from(subject).toString('base64')}?=`,
                'MIME-Version: 1.0',
                'Content-Type: text/plain; charset=utf-8',
                'Content-Transfer-Encoding: base64',
                ...(index === 0 ? [] : [`References: <${thread}-0@x> <${thread}-${index - 1}@x>`]),
              ],
              body: Buffer.from(each.words).toString('base64'),
            }),
          ),
        );
        const given = mbox(...(isReversed ? mails.toReversed() : mails));
        const found = await read('x.mbox', given, { teamDomains: ['acme.example'] }, chunk);
        const tickets = ticketsOf(found).toSorted((a, b) => (String(a.createdAt) < String(b.createdAt) ? -1 : 1));
        expect(tickets.map(({ subject, parts }) => ({ subject, parts }))).toEqual(
          all.map(({ subject, mails: replies, first }) => ({
            subject,
            parts: [{ team: false, words: first }, ...replies].map((each) => ({
              role: each.team ? 'team-member' : 'user',
              body: each.words,
            })),
          })),
        );
      }),
      { numRuns: 40 },
    );
  });
});

describe('a mail', () => {
  it('is decoded from its charset, encoded words and quoted-printable, with text preferred to HTML', async () => {
    const bytes = Buffer.from(
      [
        'From: =?ISO-8859-1?Q?J=F6rg_M=FCller?= <j@x.example>',
        'Subject: =?UTF-8?B?R3LDtsOfZQ==?=',
        'Date: Mon, 5 Jan 2026 10:00:00 +0000',
        'MIME-Version: 1.0',
        'Content-Type: multipart/alternative; boundary=b',
        '',
        '--b',
        'Content-Type: text/plain; charset=iso-8859-1',
        'Content-Transfer-Encoding: quoted-printable',
        '',
        'Gr=FC=DFe',
        '--b',
        'Content-Type: text/html; charset=utf-8',
        '',
        '<b>HTML</b>',
        '--b--',
      ].join('\r\n'),
    );
    expect(ticketsOf(await read('x.eml', bytes))).toMatchObject([
      { subject: 'Größe', parts: [{ role: 'user', body: 'Grüße' }], people: [{ names: ['Jörg Müller'] }, ...[]] },
    ]);
  });

  it('has the people of every address header, in groups and encoded words too', async () => {
    const headers = [
      'Sender: Di Roe <di@x.example>',
      'Cc: Team: =?utf-8?B?SsO8cmdlbiBXb2xm?= <jw@x.example>, Cy Day <cy@x.example>;',
      'Bcc: =?iso-8859-1?Q?Andr=E9_Lima?= <al@x.example>',
    ];
    const names = ticketsOf(await read('x.eml', mail({ headers, body: 'Hello' })))[0]?.people.flatMap(
      (one) => one.names,
    );
    expect(names).toEqual(expect.arrayContaining(['Di Roe', 'Jürgen Wolf', 'Cy Day', 'André Lima']));
  });

  it('with only HTML is converted to text', async () => {
    const headers = ['MIME-Version: 1.0', 'Content-Type: text/html'];
    const body = '<p>See <a href="https://x.example/a">this</a></p><blockquote>asked</blockquote>';
    expect(ticketsOf(await read('x.eml', mail({ headers, body })))[0]?.parts[0]?.body).toBe(
      'See this (https://x.example/a)',
    );
  });

  it('with a header of a megabyte is read', async () => {
    const headers = [`X-Long: ${'x'.repeat(1024 * 1024 + 10)}`, `X-Folded: ${'y\r\n '.repeat(100_000)}z`];
    expect(ticketsOf(await read('x.eml', mail({ headers })))[0]?.parts).toEqual([{ role: 'user', body: 'Hello' }]);
    const huge = mail({ headers: [`X-Huge: ${'x'.repeat(3 * 1024 * 1024)}`] });
    expect(outline(await read('x.eml', huge))).toEqual([
      expect.stringMatching(/^x\.eml:1 is a mail that cannot be read/),
    ]);
  });

  it('never throws for any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.constantFrom('x.eml', 'x.mbox'), async (bytes, name) => {
        const start = name === 'x.mbox' ? Buffer.from('From a 10:00\n') : Buffer.alloc(0);
        expect((await read(name, Buffer.concat([start, bytes]))).length).toBeGreaterThan(0);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a mail without quoted text', () => {
  it.each([
    ['Hi\n\nOn Mon, Jan 5, 2026 at 10:00 AM Ana <a@x.example>\nwrote:\n> asked\n> more', 'Hi'],
    ['Hallo\n\nAm 05.01.2026 um 10:00 schrieb Ana <a@x.example>:\n> gefragt', 'Hallo'],
    ['Works.\n\nSent from my iPhone', 'Works.'],
    ['Answer\n-- \nBo\nAcme', 'Answer'],
    ['> only\n> quoted', ''],
    ['a > b\n\n\n\nc', 'a > b\n\nc'],
    [`${'long words '.repeat(200)}\n> ${'quoted '.repeat(200)}\n\nend`, `${'long words '.repeat(200).trim()}\nend`],
  ])('contains the expected text (case %#)', (text, own) => {
    expect(senderText(text)).toBe(own);
  });
});
