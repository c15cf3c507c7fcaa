/** Event streams: what they say to whom and when, how many there are, and what ends them. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { EventBus } from '../../src/core/event-bus.ts';
import type { DaemonEvents } from '../../src/daemon/organization/feature.ts';
import { callControl, controlSocketPath } from '../../src/server/control-client.ts';
import { organizationTopic, type Topic } from '../../src/web/model/page.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';
import { VERSION } from '../support/octavo-process.ts';
import { openWorkspace } from '../support/workspace.ts';
import { openPageApp, tokenEntry } from './page-app.ts';
import { type PageDaemon, startPage } from './page-daemon.ts';

const UI = {
  tokens: ['ana', 'bo', 'eve'].map((name) => tokenEntry(name, `${name}-token`)),
  roles: [
    { role: 'viewer', people: ['ana'] },
    { role: 'viewer', people: ['bo'], organizations: ['org_1'] },
  ],
};
const MINUTE = 60_000;

/** Reads an event, with the names of organizations alone. */
function readEvent(data: string | undefined) {
  return JSON.parse(String(data).replaceAll('organization/org_', 'org_'));
}

/** Serves event streams with a clock that tests move. */
async function serve({ organizations = ['org_1', 'org_2'], ui = {} } = {}) {
  const clock = createVirtualClock();
  const events = new EventBus<DaemonEvents>();
  const page = await openPageApp({
    ui: { ...UI, ...ui },
    organizations,
    backend: (backend) => ({
      ...backend,
      clock,
      onChange: (listener) => events.subscribe({ onChange: listener }),
    }),
  });
  onTestFinished(() => page.server.close());
  const open = async (user: string, headers: object = { authorization: `Bearer ${user}-token` }) => {
    const response = await page.server.app.inject({ url: '/events', headers: { ...headers }, payloadAsStream: true });
    const stream = response.stream();
    const all = { text: '', hasEnded: false };
    stream.on('data', (chunk: Buffer) => {
      all.text += chunk.toString();
    });
    stream.on('end', () => {
      all.hasEnded = true;
    });
    const found = () => [...all.text.matchAll(/^data: (.*)$/gm)].map(([, data]) => readEvent(data));
    return { response, all, events: found, topics: () => found().map(({ topics }) => topics) };
  };
  /** Names that begin with `org_` are those of organizations. */
  const notify = (...topics: string[]) => {
    for (const topic of topics) {
      events.publish.onChange?.(topic.startsWith('org_') ? organizationTopic(topic) : (topic as Topic));
    }
  };
  return { page, clock, open, notify };
}

test('an organization may have the name of another topic', async () => {
  const { clock, open, notify } = await serve({ organizations: ['log', 'org_1'] });
  const [ana, bo] = [await open('ana'), await open('bo')];
  notify('organization/log');
  await clock.advance(100);
  expect([ana.topics(), bo.topics()]).toEqual([[['organization/log']], []]);
});

test('a change is sent at once, and changes of the next second together', async () => {
  const { clock, open, notify } = await serve();
  const { events, topics } = await open('ana');
  notify('org_1', 'org_1', 'budget');
  await clock.advance(99);
  expect(topics()).toEqual([]);
  await clock.advance(1);
  expect(events()).toEqual([{ topics: ['budget', 'org_1'], wait: 500 }]);
  notify('org_1');
  await clock.advance(400);
  notify('org_2');
  await clock.advance(599);
  expect(topics()).toHaveLength(1);
  await clock.advance(1);
  expect(topics().slice(1)).toEqual([['org_1', 'org_2']]);
  await clock.advance(5000);
  notify('log');
  await clock.advance(100);
  expect(topics().slice(2)).toEqual([['log']]);
});

test('people hear of organizations that they may see, and of nothing else; many are one topic', async () => {
  const organizations = Array.from({ length: 60 }, (_, index) => `org_${index}`);
  const { clock, open, notify } = await serve({ organizations });
  const [ana, bo, eve] = [await open('ana'), await open('bo'), await open('eve')];
  notify('org_2');
  await clock.advance(100);
  notify('org_1', 'org_2', 'org_3');
  await clock.advance(1000);
  expect(eve.topics()).toEqual([]);
  notify(...organizations, 'budget');
  await clock.advance(1000);
  expect(ana.topics()).toEqual([['org_2'], ['org_1', 'org_2', 'org_3'], ['budget', '*']]);
  expect(bo.topics()).toEqual([['org_1'], ['budget', 'org_1']]);
});

test('there are at most 200 streams, with events 25 ms apart for each, and room again when one ends', async () => {
  const { page, clock, open, notify } = await serve();
  const all = await Promise.all(Array.from({ length: 200 }, () => open('ana')));
  notify('org_1');
  await clock.advance(100);
  notify('org_1');
  await clock.advance(4999);
  expect(all.every(({ topics }) => topics().length === 1)).toBe(true);
  await clock.advance(1);
  expect(all.every(({ topics }) => topics().length === 2)).toBe(true);
  expect(all[0]?.events()[1]).toEqual({ topics: ['org_1'], wait: 20_000 });
  const headers = { authorization: 'Bearer ana-token' };
  const refused = await page.get('/events', headers);
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '60']);
  expect((await page.get('/', headers)).statusCode).toBe(200);
  // The browser closes its connection.
  all[0]?.response.raw.res.emit('close');
  expect((await open('ana')).response.statusCode).toBe(200);
});

test('a stop ends streams at once, also while changes are collected', async () => {
  const { page, clock, open, notify } = await serve();
  const { all, topics } = await open('ana');
  notify('org_1');
  await page.server.close();
  await clock.settle();
  expect([all.hasEnded, topics()]).toEqual([true, []]);
});

test('streams end at the sign-out of their person, when their session is too old, and after 15 minutes', async () => {
  const { page, clock, open } = await serve({ ui: { session: '10m' } });
  const cookies = await Promise.all(
    ['ana', 'ana', 'bo'].map(async (name) => {
      const answer = await page.post('/sign-in', { token: `${name}-token` });
      return { cookie: String(answer.headers['set-cookie']).split(';')[0] ?? '' };
    }),
  );
  const streams = [...(await Promise.all(cookies.map((cookie) => open('', cookie)))), await open('bo')];
  const ended = () => streams.map(({ all }) => all.hasEnded);
  await page.post('/sign-out', {}, { ...cookies[0], 'sec-fetch-site': 'same-origin' });
  await clock.settle();
  expect(ended()).toEqual([true, false, false, false]);
  await clock.advance(10 * MINUTE - 1);
  expect(ended()).toEqual([true, false, false, false]);
  expect(streams[3]?.all.text).toMatch(/^retry: 3000\n\n(:\n\n){23}$/);
  await clock.advance(1);
  expect(ended()).toEqual([true, true, true, false]);
  expect((await page.get('/events', cookies[1])).statusCode).toBe(401);
  await clock.advance(5 * MINUTE);
  expect(ended()).toEqual([true, true, true, true]);
});

/** Reads the event stream of a browser until an event has this topic. */
async function readUntil({ get }: PageDaemon, topic: string, act: () => Promise<unknown>): Promise<string> {
  const { headers, body } = await get('/events');
  expect(headers.get('content-type')).toBe('text/event-stream');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  await act();
  let text = '';
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk).toString('utf8');
    if (text.includes(`"${topic}"`)) {
      return text;
    }
  }
  throw new Error(`the stream ended: ${text}`);
}

test('a pass and an action on the control socket ring, with the organization and nothing about it', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work);
  const ofPass = await readUntil(page, 'organization/org_acme', async () =>
    page.daemon.organizations[0]?.trigger('manual'),
  );
  expect(ofPass).toMatch(/^retry: 3000\n\n(:\n\n)*data: \{"topics":\["organization\/org_acme"\],"wait":500\}\n\n/);
  const socket = controlSocketPath({
    store: { path: 'octavo.db' },
    runtime: { directory: join(work.folder, 'state') },
  });
  // Without the id of the only organization.
  const request = { subcommand: 'pause', reason: 'a freeze', until: null } as const;
  const ofAction = await readUntil(page, 'organization/org_acme', () =>
    callControl(socket, { command: 'actions', request }, VERSION),
  );
  expect(ofAction).toMatch(/"topics":\[(?:"notifications",)?"organization\/org_acme"\]/);
  // What concerns no organization is in the audit of all.
  const ofRetry = await readUntil(page, 'audit', () =>
    callControl(socket, { command: 'deliveries', request: { subcommand: 'retry', channel: null } }, VERSION),
  );
  expect(ofRetry).toMatch(/"topics":\["notifications","audit"\]/);
});
