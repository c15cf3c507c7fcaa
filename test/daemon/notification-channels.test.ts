/** Notifications of a daemon, from a mistake in the repository to its correction, in channels of every kind. */
import { expect, test } from 'vitest';
import type { FakePagerDuty } from '../support/notify/fake-pagerduty.ts';
import { type FakeSlack, shownLine } from '../support/notify/fake-slack.ts';
import type { FakeWebhookReceiver } from '../support/notify/fake-webhook-receiver.ts';
import { HTTP_CHANNELS } from '../support/notify/http-channels.ts';
import { MailSink } from '../support/notify/mail-sink.ts';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace } from '../support/workspace.ts';
import { teams } from './daemon-process.ts';
import { startInside } from './inside.ts';

/** Starts the receiver of every kind of channel. */
async function openChannels() {
  await using stack = new AsyncDisposableStack();
  const cases = await Promise.all(
    Object.entries(HTTP_CHANNELS).map(async ([name, start]) => [name, await start()] as const),
  );
  const mail = stack.use(await new MailSink().listen());
  for (const [, { receiver }] of cases) {
    stack.use(receiver);
  }
  const settings = {
    ...Object.fromEntries(cases.map(([name, { config }]) => [name, config])),
    mail: { mail: { server: `smtp://127.0.0.1:${mail.port}`, from: 'octavo@acme.example', to: ['ana@acme.example'] } },
  };
  const receivers = Object.fromEntries(cases.map(([name, { receiver }]) => [name, receiver]));
  const open = stack.move();
  return {
    settings,
    mail,
    slack: receivers.slack as FakeSlack,
    webhook: receivers.webhook as FakeWebhookReceiver,
    pagerDuty: receivers.pagerduty as FakePagerDuty,
    counts: () => [...cases.map(([, each]) => each.count()), mail.mails.length],
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

test('every channel receives a message about a mistake, and its end in the same thread', async () => {
  await using channels = await openChannels();
  await using work = await openWorkspace();
  const { settings, slack, webhook, pagerDuty, mail } = channels;
  const notifications = { channels: settings, routes: [{ channels: Object.keys(settings) }], groupWait: '0s' };
  work.repository.commit('A mistake', { 'teams.yaml': 'teams:\n  writers: { titel: Writers }\n' });
  await using daemon = await startInside(work, { top: { notifications } });
  await eventually('a message in every channel', () => channels.counts().every((count) => count === 1));
  expect(slack.messages[0]?.lines.map(shownLine).slice(0, 2)).toEqual([
    ':large_orange_circle: The manifests are invalid: org_acme',
    expect.stringMatching(/^• org_acme: .* \(since \d\d:\d\d UTC\)$/),
  ]);
  expect([...pagerDuty.incidents.values()]).toMatchObject([{ isOpen: true, pages: 1 }]);

  work.repository.commit('Correct it', { 'teams.yaml': teams('Writers') });
  await daemon.pass();
  await eventually('the end in every channel', () => slack.messages.length === 2 && mail.mails.length === 2);
  await eventually('the end at the others', () => webhook.messages.size === 2 && channels.counts().at(3) === 2);
  expect(slack.messages.map(({ thread, edits }) => [thread, edits])).toEqual([
    [null, 1],
    [slack.messages[0]?.ts, 0],
  ]);
  expect(slack.messages.map(({ lines }) => shownLine(lines[0] ?? []))).toEqual(
    Array.from({ length: 2 }, () => ':white_check_mark: Resolved: The manifests are invalid: org_acme'),
  );
  expect(mail.mails[1]?.mail.inReplyTo).toBe(mail.mails[0]?.mail.messageId);
  expect([...webhook.messages.values()]).toMatchObject([
    { data: { code: 'manifests-invalid', state: 'firing' } },
    { thread: [...webhook.messages.keys()][0], data: { state: 'resolved' } },
  ]);
  await eventually('the end of the incident', () => [...pagerDuty.incidents.values()].every(({ isOpen }) => !isOpen));
  expect(daemon.log.filter(({ msg }) => /notification/.test(String(msg)))).toEqual([]);
});
