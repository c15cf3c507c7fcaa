/** Notifications of a daemon, from a mistake in the repository to its correction. Every channel: test/notify/channels. */
import { expect, test } from 'vitest';
import { FakeWebhookReceiver } from '../support/notify/fake-webhook-receiver.ts';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace } from '../support/workspace.ts';
import { teams } from './daemon-process.ts';
import { startInside } from './inside.ts';

test('a channel receives a message about a mistake, and its end in the same thread', async () => {
  await using receiver = await new FakeWebhookReceiver().listen();
  await using work = await openWorkspace();
  const channels = { ops: { webhook: { url: receiver.url, secret: receiver.secret } } };
  const notifications = { channels, routes: [{ channels: ['ops'] }], groupWait: '0s' };
  work.repository.commit('A mistake', { 'teams.yaml': 'teams:\n  writers: { titel: Writers }\n' });
  await using daemon = await startInside(work, { top: { notifications } });
  await eventually('a message', () => receiver.messages.size === 1);

  work.repository.commit('Correct it', { 'teams.yaml': teams('Writers') });
  await daemon.pass();
  await eventually('its end', () => receiver.messages.size === 2);
  expect([...receiver.messages.values()]).toMatchObject([
    { data: { code: 'manifests-invalid', state: 'firing', title: 'The manifests are invalid: org_acme' } },
    { thread: [...receiver.messages.keys()][0], data: { state: 'resolved' } },
  ]);
  expect(daemon.log.filter(({ msg }) => /notification/.test(String(msg)))).toEqual([]);
  expect(await daemon.metrics()).toContain('octavo_notification_attempts_total{channel="ops",outcome="sent"} 2');
});
