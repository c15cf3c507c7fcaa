/** View of the ingestion of conversations. */
import { expect, test } from 'vitest';
import { type ConversationsView, conversationsPage } from '../../../src/web/pages/conversations.ts';
import { deadLetterPage, deadLettersPage } from '../../../src/web/pages/dead-letters.ts';
import {
  MINUTE,
  NOW,
  type OrganizationParts,
  render,
  skeleton,
  someBackend,
  someOrganization,
  someRequest,
  someSource,
  viewOf,
} from '../some-backend.ts';

const HELP = { name: 'help', zendesk: {}, pollInterval: 5 * MINUTE };
const FORMS = { name: 'forms', webhook: {}, pollInterval: 5 * MINUTE };

const NOTHING = { waiting: null, isSending: false, refused: null, sentAt: null, isDiscarded: false, leftOut: null };
const HOUR = 60 * MINUTE;

/** Returns the page as a person reads it: without tags. */
async function textOf(
  parts: OrganizationParts,
  query: Readonly<Record<string, string>> = {},
  page = conversationsPage,
) {
  const backend = someBackend([someOrganization('acme', parts)]);
  const text = await render(page, backend, someRequest({ organization: 'acme' }, query, 'operator'));
  return text
    .replaceAll(/ aria-label="([^"]*)"[^>]*>/g, '>[$1] ')
    .replaceAll(/<(?:br|td|th)\b/g, ' $&')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ');
}

function conversationsView(parts: OrganizationParts) {
  const backend = someBackend([someOrganization('acme', parts)]);
  return viewOf<ConversationsView>(conversationsPage, backend, someRequest({ organization: 'acme' }));
}

test('sums up the outbox by state, and redactions and skipped tickets over all sources', async () => {
  const view = await conversationsView({
    sources: [HELP, FORMS],
    status: {
      sources: [
        someSource({
          ...{ waiting: 3, sending: 4, inDoubt: 1, deadLetters: 2, waitingSince: NOW - MINUTE },
          counts: { found: 9, 'redacted.person': 5, 'redacted.email': 7, 'skipped.spam': 1 },
        }),
        someSource({ source: 'forms', waiting: 1, counts: { 'redacted.email': 1, 'skipped.open': 4 } }),
      ],
    },
    outdated: new Map([['help', 2]]),
    deadLetters: [{ key: 'zendesk:a:1', source: 'help', reason: 'too long', at: NOW, bytes: 9 }],
  });
  expect(view.outbox).toMatchObject({ waiting: 4, sending: 3, inDoubt: 1, deadLetters: 2 });
  expect(view.redactions).toEqual([
    { type: 'email', count: 8 },
    { type: 'person', count: 5 },
  ]);
  expect(view.skipped).toEqual([
    { reason: 'open', count: 4 },
    { reason: 'spam', count: 1 },
  ]);
  expect(view.sources[0]).toMatchObject({ kind: 'zendesk', state: 'working', outdated: 2 });
  expect(view.sources[1]).toMatchObject({ kind: 'webhook', state: 'other' });
  expect(view.sentence).toBe('2 refused conversations need a person; 4 conversations wait to be sent');
});

test('says what is wrong before what waits', async () => {
  const status = {
    sender: { kind: 'refused', reason: 'token is not valid' } as const,
    outbox: { stored: { items: 1, bytes: 1 }, limit: { items: 1, bytes: 1 }, isFull: true },
    sources: [
      someSource({ error: 'HTTP 500', waiting: 1 }),
      someSource({ source: 'late', polledAt: NOW - 60 * MINUTE }),
    ],
  };
  const sources = [HELP, { ...HELP, name: 'late' }];
  const view = await conversationsView({ sources, status });
  expect(view.sentence).toBe(
    'The platform refuses the token, so nothing is sent; there is no room for more, so sources wait; 2 sources cannot be read; 1 conversation waits to be sent',
  );
  expect(view.sources.map(({ state }) => state)).toEqual(['failing', 'stale']);
  expect(view.senderReason).toBe('token is not valid');
});

test('a source that was never polled is not stale, and an organization without sources says so', async () => {
  const status = { sources: [someSource({ polledAt: null })] };
  const view = await conversationsView({ sources: [HELP], status });
  expect(view.sources[0]?.state).toBe('not-read');
  expect(view.sentence).toBe('Nothing waits to be sent');
  expect((await conversationsView({})).sentence).toBe('No source of conversations is configured');
});

const someDays = (...last: number[]) => [...Array<number>(30 - last.length).fill(0), ...last];

test('shows what was taken in, sent, left out and refused in 30 days, and why with examples', async () => {
  const recent = {
    days: new Map([
      ['queued', someDays(5, 0, 7)],
      ['sent', someDays(1200, 4)],
      ['skipped.open', someDays(2, 1)],
      ['skipped.bulk', someDays(9)],
      ['skipped.new-reason', someDays(1)],
    ]),
    leftOut: new Map([['open', ['zendesk/acme/1', 'zendesk/acme/2']]]),
  };
  const text = await textOf({ sources: [HELP], recent });
  expect(text).toContain('12 taken in[Taken in in the last 30 days: at most 7 on a day, 7 today.]');
  expect(text).toContain('1,204 sent[Sent in the last 30 days: at most 1,200 on a day, 4 today.]');
  expect(text).toContain('13 left out');
  expect(text).toContain('0 refused[Refused in the last 30 days: none.]');
  expect(text).toContain('9 written to many people 3 still open such as zendesk/acme/1, zendesk/acme/2 1 new reason');
});

test('says in one sentence what was removed, the most frequent first', async () => {
  const counts = { 'redacted.person': 33, 'redacted.secret': 2, 'redacted.phone': 4, 'redacted.ip': 1 };
  const text = await textOf({ sources: [HELP], status: { sources: [someSource({ counts })] } });
  expect(text).toContain('Removed 33 names, 4 phone numbers, 2 passwords or keys and 1 IP address from what was sent.');
  const one = { sources: [someSource({ counts: { 'redacted.email': 1 } })] };
  expect(await textOf({ sources: [HELP], status: one })).toContain('Removed 1 email address from what was sent.');
});

test('says how much room is left only from half on', async () => {
  const limit = { items: 100, bytes: 1000 };
  const textWith = (items: number, bytes: number, isFull = false) =>
    textOf({ sources: [HELP], status: { outbox: { stored: { items, bytes }, limit, isFull } } });
  expect(await textWith(50, 500)).not.toContain('room');
  expect(await textWith(3, 620)).toContain('62 % of the room for what waits and what is refused is used.');
  expect(await textWith(100, 0, true)).toContain('There is no room for more. Sources wait until something is sent');
});

test('a line for each source says when its last ticket came and when it was last asked, and what to do about an error', async () => {
  const refused = 'Zendesk: list tickets: status 401: the credentials are invalid or lack a permission';
  const sources = [
    someSource({ error: refused, arrivedAt: NOW - 5 * HOUR, deadLetters: 2 }),
    someSource({ source: 'chat', error: 'Intercom: status 502', polledAt: NOW - 3 * HOUR, waiting: 2 }),
    someSource({ source: 'forms', polledAt: null, arrivedAt: null, counts: { found: 3 } }),
    someSource({ source: 'push', polledAt: null }),
    someSource({ source: 'gone', polledAt: null, arrivedAt: null }),
  ];
  const configured = [HELP, { name: 'chat', intercom: {}, pollInterval: MINUTE }, FORMS];
  const text = await textOf({ sources: configured, status: { sources } });
  expect(text).toContain(`help Zendesk cannot be read ${refused}. Check its token in conversations.sources.`);
  expect(text).toContain('Intercom: status 502. Octavo asks again by itself.');
  expect(text).toMatch(/5 hours ago\s*1 minute ago\s*0\s*2/);
  expect(text).toMatch(/not for 3 hours\s*2/);
  expect(text).toMatch(/forms webhook\s*receives\s*not known\s*not asked/);
  expect(text).toMatch(/push pushed files\s*receives/);
  expect(text).toMatch(/gone\s*not configured any more\s*never/);
});

test.each([
  ['7', { sentAt: NOW - 20 * HOUR }, 'sent zendesk/acme/7 help Sent 20 hours ago.'],
  ['#7', { isSending: true, sentAt: NOW - HOUR }, 'being sent zendesk/acme/7 help It is being sent now. An earlier'],
  [
    'https://acme.zendesk.com/agent/tickets/7?a=b',
    { waiting: { since: NOW - HOUR, at: NOW + 23 * HOUR } },
    'Taken in 1 hour ago. It is sent in 23 hours at the earliest',
  ],
  [' 7 ', { waiting: { since: NOW - HOUR, at: NOW } }, 'It is sent with one of the next requests.'],
  [
    '7',
    { refused: { reason: 'ingestConversations: the platform refused it (413): body', at: NOW - HOUR } },
    'refused zendesk/acme/7 help The platform refused it 1 hour ago. It is too large for the platform: body Open',
  ],
  ['7', { leftOut: { reason: 'open', at: NOW - HOUR } }, 'Left out 1 hour ago: still open.'],
  [
    '7',
    { leftOut: { reason: 'bot', at: NOW }, sentAt: NOW - HOUR },
    'nothing but an automatic reply. An earlier version was sent 1 hour ago.',
  ],
  ['7', { leftOut: { reason: 'gone', at: NOW - HOUR } }, 'deleted at its source; Octavo noticed 1 hour ago.'],
  ['7', { isDiscarded: true }, 'The platform refused it, and a person discarded it.'],
] as const)('finds a ticket by %j and says what became of it', async (ticket, state, sentence) => {
  const known = { 7: [{ key: 'zendesk/acme/7', source: 'help', ...NOTHING, ...state }] };
  expect(await textOf({ sources: [HELP], known }, { ticket })).toContain(sentence);
});

test('shows hostile keys, reasons and questions as text', async () => {
  const text = '"><script>evil()</script>\u202e';
  const page = async (ticket: string, key: string) => {
    const states = [{ refused: { reason: key, at: NOW } }, { leftOut: { reason: key, at: NOW } }, { sentAt: NOW }];
    const known = { [ticket]: states.map((state) => ({ key, source: key, ...NOTHING, ...state })) };
    const backend = someBackend([someOrganization('acme', { sources: [HELP], known })]);
    return render(conversationsPage, backend, someRequest({ organization: 'acme' }, { ticket }));
  };
  const shown = await page(text, text);
  expect(skeleton(shown)).toEqual(skeleton(await page('plain', 'plain')));
  expect(shown.replaceAll(/ value="[^"]*"/g, '')).not.toContain('\u202e');
});

test('says that a ticket is not known, and nothing about tickets before anybody asks', async () => {
  const text = await textOf({ sources: [HELP] }, { ticket: '<b>99' });
  expect(text).toContain('Octavo knows no ticket “&lt;b&gt;99”. It may not have come yet');
  expect(await textOf({ sources: [HELP] }, { ticket: ' ' })).not.toContain('Octavo knows no ticket');
});

test('says what to do first', async () => {
  const text = await textOf({});
  expect(text).toContain('Connect your helpdesk first');
  expect(text).toContain('conversations: sources: - { name: helpdesk, zendesk:');
  expect(text).toContain('docs/conversations.md describes each of them.');
});

const LETTER = { key: 'zendesk/acme/9', source: 'help', at: NOW - HOUR, bytes: 131_412 };

test.each([
  [
    'ingestConversations: the platform refused it (422): too long',
    'The platform does not accept its content: too long',
  ],
  ['addContextRecords: the platform refused it (413)', 'It is too large for the platform (status 413).'],
  ['no response after 6 attempts, while other batches succeeded: status 500', 'no response after 6 attempts'],
])('a refused conversation shows why in words: %s', async (reason, words) => {
  const text = await textOf({ deadLetters: [{ ...LETTER, reason }] }, {}, deadLettersPage);
  expect(text).toContain(`zendesk/acme/9 help 1 hour ago, 131.4 kB ${words}`);
  expect(text).not.toContain('ingestConversations');
});

test('discarding is confirmed, sending again is not', async () => {
  const backend = someBackend([someOrganization('acme', { deadLetters: [{ ...LETTER, reason: 'no' }] })]);
  for (const page of [deadLettersPage, deadLetterPage]) {
    const shown = await render(page, backend, someRequest({ organization: 'acme', key: LETTER.key }, {}, 'operator'));
    const folded = [...shown.matchAll(/<details.*?<\/details>/gs)].join('');
    const open = shown.replaceAll(/<details.*?<\/details>/gs, '');
    expect(open).toContain('value="dead-retry"');
    expect(open).not.toContain('value="dead-drop"');
    expect(folded).toContain('It is not sent again until its ticket changes. This cannot be undone.');
    expect(folded).toContain('value="dead-drop"');
  }
});
