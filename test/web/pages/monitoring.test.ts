/** Pages of conversations, clusters, budget, audit and log. */
import { expect, test } from 'vitest';
import { LogBuffer } from '../../../src/web/model/log-buffer.ts';
import { titlesOf } from '../../../src/web/model/status.ts';
import { auditPage } from '../../../src/web/pages/audit.ts';
import { budgetPage } from '../../../src/web/pages/budget.ts';
import { conversationsPage } from '../../../src/web/pages/conversations.ts';
import { deadLetterPage, deadLettersPage } from '../../../src/web/pages/dead-letters.ts';
import { logPage } from '../../../src/web/pages/log.ts';
import { organizationPage } from '../../../src/web/pages/organization.ts';
import { clustersPage } from '../../../src/web/pages/questions.ts';
import { fakeDaemon, request } from '../fake-daemon.ts';
import { DELETION, hostileDaemon } from '../hostile-daemon.ts';
import { type Asked, NOW, render, someBackend, someOrganization, someRequest } from '../some-backend.ts';

test('only operators get forms', async () => {
  const { backend } = await hostileDaemon(['k']);
  for (const page of [conversationsPage, deadLettersPage, deadLetterPage, clustersPage, organizationPage]) {
    expect(await render(page, backend, request({ key: 'k' }, { role: 'viewer' }))).not.toContain('method="post"');
    const shown = await render(page, backend, request({ key: 'k' }, { role: 'operator' }));
    expect(shown).toContain('method="post" action="/o/org_1/actions"');
  }
});

test('the content of a dead letter is read for operators only, and through the handler that records it', async () => {
  const asked: Asked[] = [];
  const { backend, handlers } = await hostileDaemon(['secret story'], { asked });
  const params = { key: 'secret story' };
  const forViewer = await render(deadLetterPage, backend, request(params, { role: 'viewer' }));
  expect(forViewer).toContain('Only operators can read the content.');
  expect(asked).toEqual([]);
  const forOperator = await render(deadLetterPage, backend, request(params, { role: 'operator', handlers }));
  expect(forOperator).toContain('&quot;subject&quot;: &quot;secret story&quot;');
  expect(asked).toEqual([['conversations', 'org_1', { subcommand: 'dead show', key: 'secret story' }]]);
  expect(await deadLetterPage.load(backend, request({ key: 'other' }))).toBeNull();
});

test('budget, audit and log show only organizations that the person may see', async () => {
  const log = new LogBuffer();
  const record = (organization: string | undefined, message: string) =>
    log.add(JSON.stringify({ level: 30, time: new Date(NOW).toISOString(), msg: message, organization }));
  record('ours', 'about ours');
  record('theirs', 'about theirs');
  record(undefined, 'about the daemon');
  const states = [someOrganization('ours'), someOrganization('theirs')];
  for (const { id, history } of states) {
    await history.addAudit({
      ...{ at: NOW, actor: { name: 'ana', method: 'token' }, action: 'pause', subject: '', reason: `why of ${id}` },
      ...{ outcome: 'done', detail: '' },
    });
  }
  const backend = someBackend(states, { log });
  const some = someRequest({}, {}, (id) => (id === 'ours' ? 'viewer' : null));
  for (const page of [budgetPage, auditPage, logPage]) {
    expect(await render(page, backend, some)).not.toContain('theirs');
    expect(await render(page, backend, someRequest())).toContain('theirs');
  }
  expect(await render(logPage, backend, some)).not.toContain('about the daemon');
  expect(await render(logPage, backend, someRequest())).toContain('about the daemon');
  const asked = someRequest({}, { organization: 'theirs' }, (id) => (id === 'ours' ? 'viewer' : null));
  expect(await render(logPage, backend, asked)).not.toContain('about theirs');
});

test('the log names organizations by their titles, is filtered by one, and says each day once', async () => {
  const log = new LogBuffer();
  const add = (organization: string, time: string) =>
    log.add(JSON.stringify({ level: 30, time, msg: `about ${organization}`, organization }));
  add('org_a', '2026-11-20T23:59:59Z');
  add('org_b', '2026-11-21T00:00:00Z');
  add('org_a', '2026-11-21T09:30:00Z');
  const { backend } = await fakeDaemon(
    { ...DELETION, id: 'org_a', edit: (plan, declared) => [{ ...plan, title: 'Acme <b>' }, declared] },
    { id: 'org_b', plan: null },
  );
  const page = (organization = '') =>
    render(logPage, { ...backend, log }, { ...someRequest({}, { organization }), titleOf: titlesOf(backend) });
  const shown = await page();
  expect(shown).toContain('Acme &lt;b&gt; <span class="address">org_a</span>');
  expect(shown.match(/November 2026/g)).toHaveLength(2);
  expect(shown.indexOf('09:30:00')).toBeLessThan(shown.indexOf('00:00:00'));
  for (const asked of ['acme <B>', 'org_a']) {
    const own = await page(asked);
    expect(own).toContain('about org_a');
    expect(own).not.toContain('about org_b');
  }
});

test('the log is filtered by level, and pages back without losing a record', async () => {
  const log = new LogBuffer();
  for (let index = 0; index < 250; index += 1) {
    log.add(JSON.stringify({ level: index % 2 === 0 ? 30 : 50, time: '2026-11-21T12:00:00Z', msg: `m${index};` }));
  }
  const backend = someBackend([someOrganization('acme')], { log });
  const errors = await render(logPage, backend, someRequest({}, { level: 'error' }));
  expect(errors).toContain('m249;');
  expect(errors).not.toContain('m248;');
  expect(errors).toContain('href="/log?level=error&amp;before=151"');
  const older = await render(logPage, backend, someRequest({}, { level: 'error', before: '151' }));
  expect(older).toContain('m149;');
  expect(older).not.toContain('m151;');
});

test('a record of the log is a line with its level, its message and as much of its fields as there is room for', async () => {
  const log = new LogBuffer();
  const time = '2026-11-21T12:00:00Z';
  log.add(
    JSON.stringify({
      level: 50,
      time,
      msg: 'apply\u202e <b>',
      organization: 'acme',
      attempt: 3,
      reason: 'x'.repeat(5000),
      late: 'y',
    }),
  );
  log.add(JSON.stringify({ level: 30, time, msg: 'ready' }));
  const shown = await render(logPage, someBackend([someOrganization('acme')], { log }), someRequest());
  const [plain = '', failed = ''] = [...shown.matchAll(/<li>(.*?)<\/li>/gs)].map(([, each = '']) => each);
  expect(shown).toContain('21 November 2026 <span class="count">UTC</span>');
  expect(plain).toMatch(/>12:00:00<.*info<.*<p>ready<\/p>/s);
  expect(failed).toMatch(
    /error<.*href="\/o\/acme".*<summary>apply\\u202e &lt;b&gt;.*attempt 3, reason x.*<dt>reason<\/dt><dd>x+…/s,
  );
  expect(failed).not.toContain('late');
  expect(failed.length).toBeLessThan(2500);
});
