/** View of the ingestion of conversations. */
import { expect, test } from 'vitest';
import { type ConversationsView, conversationsPage } from '../../../src/web/pages/conversations.ts';
import {
  MINUTE,
  NOW,
  type OrganizationParts,
  someBackend,
  someOrganization,
  someRequest,
  someSource,
  viewOf,
} from '../some-backend.ts';

const HELP = { name: 'help', zendesk: {}, pollInterval: 5 * MINUTE };
const FORMS = { name: 'forms', webhook: {}, pollInterval: 5 * MINUTE };

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
  expect(view.sentence).toBe('2 dead letters need a person; 4 conversations wait');
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
    'The platform refuses the token, so nothing is sent; the outbox is full, so sources wait; 2 sources cannot be read; 1 conversation waits',
  );
  expect(view.sources.map(({ state }) => state)).toEqual(['failing', 'stale']);
  expect(view.senderReason).toBe('token is not valid');
});

test('a source that was never polled is not stale, and an organization without sources says so', async () => {
  const status = { sources: [someSource({ polledAt: null })] };
  const view = await conversationsView({ sources: [HELP], status });
  expect(view.sources[0]?.state).toBe('not-read');
  expect(view.sentence).toBe('Nothing waits');
  expect((await conversationsView({})).sentence).toBe('No source of conversations is configured');
});
