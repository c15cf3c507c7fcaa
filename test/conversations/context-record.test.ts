import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toContextRecord } from '../../src/conversations/delivery/context-record.ts';
import type { Conversation } from '../../src/conversations/model/conversation.ts';
import { operations } from '../../src/platform/operations/index.ts';

const say = (body: string, role: 'user' | 'assistant' | 'team-member' = 'user') => ({
  type: 'message' as const,
  role,
  body,
});

test('a record has the parts in order, each after its speaker, and the other members unchanged', () => {
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

describe('a title', () => {
  const long = 'é'.repeat(300);
  const cut = `${'é'.repeat(255)}…`;
  test.each([
    ['the subject', { subject: 'PDF', parts: [say('Empty')] }, 'PDF', undefined],
    ['in one line', { subject: ' PDF\nexport ', parts: [] }, 'PDF export', undefined],
    ['256 characters', { subject: 'é'.repeat(256), parts: [] }, 'é'.repeat(256), undefined],
    ['cut, with all of it in the description', { subject: long, parts: [] }, cut, long],
    [
      'what the customer says first',
      { parts: [say('Hi', 'team-member'), say('\n Empty PDF\nSince today')] },
      'Empty PDF',
      undefined,
    ],
    ['that, cut', { subject: '  ', parts: [say(long)] }, cut, undefined],
    ['what anybody says', { parts: [say(' '), say('Hello', 'team-member')] }, 'Hello', undefined],
    ['the id', { parts: [say('')] }, 'id', undefined],
    [
      'no half of a placeholder',
      { parts: [say(`${'é'.repeat(250)} [EMAIL_1] wrote`)] },
      `${'é'.repeat(250)}…`,
      undefined,
    ],
    [
      'no first half of a number, which may look like a card',
      { parts: [say(`${'é'.repeat(235)} 4111 1111 1111 1111 1111`)] },
      `${'é'.repeat(235)}…`,
      undefined,
    ],
    [
      'a number that ends there',
      { parts: [say(`${'é'.repeat(250)} 7777 times`)] },
      `${'é'.repeat(250)} 7777…`,
      undefined,
    ],
    ['no half of a character', { parts: [say(`${'é'.repeat(254)}👩‍👩‍👧 said`)] }, `${'é'.repeat(254)}…`, undefined],
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

test('every conversation becomes a valid record with all of its text and nothing else', () => {
  fc.assert(
    fc.property(conversations, (conversation) => {
      const record = toContextRecord(conversation);
      expect(operations.putContextRecords.body.safeParse([record]).error).toBeUndefined();
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
