import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SourceRecord } from '../../../src/conversations/model/ticket.ts';
import { type Row, readCsv, rowsOf } from '../../../src/conversations/sources/files/csv.ts';
import { bytesInput, outline, read, ticketsOf } from './inputs.ts';

const HEADER = 'ticket_id,subject,created_at,author_role,body,public';
const file = (...rows: string[]) => `${[HEADER, ...rows].join('\r\n')}\r\n`;

async function readLimited(content: string, held: number, passes: number): Promise<SourceRecord[]> {
  const found: SourceRecord[] = [];
  for await (const each of readCsv(bytesInput('t.csv', content), { account: 'acme' }, { held, tickets: 5, passes })) {
    found.push(each);
  }
  return found;
}

describe('CSV', () => {
  it('groups rows that are apart and orders them by date', async () => {
    const found = await read(
      'tickets.csv',
      file(
        '1,Export,2026-01-02 03:00:00,customer,"How, do I ""export""?\r\nLike this?",true',
        '2,Login,2026-01-02T04:00:00Z,user,I cannot log in,',
        '1,Export,2026-01-02T02:00:00-02:00,Agent,In the menu,yes',
        '1,Export,2026-01-02T03:30:00Z,agent,a note to ourselves,false',
        '1,,2026-01-02T03:10:00Z,bot,Try the menu,TRUE',
      ),
    );
    expect(ticketsOf(found)).toEqual([
      expect.objectContaining({ key: 'file/acme/2', subject: 'Login' }),
      {
        key: 'file/acme/1',
        subject: 'Export',
        createdAt: '2026-01-02T03:00:00.000Z',
        settledAt: null,
        url: null,
        attributes: {},
        parts: [
          { role: 'user', body: 'How, do I "export"?\nLike this?' },
          { role: 'assistant', body: 'Try the menu' },
          { role: 'team-member', body: 'In the menu' },
        ],
        people: [],
        completeness: null,
      },
    ]);
  });

  it.each([
    ['semicolon', ';'],
    ['tab', '\t'],
  ])('detects the delimiter %s', async (_, delimiter) => {
    const text = `"ticket_id,x"${delimiter}Ticket ID${delimiter}Author Role${delimiter}Body\na${delimiter}1${delimiter}user${delimiter}"x${delimiter}y, z"\n`;
    expect(ticketsOf(await read('x.csv', text))[0]?.parts).toEqual([{ role: 'user', body: `x${delimiter}y, z` }]);
  });

  it('uses the configured columns, and reads people and status', async () => {
    const columns = { ticket_id: 'Case No.', body: 'Text', author_role: 'Who' };
    const text = [
      'Case No.;Text;Who;author_name;author_email;status;url',
      '7;Hello;user;Ana Lima;ana@x.example;Solved;https://x.example/7',
      '8;Hello;user;;b@x.example;pending;',
    ].join('\n');
    const found = await read('x.csv', text, { columns });
    expect(outline(found)).toEqual(['file/acme/7', 'file/acme/8 open']);
    // Its id may identify the person.
    expect(found[1]).toMatchObject({ people: [{ names: [], emails: ['b@x.example'] }] });
    expect(ticketsOf(found)[0]).toMatchObject({
      url: 'https://x.example/7',
      attributes: { status: 'solved' },
      people: [{ names: ['Ana Lima'], emails: ['ana@x.example'] }],
    });
  });

  it('reads participants of further columns, by name and address', async () => {
    const text = [
      'ticket_id,body,author_role,Requester Name,assignee,cc,customer,product',
      '7,Hello,user,Ana Lima,Bo Smith,"Cy Day <cy@x.example>; di@x.example",Acme,Guides',
    ].join('\n');
    expect(ticketsOf(await read('x.csv', text))[0]?.people).toEqual([
      { names: ['Ana Lima'], emails: [] },
      { names: ['Bo Smith'], emails: [] },
      { names: ['Cy Day'], emails: ['cy@x.example'] },
      { names: [], emails: ['di@x.example'] },
    ]);
  });

  it('reports missing columns once, with the existing ones', async () => {
    expect(outline(await read('x.csv', 'id,body\n1,x\n2,y\n'))).toEqual([
      'x.csv:1 has no column ticket_id, author_role; the header row has: id, body',
    ]);
    // Without a header, the first line is text of a person.
    expect(outline(await read('x.csv', '17,"My password is: hunter2!",ana@x.example\n'))).toEqual([
      'x.csv:1 has no column ticket_id, author_role, body; the header row has: no column names',
    ]);
    expect(outline(await read('x.csv', '"id\n'))).toEqual(['x.csv:1 has a quote that is not closed']);
  });

  it('rejects each invalid row with its first line, and continues', async () => {
    const found = await read(
      'x.csv',
      Buffer.concat([
        Buffer.from(file('1,s,,user,"two\r\nlines",', '2,s,,user,too,many,columns', ',s,,user,no id,', '3,s,,who,x,')),
        Buffer.from('4,s,,user,"bad"quote,\r\n5,s,,user,5" screen,\r\n6,s,,user,gr'),
        Buffer.from([0xfc]),
        Buffer.from('n,\r\n7,s,,user,fine,\r\n8,s,,user,"never closed,\r\n9,s,,user,fine too,\r\n'),
      ]),
    );
    expect(outline(found)).toEqual([
      'x.csv:4 has 7 columns; the header row has 6',
      'x.csv:5 has no ticket_id',
      'x.csv:6 has an author_role other than user, team-member, assistant or a synonym',
      'x.csv:7 has quotes that are not as in RFC 4180',
      'x.csv:8 has quotes that are not as in RFC 4180',
      'x.csv:9 is not UTF-8',
      'x.csv:11 has a quote that is not closed',
      'file/acme/1',
      'file/acme/7',
      'file/acme/9',
    ]);
  });

  it('rejects a row and a ticket that are too large, and continues', async () => {
    const long = 'x'.repeat(700);
    const found = await read(
      'x.csv',
      file(`1,s,,user,${long}${long},`, ...Array(3).fill(`2,s,,user,${long},`), '3,s,,user,x,'),
      {
        longest: 1000,
      },
    );
    expect(outline(found)).toEqual([
      'x.csv:2 is larger than 1000 bytes',
      'x.csv:3 is larger than 1000 bytes',
      'file/acme/3',
    ]);
  });

  const unordered = file(
    ...[0, 1].flatMap((part) => [1, 2, 3, 4].map((id) => `${id},s,,user,part ${part} ${'x'.repeat(300)},`)),
  );
  it('reads the file again for tickets whose rows are too far apart', async () => {
    const found = await readLimited(unordered, 1100, 10);
    expect(outline(found).toSorted()).toEqual(['file/acme/1', 'file/acme/2', 'file/acme/3', 'file/acme/4']);
    expect(ticketsOf(found).every(({ parts }) => parts.length === 2)).toBe(true);
  });

  it('rejects tickets whose rows are too far apart for several reads', async () => {
    expect(outline(await readLimited(unordered, 600, 2)).at(-1)).toBe(
      't.csv:1 has 2 tickets whose rows are too far apart; sort the file by ticket_id',
    );
    const many = file(...[1, 2, 3, 4, 5, 6].map((id) => `${id},s,,user,x,`));
    expect(outline(await readLimited(many, 1000, 2))).toEqual([
      't.csv:1 has more than 5 tickets; split the file (nothing was read)',
    ]);
  });
});

const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
const message = fc.record({
  ticket: fc.constantFrom('a', 'b', 'c,"d"'),
  role: fc.constantFrom('user', 'team-member', 'assistant'),
  body: fc
    .string({ unit: fc.constantFrom('a', 'ß', '😀', '"', ',', ';', '\n', ' ', '\t', "'") })
    .filter((text) => text.trim() !== ''),
});
const messages = fc.array(message, { minLength: 1, maxLength: 12 });
/** Rows have timestamps of their own, so that their order in the file does not matter. */
const written = (all: readonly { ticket: string; role: string; body: string }[]) =>
  all.map(
    ({ ticket, role, body }, index) =>
      `${quote(ticket)},Subject,${new Date(index * 1000).toISOString()},${role},${quote(body)},true`,
  );
const byKey = (found: readonly SourceRecord[]) => ticketsOf(found).toSorted((a, b) => (a.key < b.key ? -1 : 1));

describe('generated tickets as CSV', () => {
  it('are read unchanged from shuffled rows', async () => {
    await fc.assert(
      fc.asyncProperty(
        messages,
        fc.infiniteStream(fc.nat()),
        fc.integer({ min: 1, max: 60 }),
        async (all, draws, chunk) => {
          const rows = written(all);
          const shuffled = rows
            .map((row) => ({ row, draw: draws.next().value }))
            .toSorted((a, b) => a.draw - b.draw)
            .map(({ row }) => row);
          const found = await read('x.csv', `${HEADER}\n${rows.join('\n')}`, {}, chunk);
          expect(byKey(await read('x.csv', file(...shuffled)))).toEqual(byKey(found));
          for (const { key, parts } of ticketsOf(found)) {
            const own = all.filter(({ ticket }) => `file/acme/${ticket}` === key);
            expect(parts).toEqual(own.map(({ role, body }) => ({ role, body })));
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('lose no complete row if the file is truncated anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(messages, fc.double({ min: 0, max: 1, noNaN: true }), async (all, share) => {
        const rows = written(all.map((each) => ({ ...each, role: 'user' })));
        const bytes = Buffer.from(`${HEADER}\n${rows.join('\n')}\n`);
        const cut = bytes.subarray(0, Math.floor(share * bytes.length));
        const found = await read('x.csv', cut);
        const bodies = ticketsOf(found).flatMap(({ parts }) => parts.map(({ body }) => body));
        let end = HEADER.length + 1;
        for (const [index, row] of rows.entries()) {
          end += Buffer.byteLength(row);
          if (end <= cut.length) {
            expect(bodies).toContain(all[index]?.body);
          }
          end += 1;
        }
      }),
      { numRuns: 100 },
    );
  });
});

async function rowsIn(text: string, { block = 1, chunk = 64, longest = 1000 } = {}): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const some of rowsOf(bytesInput('x.csv', text, chunk), ';', longest, block)) {
    rows.push(...some);
  }
  return rows;
}

describe('generated rows', () => {
  it('with any quotes are parsed equally in batches of any size', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', '""', ';', '\n', ';"', '"\n'), maxLength: 40 });
    const longest = fc.integer({ min: 3, max: 50 });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 60 }), longest, async (rows, block, most) => {
        const whole = await rowsIn(rows, { block: 10_000, longest: most });
        expect(await rowsIn(rows, { block, chunk: 3, longest: most })).toEqual(whole);
        // Records are reported in the order of the file, and no two from the same line.
        const lines = whole.map(({ line }) => line);
        expect(lines).toEqual([...new Set(lines)].toSorted((a, b) => a - b));
      }),
      { numRuns: 500 },
    );
  });

  it('may exceed the parse buffer, and an unclosed quote rejects only its row', async () => {
    const long = Array.from({ length: 9000 }, (_, index) => `line ${index} of a long one, ${'x'.repeat(50)}`).join(
      '\n',
    );
    const many = Array.from({ length: 12_000 }, (_, index) => `${index};word`);
    const text = [`1;${quote(long)}`, '2;"open', ...many, '3;last'].join('\n');
    const rows: Row[] = [];
    for await (const some of rowsOf(bytesInput('x.csv', text), ';', 16 * 2 ** 20)) {
      rows.push(...some);
    }
    expect(rows).toHaveLength(12_003);
    expect(rows.slice(0, 3)).toEqual([
      { line: 1, fields: ['1', long] },
      { line: 9001, problem: 'has a quote that is not closed' },
      { line: 9002, fields: ['0', 'word'] },
    ]);
    expect(rows.at(-1)).toEqual({ line: 21_002, fields: ['3', 'last'] });
  });
});
