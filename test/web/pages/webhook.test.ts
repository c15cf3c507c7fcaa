/** Webhook of a repository on the page of its organization. */
import { expect, test } from 'vitest';
import type { LastPush, PushStatus } from '../../../src/reconcile/push-receiver.ts';
import type { OrganizationState } from '../../../src/web/model/page.ts';
import { organizationPage } from '../../../src/web/pages/organization.ts';
import { fakeDaemon, NOW, request } from '../fake-daemon.ts';
import { render, viewOf } from '../some-backend.ts';

/** Returns the page of an organization whose webhook has this state. */
async function page(status: PushStatus | null) {
  const { backend } = await fakeDaemon({ plan: null });
  const webhook = status === null ? null : { status: async () => status };
  const organizations = backend.organizations().map((state): OrganizationState => ({ ...state, webhook }));
  const changed = { ...backend, organizations: () => organizations };
  const { webhook: view } = await viewOf<{ webhook: object | null }>(organizationPage, changed, request());
  return { view, text: await render(organizationPage, changed, request()) };
}

const last = (outcome: LastPush['outcome'], mismatch: LastPush['mismatch'] = null) => ({ at: NOW, outcome, mismatch });

test.each([
  [last('accepted'), 'a push, which was fetched at once'],
  [last('repeated'), 'a push that was received before'],
  [last('ping'), 'a ping'],
  [last('ignored', 'event'), 'ignored, because it was not a push'],
  [last('ignored', 'repository'), 'ignored, because it was a push to another repository'],
  [last('ignored', 'ref'), 'ignored, because it was a push to another branch or tag'],
])('the last delivery %j is described', async (delivery, sentence) => {
  const { view, text } = await page({ last: delivery, refusedAt: NOW - 1 });
  expect(view).toEqual({ lastAt: '2026-06-01T12:02:00.000Z', sentence, refusedAt: null, needsAttention: false });
  expect(text).toContain(sentence);
});

test('a webhook without a delivery, and with later refusals, needs attention', async () => {
  expect((await page({ last: null, refusedAt: null })).view).toMatchObject({
    ...{ sentence: 'no delivery has arrived yet', needsAttention: true },
  });
  expect((await page({ last: last('accepted'), refusedAt: NOW + 1000 })).view).toMatchObject({
    sentence: expect.stringContaining('requests are refused since then'),
    ...{ refusedAt: '2026-06-01T12:02:01.000Z', needsAttention: true },
  });
  const { view, text } = await page(null);
  expect(view).toBeNull();
  expect(text).not.toContain('<dt>Webhook</dt>');
});
