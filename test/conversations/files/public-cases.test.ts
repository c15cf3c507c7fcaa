import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTimestamp } from '../../../src/conversations/sources/dates.ts';
import { outline, read, ticketsOf } from './inputs.ts';

/* Files of other programs that broke readers: each is read, or rejected with a reason. */

const iso = (text: string) => {
  const at = parseTimestamp(text);
  return at === null ? null : new Date(at).toISOString();
};
const ROWS = ['ticket_id,created_at,author_role,body', '7,2026-02-12 10:00,customer,How do I export?'];
const dated = (...dates: string[]) =>
  ['ticket_id,author_role,body,created_at', ...dates.map((date, at) => `1,customer,text ${at},"${date}"`)].join('\r\n');

describe('a CSV file of a spreadsheet', () => {
  it.each([
    ['sep=,', ',', ''],
    ['sep=;', ';', '\ufeff'],
    ['SEP=|', '|', '\ufeff'],
    ['"sep=;"', ';', ''],
    ['sep=\t', '\t', ''],
  ])('obeys the line %j', async (line, separator, mark) => {
    const rows = ROWS.map((row) => row.replaceAll(',', separator));
    const found = await read('x.csv', `${mark}${[line, ...rows].join('\r\n')}\r\n`);
    expect(ticketsOf(found)).toMatchObject([{ key: 'file/acme/7', createdAt: '2026-02-12T10:00:00.000Z' }]);
    expect(outline(await read('x.csv', `${mark}${line}\r\n${'id;x'.replace(';', separator)}\r\n`))).toEqual([
      expect.stringMatching(/^x\.csv:2 has no column/),
    ]);
  });

  it('is rejected if it has a header row only', async () => {
    expect(outline(await read('x.csv', `${ROWS[0]}\r\n`))).toEqual(['x.csv:1 has no record']);
    expect(outline(await read('x.json', '[]'))).toEqual(['x.json:1 has no record']);
    expect(outline(await read('x.ndjson', '\n\n'))).toEqual(['x.ndjson:1 has no record']);
  });
});

const moment = fc.record({
  day: fc.integer({ min: 1, max: 28 }),
  month: fc.integer({ min: 1, max: 12 }),
  hour: fc.integer({ min: 0, max: 23 }),
});
const two = (number: number) => String(number).padStart(2, '0');
const written: Readonly<Record<string, (date: { day: number; month: number; hour: number }) => string>> = {
  iso: ({ day, month, hour }) => `2026-${two(month)}-${two(day)}T${two(hour)}:00:00Z`,
  zone: ({ day, month, hour }) => `2026-${two(month)}-${two(day)} ${two(hour)}:00 +00:00`,
  'day-first': ({ day, month, hour }) => `${two(day)}/${two(month)}/2026 ${hour}:00`,
  'month-first': ({ day, month, hour }) => `${month}/${day}/26 ${hour % 12 || 12}:00 ${hour < 12 ? 'AM' : 'PM'}`,
  dotted: ({ day, month, hour }) => `${day}.${month}.2026 ${two(hour)}:00`,
  serial: ({ day, month, hour }) => String(Date.UTC(2026, month - 1, day, hour) / 86_400_000 + 25_569),
  unknown: ({ day }) => `day ${day}`,
};

describe('generated relatives of CSV files', () => {
  it('are read with the right times, or rejected with the line', async () => {
    const file = fc.record({
      separator: fc.constantFrom(',', ';', '\t'),
      isNamed: fc.boolean(),
      mark: fc.constantFrom('', '\ufeff'),
      end: fc.constantFrom('\n', '\r\n', '\r'),
      encoding: fc.constantFrom('utf8' as const, 'utf16le' as const),
      format: fc.constantFrom(...Object.keys(written)),
      moments: fc.array(moment, { minLength: 1, maxLength: 8 }),
      chunk: fc.integer({ min: 1, max: 200 }),
    });
    await fc.assert(
      fc.asyncProperty(file, async ({ separator, isNamed, mark, end, encoding, format, moments, chunk }) => {
        const rows = moments.map((each, at) => [at, 'customer', `text ${at}`, written[format]?.(each)].join(separator));
        const head = ['ticket_id', 'author_role', 'body', 'created_at'].join(separator);
        const lines = [...(isNamed ? [`sep=${separator}`] : []), head, ...rows];
        const content = Buffer.from(`${encoding === 'utf8' ? mark : '\ufeff'}${lines.join(end)}${end}`, encoding);
        const found = await read('x.csv', content, {}, chunk);
        const isProven = moments.some(({ day }) => day > 12);
        const readable = moments.map(({ day, month }) => {
          return format !== 'unknown' && (!/first/.test(format) || isProven || day === month);
        });
        expect(found).toHaveLength(moments.length);
        expect(ticketsOf(found).map(({ parts, createdAt }) => [parts[0]?.body, createdAt])).toEqual(
          moments.flatMap(({ day, month, hour }, at) =>
            readable[at] === true ? [[`text ${at}`, new Date(Date.UTC(2026, month - 1, day, hour)).toISOString()]] : [],
          ),
        );
        const first = isNamed ? 3 : 2;
        expect(found.flatMap((each) => (each.kind === 'rejected' ? [each.place] : []))).toEqual(
          readable.flatMap((each, at) => (each ? [] : [`x.csv:${at + first}`])),
        );
      }),
      { numRuns: 300 },
    );
  });
});

describe('dates in CSV', () => {
  it.each([
    [['13/02/2026 10:00', '14/02/2026 10:00', '12/02/2026 9:05'], '2026-02-12T09:05:00.000Z', [2, 0, 1]],
    [['02/13/2026 10:00', '02/12/2026 9:05 PM'], '2026-02-12T21:05:00.000Z', [1, 0]],
    [['12/02/2026', '13-02-26'], '2026-02-12T00:00:00.000Z', [0, 1]],
    [['46065.5', '46065'], '2026-02-12T00:00:00.000Z', [1, 0]],
    [['12.02.2026 10:00', '11.02.2026 10:00'], '2026-02-11T10:00:00.000Z', [1, 0]],
  ])('%j are read in the order that the column shows', async (dates, createdAt, order) => {
    const found = await read('x.csv', dated(...dates));
    expect(ticketsOf(found)).toMatchObject([{ createdAt, parts: order.map((at) => ({ body: `text ${at}` })) }]);
    expect(found).toHaveLength(1);
  });

  it('are rejected with their line if the column shows no order or both', async () => {
    const reason = 'has a created_at that may be day-first or month-first';
    const none = await read('x.csv', dated('2026-02-12', '12/02/2026', '02/02/2026'));
    expect(outline(none)).toEqual([expect.stringContaining(`x.csv:3 ${reason}`), 'file/acme/1']);
    expect(ticketsOf(none)[0]?.parts).toHaveLength(2);
    const both = await read('x.csv', dated('13/02/2026', '02/14/2026', '01/02/2026'));
    expect(outline(both)).toEqual([expect.stringContaining(`x.csv:4 ${reason}`), 'file/acme/1']);
  });

  it('are rejected if they have no known format', async () => {
    const dates = ['yesterday', '31/02/2026', '2026-13-01', '12/2026', '2026', '1'];
    for (const date of dates) {
      expect(outline(await read('x.csv', dated(date)))).toEqual([
        expect.stringContaining('x.csv:2 has a created_at that is not a time that can be read'),
      ]);
    }
  });

  it('have declared formats', () => {
    expect(
      [
        '2016-07-06T11:16:50 -10:00',
        '2016-07-06 11:16:50.5+0100',
        'Thu, 12 Feb 2026 10:00:00 EST (Eastern)',
        'Feb 12, 2026 10:00 a.m.',
        '12-Feb-26 12:00 AM',
        '2026/2/12 10:00 UTC',
        '1770890400',
        '1770890400000',
        '12.2.26',
      ].map(iso),
    ).toEqual([
      '2016-07-06T21:16:50.000Z',
      '2016-07-06T10:16:50.500Z',
      '2026-02-12T15:00:00.000Z',
      '2026-02-12T10:00:00.000Z',
      '2026-02-12T00:00:00.000Z',
      '2026-02-12T10:00:00.000Z',
      '2026-02-12T10:00:00.000Z',
      '2026-02-12T10:00:00.000Z',
      '2026-02-12T00:00:00.000Z',
    ]);
    expect(['', '12/02/2026', '24:00', '2026-02-30', '12 Foo 2026', '99999'].map(iso)).toEqual(Array(6).fill(null));
  });
});

describe('a Zendesk export', () => {
  const ticket = (created: string, status: string) =>
    JSON.stringify({
      id: 41,
      url: 'https://acme.zendesk.com/api/v2/tickets/41.json',
      status,
      requester_id: 7,
      subject: 'Export',
      created_at: created,
      comments: [
        { author_id: 9, public: true, plain_body: 'In the menu', created_at: '2016-07-07T11:16:50 -10:00' },
        { author_id: 7, public: true, plain_body: 'How?', created_at: '2016-07-06T11:16:50 -10:00' },
      ],
    });

  it('is read with a space before the zone, and with a status in any case', async () => {
    for (const status of ['solved', 'Solved', 'CLOSED']) {
      expect(ticketsOf(await read('x.json', ticket('2016-07-06T11:16:50 -10:00', status)))).toMatchObject([
        { createdAt: '2016-07-06T21:16:50.000Z', parts: [{ body: 'How?' }, { body: 'In the menu' }] },
      ]);
    }
  });

  it('is rejected with the field of a time that cannot be read', async () => {
    expect(outline(await read('x.json', ticket('06/07/2016', 'solved')))).toEqual([
      expect.stringContaining('x.json:1 created_at is not a time that can be read'),
    ]);
  });
});

describe('a mailbox whose writer escapes no lines', () => {
  const mail = (id: string, body: string) =>
    `From r@x.example Tue Mar 10 09:01:00 2026\nFrom: R <r@x.example>\nDate: Tue, 10 Mar 2026 09:01:00 +0000\nMessage-ID: <${id}@x>\n\n${body}\n\n`;

  it.each([
    'From 10:30 to 11:15 the page is down, why?\nThanks',
    'From the log at 12:30:11 I see error 502.\nDate: see above\nWhy?',
    'From 10:30 on.',
    'From 10:30\n\nFrom 10:40\n\nFrom 10:50',
  ])('is not split at the prose %j', async (prose) => {
    for (const chunk of [1, 5, 1000]) {
      const found = await read('x.mbox', mail('1', `Hello,\n\n${prose}`) + mail('2', `Second\n\n${prose}`), {}, chunk);
      expect(ticketsOf(found).map(({ parts }) => parts[0]?.body)).toEqual([`Hello,\n\n${prose}`, `Second\n\n${prose}`]);
      expect(found).toHaveLength(2);
    }
  });

  it('reports text before its first mail', async () => {
    expect(outline(await read('x.mbox', `A note\n\n${mail('1', 'Hello')}`))).toEqual([
      'x.mbox:1 is not a mail: From, Date and Message-ID are missing',
      expect.stringMatching(/^mail/),
    ]);
  });

  it('is read with CR line ends', async () => {
    const found = await read('x.mbox', (mail('1', 'One') + mail('2', '>From here')).replaceAll('\n', '\r'));
    expect(ticketsOf(found).map(({ parts }) => parts[0]?.body)).toEqual(['One', 'From here']);
  });
});
