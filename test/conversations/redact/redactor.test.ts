import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REDACTION_TYPES, type Ticket } from '../../../src/conversations/model/ticket.ts';
import { createConversationRedactor, type RedactionOptions } from '../../../src/conversations/redact/redactor.ts';
import { ConfigError } from '../../../src/core/errors.ts';
import { countCases, SEED } from '../../support/campaign.ts';
import { figuresOf, readCorpus, ticketOf } from './corpus.ts';

const corpus = readCorpus();
const figures = figuresOf(corpus);
const PEOPLE = [
  { names: ['Ana Smith'], emails: ['Ana@acme.example'] },
  { names: ['Bo Müller'], emails: [] },
];

/** A text after redaction. */
function redacted(text: string, options: RedactionOptions = {}, people: Ticket['people'] = []): string {
  return createConversationRedactor(options).redact(ticketOf([text], people)).conversation.parts[0]?.body ?? '';
}

/** The ticket of a redacted conversation, with the same people. */
function asTicket(
  ticket: Ticket,
  conversation: ReturnType<ReturnType<typeof createConversationRedactor>['redact']>['conversation'],
): Ticket {
  const { url = null, attributes = {}, createdAt = null } = conversation.metadata ?? {};
  return { ...ticket, subject: conversation.subject ?? '', parts: conversation.parts, url, attributes, createdAt };
}

describe('the corpus', () => {
  it.each(REDACTION_TYPES)('%s is found with a precision and recall of at least 0.98', (type) => {
    const row = figures.find((each) => each.type === type);
    expect(row?.precision, `taken by mistake: ${row?.wrong.join(' ')}`).toBeGreaterThanOrEqual(0.98);
    expect(row?.recall, `missed: ${row?.missed.join(' ')}`).toBeGreaterThanOrEqual(0.98);
  });

  it.each(corpus)('$id leaves no character of a value, and is idempotent', ({ text, marks, people, options }) => {
    const redactor = createConversationRedactor(options);
    const ticket = ticketOf([`${text} .`], people);
    const { conversation } = redactor.redact(ticket);
    expect(redactor.redact(asTicket(ticket, conversation)).conversation).toEqual(conversation);
    const spans = redactor.explain(ticket).flatMap((each) => each.spans);
    for (const { start, end } of marks) {
      expect(spans.some((span) => span.start <= start && end <= span.end)).toBe(true);
    }
  });
});

describe('placeholders', () => {
  it('are the same for all spellings of a value in all parts', () => {
    const { conversation } = createConversationRedactor().redact({
      ...ticketOf([
        'x@example.com and y@example.com',
        'X@Example.COM, +1 415 555 0132',
        '(415) 555-0132, 4111-1111-1111-1111',
        '4111 1111 1111 1111',
      ]),
      subject: 'y@example.com',
    });
    expect(conversation.subject).toBe('[EMAIL_1]');
    expect(conversation.parts.map(({ body }) => body)).toEqual([
      '[EMAIL_2] and [EMAIL_1]',
      '[EMAIL_2], [PHONE_1]',
      '[PHONE_1], [CARD_1]',
      '[CARD_1]',
    ]);
  });

  it('are the same for all names and addresses of a person', () => {
    expect(redacted("Ana Smith <ana@acme.example>; Ana's, Bo Mueller, Muller", {}, PEOPLE)).toBe(
      "[PERSON_1] <[PERSON_1]>; [PERSON_1]'s, [PERSON_2], [PERSON_2]",
    );
  });

  it('that already exist in a text are kept, and not assigned to another value', () => {
    expect(redacted('[EMAIL_3] and x@example.com')).toBe('[EMAIL_3] and [EMAIL_4]');
  });
});

describe('a conversation', () => {
  const ticket: Ticket = {
    key: 'zendesk/acme/7',
    subject: '  ',
    createdAt: '2024-01-02T03:04:05+02:00',
    settledAt: 0,
    url: 'https://ana:pw@help.example/agent/tickets/4155550132?email=ana%40acme.example#x@example.com',
    attributes: { status: 'solved', from: 'x@example.com' },
    parts: [
      { role: 'user', body: 'Hello' },
      { role: 'assistant', body: ' \n' },
    ],
    people: PEOPLE,
    completeness: null,
  };

  it('has one part per ticket part, an ISO date, a valid URL, and no empty subject', () => {
    const { conversation, counts } = createConversationRedactor().redact(ticket);
    expect(conversation).toEqual({
      id: 'zendesk/acme/7',
      parts: [
        { type: 'message', role: 'user', body: 'Hello' },
        { type: 'message', role: 'assistant', body: ' \n' },
      ],
      metadata: {
        url: 'https://%5BSECRET_1%5D@help.example/agent/tickets/4155550132?email=%5BPERSON_1%5D#%5BEMAIL_1%5D',
        attributes: { status: 'solved', from: '[EMAIL_1]' },
        createdAt: '2024-01-02T01:04:05.000Z',
      },
    });
    expect(counts).toEqual({ secret: 1, person: 1, email: 2 });
  });

  it('has no attribute with a private name, and no value that its name marks as private', () => {
    const attributes = { 'x@example.com': 'vip', password: 'hunter2', ' API Key': 'hunter3x9', status: 'solved' };
    const { conversation } = createConversationRedactor().redact({ ...ticket, attributes });
    expect(conversation.metadata?.attributes).toEqual({
      '[EMAIL_1]': 'vip',
      password: '[SECRET_2]',
      ' API Key': '[SECRET_3]',
      status: 'solved',
    });
  });

  it('has a URL whose path matches no pattern of the user', () => {
    const redactor = createConversationRedactor({ patterns: [{ name: 'customer', pattern: 'CUST-\\d+' }] });
    const { conversation } = redactor.redact({ ...ticket, url: 'https://help.example/CUST-12/4155550132' });
    expect(conversation.metadata?.url).toBe('https://help.example/%5BCUSTOMER_1%5D/4155550132');
  });

  it('has a subject of at most 512 characters, without partial graphemes and placeholders', () => {
    const subjectOf = (subject: string) =>
      createConversationRedactor().redact({ ...ticket, subject }).conversation.subject ?? '';
    expect([...subjectOf('👩‍👩‍👧'.repeat(200))].length).toBe(510);
    expect(subjectOf(`${'a '.repeat(253)}x@example.com`)).toBe('a '.repeat(253).trimEnd());
    // Truncation leaves the first 16 digits of 20: now they look like a card number.
    expect(subjectOf(`${'a '.repeat(248)}41111111111111112222`)).not.toContain('4111111111111111');
  });

  it('omits an invalid date, and keeps every part of the ticket', () => {
    const { conversation } = createConversationRedactor().redact({ ...ticketOf([' ', '\n']), createdAt: 'yesterday' });
    expect(conversation.metadata).toBeUndefined();
    expect(conversation.parts.map(({ body }) => body.trim())).toEqual(['', '']);
  });
});

describe('options', () => {
  it('keep allowed values and disabled types', () => {
    expect(redacted('a@acme.example b@sub.acme.example c@example.com', { allow: ['@acme.example'] })).toBe(
      'a@acme.example b@sub.acme.example [EMAIL_1]',
    );
    expect(redacted('ana@acme.example', { allow: ['ANA@acme.example'] }, PEOPLE)).toBe('ana@acme.example');
    expect(redacted('ana@acme.example Ana', { off: ['person'] }, PEOPLE)).toBe('[EMAIL_1] Ana');
    expect(redacted('192.0.2.1 x@example.com', { off: ['ip', 'email'] })).toBe('192.0.2.1 x@example.com');
    expect(redacted('password: support@acme.example', { allow: ['@acme.example'] })).toBe('password: [SECRET_1]');
  });

  it('determine the version together with the rules', () => {
    const version = (options: RedactionOptions) => createConversationRedactor(options).version;
    expect(version({})).toMatch(/^[0-9a-f]{12}$/);
    expect(version({ allow: ['x@example.com'] })).toBe(version({ allow: ['x@example.com'] }));
    const all = [
      {},
      { allow: ['x@example.com'] },
      { regions: ['DE'] },
      { off: ['ip' as const] },
      { patterns: [{ name: 'a', pattern: 'x' }] },
    ];
    expect(new Set(all.map(version)).size).toBe(all.length);
  });

  it.each([
    { regions: ['Germany'] },
    { allow: [''] },
    { allow: ['10.0.0.0/99'] },
    { patterns: [{ name: 'a b', pattern: 'x' }] },
    { patterns: [{ name: 'email', pattern: 'x' }] },
    { patterns: [{ name: 'a_1', pattern: 'x' }] },
    { patterns: [{ name: 'a', pattern: '(' }] },
    { patterns: [{ name: 'a', pattern: 'x*' }] },
    { patterns: [{ name: 'a', pattern: 'x', flags: 'y' }] },
    { patterns: [{ name: 'a', pattern: 'x', flags: 'ii' }] },
    { patterns: [{ name: 'a', pattern: 'x', flags: 'v' }] },
    { patterns: [{ name: 'a', pattern: '(a)\\1' }] },
    { patterns: [{ name: 'a', pattern: '(?=a)a' }] },
    {
      patterns: [
        { name: 'a', pattern: 'x' },
        { name: 'A', pattern: 'y' },
      ],
    },
  ] satisfies RedactionOptions[])('are refused at startup: %j', (options) => {
    expect(() => createConversationRedactor(options)).toThrow(ConfigError);
  });

  it.each([
    [{ pattern: 'acct-\\d' }, 'ACCT-1 [MINE_1]\nacct.3'],
    [{ pattern: 'acct-\\d', flags: 'i' }, '[MINE_1] [MINE_2]\nacct.3'],
    [{ pattern: '^acct.\\d', flags: 'm' }, 'ACCT-1 acct-2\n[MINE_1]'],
    [{ pattern: '2.acct', flags: 's' }, 'ACCT-1 acct-[MINE_1].3'],
    [{ pattern: '\\p{Lu}{4}-', flags: 'u' }, '[MINE_1]1 acct-2\nacct.3'],
  ])('may set flags of a pattern: %j', (pattern, expected) => {
    expect(redacted('ACCT-1 acct-2\nacct.3', { patterns: [{ name: 'mine', ...pattern }] })).toBe(expected);
  });

  it.each([
    'CUST-\\d+',
    '[A-Z]+-\\d+',
    '\\d+\\.\\d+\\.\\d+',
    '\\bACME\\s+\\w+\\b',
    '(?:\\d{4}[- ]?){4}',
    'EMP\\d{6}|CUS\\d{6}',
    '(a+)+$',
    '(a|a)*b',
    '(a?){30}a{30}',
    'a*a*a*b',
  ])('may contain the pattern %s, which takes bounded time on hostile text', (pattern) => {
    const redactor = createConversationRedactor({ patterns: [{ name: 'mine', pattern }] });
    const start = performance.now();
    redactor.text(`${'a'.repeat(20_000)}-`);
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

it('an address on the allow list is kept, with other signs between its words too', () => {
  const { text } = createConversationRedactor({ allow: ['12 Main St, Springfield, IL 62701'] });
  expect(text('Address: 12 Main St, Springfield, IL 62701')).toBe('Address: 12 Main St, Springfield, IL 62701');
  expect(text('Address: 12 Main St - Springfield IL 62701')).toBe('Address: 12 Main St - Springfield IL 62701');
  expect(text('Address: 13 Main St, Springfield, IL 62701')).toBe('Address: [ADDRESS_1]');
});

describe('explain', () => {
  it('returns position, value, placeholder and rule', () => {
    const [explained] = createConversationRedactor().explain('call 415-555-0132!');
    expect(explained).toEqual({
      place: 'text',
      text: 'call 415-555-0132!',
      spans: [{ type: 'phone', start: 5, end: 17, placeholder: '[PHONE_1]', rule: 'phone number' }],
      redacted: 'call [PHONE_1]!',
    });
  });
});

describe('properties', () => {
  // A table has lines of its own: a row that runs on into another heading is read as that heading.
  const values = corpus.map(({ text }) => (text.includes('\t') ? `\n${text}\n` : text));
  const words = fc.constantFrom(
    ...values,
    ...'@ . : / = " [ ] ( ) - + # % & ; , \n 4 1 password token [EMAIL_1] Ana Smith ​ é'.split(' '),
    ' ',
  );
  const texts = fc.array(words, { minLength: 1, maxLength: 8 }).map((list) => `x${list.join('')}`);

  it('redaction is idempotent and deterministic', () => {
    const redactor = createConversationRedactor({
      patterns: [{ name: 'customer', pattern: 'CUST-\\d+' }],
      regions: ['US', 'DE'],
    });
    fc.assert(
      fc.property(texts, texts, (subject, body) => {
        const ticket = { ...ticketOf([body], PEOPLE), subject, attributes: { a: body } };
        const once = redactor.redact(ticket);
        expect(redactor.redact(ticket)).toEqual(once);
        const twice = redactor.redact(asTicket(ticket, once.conversation));
        expect(twice.conversation).toEqual(once.conversation);
        expect(twice.counts).toEqual({});
      }),
      { numRuns: countCases({ sample: 60, ci: 300, full: 3000 }), seed: SEED },
    );
  });

  it('spans are sorted and do not overlap, and the text outside of them is unchanged', () => {
    const redactor = createConversationRedactor();
    fc.assert(
      fc.property(texts, (text) => {
        const [explained] = redactor.explain(text);
        let from = 0;
        let rebuilt = '';
        for (const { start, end, placeholder } of explained?.spans ?? []) {
          expect(start).toBeGreaterThanOrEqual(from);
          expect(end).toBeGreaterThan(start);
          rebuilt += text.slice(from, start) + placeholder;
          from = end;
        }
        expect(rebuilt + text.slice(from)).toBe(explained?.redacted);
      }),
      { numRuns: countCases({ sample: 60, ci: 200, full: 2000 }) },
    );
  });
});
