/** The webhook of the repository, from a delivery to the pass of the daemon. */
import { expect, test } from 'vitest';
import { PUSHES, type PushDelivery } from '../support/push-deliveries.ts';
import { openWorkspace } from '../support/workspace.ts';
import { teams } from './daemon-process.ts';
import { startInside } from './inside.ts';

const SECRET = 'a secret of more than 16 characters';
const forge = { type: 'github', repository: 'acme/docs', webhookSecret: SECRET };

test('a push is fetched long before the next poll, once, and only with the secret and for the followed branch', async () => {
  await using work = await openWorkspace();
  work.repository.commit('Begin', { 'teams.yaml': teams('One') });
  await using daemon = await startInside(work, { organization: { forge } });
  const deliver = async ({ headers, body }: PushDelivery, organization = 'org_acme') => {
    const url = `${daemon.address}/hooks/${organization}`;
    const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
    return { status: response.status, ...((await response.json()) as object) };
  };
  const push = PUSHES.github({ secret: SECRET, id: 'one' });
  work.repository.commit('Two', { 'teams.yaml': teams('One', 'Two') });
  expect(await deliver(push)).toEqual({ status: 202, outcome: 'accepted' });
  await work.untilTeams('One', 'Two');
  await daemon.idle();

  const before = work.emulator.requests.total;
  work.repository.commit('Three', { 'teams.yaml': teams('One', 'Three') });
  const refused = { status: 401, error: 'the signature is missing, wrong or too old' };
  expect(await deliver(PUSHES.github({ secret: 'another secret of many characters' }))).toEqual(refused);
  expect(await deliver(push)).toEqual({ status: 200, outcome: 'repeated' });
  expect(await deliver(PUSHES.github({ secret: SECRET, ref: 'refs/heads/x' }))).toEqual({
    status: 200,
    outcome: 'ignored',
  });
  expect(await deliver(push, 'org_other')).toEqual({ status: 404, error: 'not found' });
  await daemon.idle();
  expect(work.emulator.requests.total).toBe(before);
  expect(JSON.stringify(daemon.log)).not.toContain('a secret of more');
  expect(await daemon.metrics()).toContain(
    'octavo_push_webhook_requests_total{organization="org_acme",outcome="accepted"} 1',
  );
});
