/** Pages of conversations, clusters, budget, audit and log. */
import { expect, test } from 'vitest';
import { ClusterOverview } from '../../../src/clusters/events.ts';
import type { OwnRequest } from '../../../src/clusters/store.ts';
import type { Backend } from '../../../src/web/model/backend.ts';
import { LogBuffer } from '../../../src/web/model/log-buffer.ts';
import type { PageDefinition } from '../../../src/web/page.ts';
import { auditPage, organizationAuditPage } from '../../../src/web/pages/audit.ts';
import { budgetPage } from '../../../src/web/pages/budget.ts';
import { clustersPage } from '../../../src/web/pages/clusters.ts';
import { conversationsPage } from '../../../src/web/pages/conversations.ts';
import { deadLetterPage, deadLettersPage } from '../../../src/web/pages/dead-letters.ts';
import { logPage } from '../../../src/web/pages/log.ts';
import { someCluster } from '../../clusters/samples.ts';
import { HOSTILE_TEXTS } from '../../support/hostile-texts.ts';
import { render, skeleton } from '../../views/pages.ts';
import { type Asked, NOW, someBackend, someOrganization, someRequest, someSource } from '../../views/some-backend.ts';

/** A backend in which every text that comes from elsewhere is this one. */
async function backendWith(text: string, asked: Asked[] = []): Promise<Backend> {
  const overview = new ClusterOverview({ now: () => NOW });
  const events = overview.events();
  const url = 'https://app.example/c';
  events.onRead?.([
    { cluster: someCluster({ id: text, label: text, impact: text, url }), verdict: { passes: true } },
    { cluster: someCluster({ id: 'c_2', label: text, url }), verdict: { passes: true } },
  ]);
  events.onSkipped?.({ cluster: 'c_2', label: text, reason: 'unrouted', why: text });
  events.onTrouble?.({ cluster: null, message: text });
  events.onRunEnd?.({
    ...{ outcome: 'failed', error: new Error(text), source: 'clusters', read: 1, passing: 1, opened: 0, superseded: 0 },
    ...{ commented: 0, skipped: {}, open: 1, requests: 1, milliseconds: 1, dryRun: false },
  });
  const request = { cluster: text, label: text, id: text, space: text, subject: text, url, at: NOW, state: 'open' };
  const log = new LogBuffer();
  log.add(
    JSON.stringify({ level: 50, time: new Date(NOW).toISOString(), msg: text, organization: 'acme', field: text }),
  );
  const state = someOrganization('acme', {
    sources: [{ name: text, zendesk: {}, pollInterval: 1000 }],
    clusters: { enabled: true },
    status: {
      sender: { kind: 'failing', reason: text },
      sources: [
        someSource({ source: text, error: text, waiting: 1, deadLetters: 1, counts: { [`skipped.${text}`]: 1 } }),
      ],
    },
    deadLetters: [{ key: text, source: text, reason: text, at: NOW, bytes: 5 }],
    overview,
    changeRequests: [request as OwnRequest],
  });
  await state.history.addAudit({
    ...{ at: NOW, actor: { name: text, method: 'oidc' }, action: 'approve', subject: text, reason: text },
    ...{ outcome: 'refused', detail: text },
  });
  return someBackend([state], { answer: { conversation: { subject: text } }, asked, log });
}

const PAGES: readonly PageDefinition[] = [
  ...[conversationsPage, deadLettersPage, deadLetterPage, clustersPage, budgetPage],
  ...[auditPage, organizationAuditPage, logPage],
];

test.each(PAGES.map((page) => [page.path, page] as const))('%s shows hostile texts as text', async (_path, page) => {
  const requestFor = (text: string) => someRequest({ organization: 'acme', key: text }, {}, 'operator');
  const expected = skeleton(await render(page, await backendWith('plain'), requestFor('plain')));
  for (const text of [
    ...HOSTILE_TEXTS,
    '"><script>alert(1)</script>',
    "' onmouseover='x",
    'x'.repeat(10_000),
    '👩‍👩‍👧',
  ]) {
    const shown = await render(page, await backendWith(text), requestFor(text));
    expect(skeleton(shown), JSON.stringify(text)).toEqual(expected);
    expect(shown).not.toMatch(/ style=|<script|javascript:/i);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may reach a terminal or a browser
    expect(shown.replaceAll(/value="[^"]*"/g, '')).not.toMatch(/[\u0000-\u0008\u001b\u202a-\u202e]/);
    expect(shown.length).toBeLessThan(150_000);
  }
});

test('addresses of clusters and change requests are links only if they are http or https', async () => {
  const overview = new ClusterOverview({ now: () => NOW });
  overview.events().onRead?.([{ cluster: someCluster({ url: 'javascript:alert(1)' }), verdict: { passes: true } }]);
  const backend = someBackend([someOrganization('acme', { clusters: { enabled: true }, overview })]);
  const shown = await render(clustersPage, backend, someRequest({ organization: 'acme' }));
  expect(shown).not.toContain('javascript:');
  expect(shown).toContain('Login with SSO fails');
});

test('only operators get forms', async () => {
  for (const page of [conversationsPage, deadLettersPage, deadLetterPage, clustersPage]) {
    const params = { organization: 'acme', key: 'k' };
    const backend = await backendWith('k');
    expect(await render(page, backend, someRequest(params, {}, 'viewer'))).not.toContain('<form');
    const shown = await render(page, backend, someRequest(params, {}, 'approver'));
    expect(shown).toContain('method="post" action="/o/acme/actions"');
  }
});

test('the content of a dead letter is read for operators only, and through the handler that records it', async () => {
  const asked: Asked[] = [];
  const backend = await backendWith('secret story', asked);
  const params = { organization: 'acme', key: 'secret story' };
  const forViewer = await render(deadLetterPage, backend, someRequest(params, {}, 'viewer'));
  expect(forViewer).toContain('Only operators can read the content.');
  expect(asked).toEqual([]);
  const forOperator = await render(deadLetterPage, backend, someRequest(params, {}, 'operator'));
  expect(forOperator).toContain('&quot;subject&quot;: &quot;secret story&quot;');
  expect(asked).toEqual([['conversations', 'acme', { subcommand: 'dead show', key: 'secret story' }]]);
  expect(await deadLetterPage.load(backend, someRequest({ organization: 'acme', key: 'other' }))).toBeNull();
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

test('the log is filtered by level, and pages back without losing a record', async () => {
  const log = new LogBuffer();
  for (let index = 0; index < 250; index += 1) {
    log.add(JSON.stringify({ level: index % 2 === 0 ? 30 : 50, time: '2026-11-21T12:00:00Z', msg: `m${index};` }));
  }
  const backend = someBackend([someOrganization('acme')], { log });
  const errors = await render(logPage, backend, someRequest({}, { level: 'error' }));
  expect(errors).toContain('m249;');
  expect(errors).not.toContain('m248;');
  expect(errors).toContain('href="/log?level=error&amp;before=51"');
  const older = await render(logPage, backend, someRequest({}, { level: 'error', before: '51' }));
  expect(older).toContain('m49;');
  expect(older).not.toContain('m51;');
});

test('an organization without conversations and clusters says how to enable them', async () => {
  const backend = someBackend([someOrganization('acme')]);
  const request = someRequest({ organization: 'acme' });
  expect(await render(conversationsPage, backend, request)).toContain('<code>conversations.sources</code>');
  expect(await render(clustersPage, backend, request)).toContain('<code>clusters.enabled</code>');
});
