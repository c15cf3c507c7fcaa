import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toContextRecord } from '../../src/conversations/destination.ts';
import type { Conversation } from '../../src/conversations/model/ticket.ts';
import { operations } from '../../src/platform/operations/index.ts';

const say = (body: string, role: 'user' | 'assistant' | 'team-member' = 'user') => ({
  type: 'message' as const,
  role,
  body,
});

test('a record contains the parts in order with their speakers, and other members unchanged', () => {
  const record = toContextRecord({
    id: 'zendesk/acme/7',
    subject: 'PDF export is empty',
    parts: [
      say('The file is empty.\n\nSince today.'),
      say('Which page?', 'team-member'),
      say('See [docs]', 'assistant'),
    ],
    metadata: {
      url: 'https://acme.zendesk.example/agent/tickets/7',
      createdAt: '2026-02-01T08:00:00Z',
      attributes: { channel: 'email', priority: 'high' },
    },
  });
  expect(record).toEqual({
    id: 'zendesk/acme/7',
    type: 'ticket',
    title: 'PDF export is empty',
    body: '**Customer:**\n\nThe file is empty.\n\nSince today.\n\n**Team:**\n\nWhich page?\n\n**Assistant:**\n\nSee [docs]',
    url: 'https://acme.zendesk.example/agent/tickets/7',
    createdAt: '2026-02-01T08:00:00Z',
    metadata: { channel: 'email', priority: 'high' },
  });
});

describe('the title of a context record', () => {
  const long = 'é'.repeat(300);
  const cut = `${'é'.repeat(255)}…`;
  test.each([
    ['is the subject', { subject: 'PDF', parts: [say('Empty')] }, 'PDF', undefined],
    ['is one line', { subject: ' PDF\nexport ', parts: [] }, 'PDF export', undefined],
    ['has up to 256 characters', { subject: 'é'.repeat(256), parts: [] }, 'é'.repeat(256), undefined],
    ['is shortened, with the full subject in the description', { subject: long, parts: [] }, cut, long],
    [
      'is the first text of the customer without a subject',
      { parts: [say('Hi', 'team-member'), say('\n Empty PDF\nSince today')] },
      'Empty PDF',
      undefined,
    ],
    ['is the shortened first text of the customer', { subject: '  ', parts: [say(long)] }, cut, undefined],
    [
      'is the first text of anyone if the customer wrote none',
      { parts: [say(' '), say('Hello', 'team-member')] },
      'Hello',
      undefined,
    ],
    ['is the id without any text', { parts: [say('')] }, 'id', undefined],
    [
      'contains no partial placeholder',
      { parts: [say(`${'é'.repeat(250)} [EMAIL_1] wrote`)] },
      `${'é'.repeat(250)}…`,
      undefined,
    ],
    [
      'contains no partial number, which may look like a card number',
      { parts: [say(`${'é'.repeat(235)} 4111 1111 1111 1111 1111`)] },
      `${'é'.repeat(235)}…`,
      undefined,
    ],
    [
      'contains a number that ends at the limit',
      { parts: [say(`${'é'.repeat(250)} 7777 times`)] },
      `${'é'.repeat(250)} 7777…`,
      undefined,
    ],
    [
      'contains no partial grapheme',
      { parts: [say(`${'é'.repeat(254)}👩‍👩‍👧 said`)] },
      `${'é'.repeat(254)}…`,
      undefined,
    ],
  ] as const)('%s', (_, conversation, title, description) => {
    const record = toContextRecord({ id: 'id', ...conversation });
    expect({ title: record.title, description: record.description }).toEqual({ title, description });
  });
});

const text = (most: number) => fc.string({ unit: 'grapheme', maxLength: most });
const conversations: fc.Arbitrary<Conversation> = fc.record(
  {
    id: fc.string({ minLength: 1, maxLength: 255 }).map((id) => `desk/${id}`),
    subject: text(300).map((subject) => [...subject].slice(0, 512).join('')),
    parts: fc.array(
      fc.record({
        type: fc.constant('message' as const),
        role: fc.constantFrom('user' as const, 'assistant' as const, 'team-member' as const),
        body: text(400),
      }),
      { maxLength: 5 },
    ),
    metadata: fc.record(
      { url: fc.webUrl(), attributes: fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['id', 'parts'] },
);

test('converts every conversation to a valid record with exactly its text', () => {
  fc.assert(
    fc.property(conversations, (conversation) => {
      const record = toContextRecord(conversation);
      expect(operations.putContextRecords.body?.safeParse([record]).error).toBeUndefined();
      let at = 0;
      for (const { body } of conversation.parts) {
        const found = record.body.indexOf(body, at);
        expect(found).toBeGreaterThanOrEqual(at);
        at = found + body.length;
      }
      const length = conversation.parts.reduce((sum, { body }) => sum + body.length, 0);
      expect(record.body.length).toBeLessThanOrEqual(length + 20 * conversation.parts.length);
    }),
  );
});
