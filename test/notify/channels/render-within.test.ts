import { expect, test } from 'vitest';
import { layOut, renderWithin } from '../../../src/notify/layout.ts';
import type { Notification } from '../../../src/notify/messages.ts';
import { sampleItem, sampleMessage } from '../../support/notify/sample-message.ts';

const sizeOf = (message: Notification) => JSON.stringify(message).length;
const within = (message: Notification, limit: number) => renderWithin(message, limit, (each) => each, sizeOf);

test.each([
  ['javascript:alert(1)', null],
  ['data:text/html,x', null],
  ['not a URL', null],
  [`https://a.example/${'x'.repeat(3000)}`, null],
  ['https://a.example/"><script>|b c', 'https://a.example/%22%3E%3Cscript%3E|b%20c'],
  ['https://a.example/o/acme?x=1&y=2', 'https://a.example/o/acme?x=1&y=2'],
])('the URL %s becomes %s', (url, expected) => {
  expect(within(sampleMessage({ items: [sampleItem({ url })] }), 10_000).items[0]?.url).toBe(expected);
});

test('in a message about several conditions, those that are over say so', () => {
  const items = [
    sampleItem({ organization: null, details: [], url: null }),
    sampleItem({ organization: 'globex', state: 'resolved', resolvedAt: Date.UTC(2026, 2, 14, 9, 2) }),
  ];
  const layout = layOut(sampleMessage({ items, inhibited: 1 }));
  expect(layout.isResolved).toBe(false);
  expect(layout.items.map(({ heading, time }) => [heading, time])).toEqual([
    ['The token was refused', 'since 09:00 UTC'],
    ['Resolved: globex: The token was refused', 'for 2 minutes, until 09:02 UTC'],
  ]);
  expect(layout.remarks).toEqual(['1 other condition has this cause']);
});
