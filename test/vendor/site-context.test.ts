import { expect, test } from 'vitest';
import { handleClusterRequest } from '../../src/clusters/control-api.ts';
import { ClusterAutomation } from '../../src/clusters/run.ts';
import { Ingestion } from '../../src/conversations/ingestion.ts';
import { startEmulator } from '../../src/emulator/emulator.ts';
import { openWriter } from '../../src/platform/client.ts';
import { openConnection } from '../../src/platform/connection.ts';
import { operations } from '../../src/platform/operations/index.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { NO_REDACTION } from '../clusters/run-daemon.ts';
import { settingsOf } from '../clusters/samples.ts';
import { createFastClock } from '../support/fast-clock.ts';
import { Helpdesk, testRedactor } from '../support/helpdesk.ts';
import { openDocument } from './document.ts';
import { Judge } from './judge.ts';
import { described } from './known.ts';
import { startRecordingProxy } from './recording-proxy.ts';

/** Fields that the later document lacks, because the platform removed them, or because only 0.167 had them. */
const GONE: readonly string[] = ['0.202 GET /orgs/org_acme/conversations-clusters request operation undeclared {} ()'];

test('requests and responses for context records, topics and findings match the vendor’s later document', async () => {
  const emulator = await startEmulator({ platform: '0.201', processing: { conversations: 0 } });
  const proxy = await startRecordingProxy(emulator.url);
  const clock = createFastClock(Date.now(), 100);
  const random = () => 0.5;
  const connection = openConnection({
    ...{ baseUrl: proxy.url, token: emulator.token, userAgent: 'octavo/0', concurrency: 2, clock, random },
  });
  const { organization } = emulator;
  const writer = openWriter(connection, { organization, priority: 'person' });
  const store = openMemoryStore();
  try {
    const space = await writer.send(operations.createSpace, { body: { title: 'Guides' } });
    const site = await writer.send(operations.createSite, { body: { title: 'Docs', spaces: [space.id] } });
    const path = { siteId: site.id };
    const desk = new Helpdesk();
    for (let id = 0; id < 6; id += 1) {
      desk.edit(`${id}`, 'solved', 0);
    }
    const ingestion = new Ingestion({
      sources: [{ name: 'desk', polling: desk.source(), webhook: null, every: 10_000, since: 1e15 }],
      outbox: store.outbox('org', { items: 40, bytes: 1e6 }),
      ...{
        redactor: testRedactor,
        writer,
        site: async () => site.id,
        settleDelay: 0,
        batch: { maxConversations: 10, maxBytes: 1e6 },
      },
      ...{ clock, random, events: {} },
    });
    expect(await ingestion.once()).toBe(true);
    await ingestion.stop(0);
    emulator.writeClusters(organization, [{ label: 'PDF export is empty', site: site.id, issues: 3 }]);
    const automation = new ClusterAutomation({
      config: settingsOf({ enabled: true, defaultSpace: space.id, select: { impact: [], minIssues: 1 } }),
      openReader: () => writer,
      openWriter: () => writer,
      note: store.note('clusters'),
      names: { recorded: async () => new Map(), declared: async () => null, observed: () => new Map() },
      site: async () => site.id,
      ...{ clock, random, redaction: NO_REDACTION, signal: new AbortController().signal, events: {} },
    });
    expect(await automation.run()).toMatchObject({ outcome: 'done', source: 'topics', opened: 1 });
    const [topic] = (await writer.get(operations.listSiteTopics, { path })).items;
    const cluster = topic?.id ?? '';
    await handleClusterRequest(automation, { subcommand: 'mute', cluster, muted: true, dryRun: false });
    const [record] = (await writer.get(operations.listContextRecords, { path, query: { topic: cluster } })).items;
    await writer.get(operations.getContextRecord, { path: { ...path, contextRecordId: record?.id ?? '' } });
    const query = { topic: cluster, status: 'open', severity: 'low' } as const;
    const [finding] = (await writer.get(operations.listSiteFindings, { path, query })).items;
    const one = { ...path, siteFindingId: finding?.id ?? '' };
    await writer.get(operations.getSiteFinding, { path: one });
    await writer.send(operations.draftFindingChangeRequests, { path: one });
    await writer.get(operations.listFindingChangeRequests, { path: one, query: { limit: 1 } });
    await writer.send(operations.updateSiteFinding, { path: one, body: { status: 'done' } });
  } finally {
    await connection.close(0);
    await proxy.close();
    await emulator.close();
  }
  const judge = new Judge(openDocument('0.202'));
  const own = proxy.exchanges.filter(({ path }) => /context-records|topics|findings|clusters/.test(path));
  expect(own.length).toBeGreaterThan(12);
  expect([...new Set(own.flatMap((exchange) => judge.judge(exchange)).map(described))]).toEqual(GONE);
});
