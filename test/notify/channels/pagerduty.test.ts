// Incidents and change events at PagerDuty.
import { expect, test } from 'vitest';
import { openPagerDutyChannel } from '../../../src/notify/http-channels.ts';
import { FakePagerDuty } from '../../support/notify/fake-pagerduty.ts';
import {
  channelContext,
  endWithTest,
  outgoing,
  resolvedMessage,
  sampleItem,
  sampleMessage,
} from '../../support/notify/sample-message.ts';

const { signal } = new AbortController();

async function openPagerDuty() {
  const pagerDuty = await new FakePagerDuty().listen();
  const config = { routingKey: pagerDuty.routingKey, url: pagerDuty.url };
  return { pagerDuty, channel: endWithTest(openPagerDutyChannel(config, channelContext()), pagerDuty) };
}

test('a thread is one incident, from its first message to its last', async () => {
  const { pagerDuty, channel } = await openPagerDuty();
  expect(channel.isPager).toBe(true);
  await channel.send(outgoing(), signal);
  expect(pagerDuty.incidents.get('ntf_1')).toMatchObject({
    isOpen: true,
    pages: 1,
    alert: {
      client_url: 'https://octavo.example/o/acme',
      links: [{ href: 'https://octavo.example/o/acme', text: 'acme: The token was refused' }],
      payload: {
        summary: 'The platform refuses the token: acme',
        source: 'acme',
        severity: 'critical',
        class: 'token-refused',
        timestamp: '2026-03-14T09:01:00.000Z',
        custom_details: {
          conditions: [['acme: The token was refused (since 09:00 UTC)', 'Create a new token']],
        },
      },
    },
  });
  await channel.send(outgoing({ id: 'ntf_2', message: resolvedMessage() }), signal);
  expect([...pagerDuty.incidents]).toMatchObject([['ntf_1', { isOpen: false, pages: 1 }]]);
});

test('an incident stays open until all of its conditions are resolved', async () => {
  const { pagerDuty, channel } = await openPagerDuty();
  const items = [sampleItem(), sampleItem({ organization: 'globex', state: 'resolved', resolvedAt: Date.now() })];
  await channel.send(outgoing(), signal);
  await channel.send(outgoing({ id: 'ntf_2', message: sampleMessage({ items }) }), signal);
  expect([...pagerDuty.incidents.values()]).toMatchObject([{ isOpen: true, pages: 1 }]);
});

test('the end of what nobody was paged for opens nothing', async () => {
  const { pagerDuty, channel } = await openPagerDuty();
  await channel.send(outgoing({ id: 'ntf_2', message: resolvedMessage() }), signal);
  expect(pagerDuty.incidents.size).toBe(0);
});

test.each([
  ['page', 'critical'],
  ['warning', 'warning'],
  ['info', 'info'],
] as const)('severity %s is %s', async (severity, expected) => {
  const { pagerDuty, channel } = await openPagerDuty();
  await channel.send(outgoing({ message: sampleMessage({ severity }) }), signal);
  expect(pagerDuty.incidents.get('ntf_1')?.alert.payload.severity).toBe(expected);
});

test('an event, which has no end, is a change event and pages nobody', async () => {
  const { pagerDuty, channel } = await openPagerDuty();
  const items = [sampleItem({ state: 'event', summary: 'Commit 1234567 was applied' })];
  const message = sampleMessage({ code: 'applied', severity: 'info', state: 'event', title: 'Changes applied', items });
  await channel.send(outgoing({ message }), signal);
  expect(pagerDuty.changes).toMatchObject([{ payload: { summary: 'Changes applied', source: 'acme' } }]);
  expect(pagerDuty.incidents.size).toBe(0);
});
