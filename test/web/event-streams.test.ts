import { fastify } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import type { UiConfig } from '../../src/config/ui.ts';
import { EventBus } from '../../src/core/event-bus.ts';
import type { DaemonEvents } from '../../src/daemon/organization/feature.ts';
import { EventStreams } from '../../src/web/server/event-streams.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';
import { someBackend, someOrganization } from './some-backend.ts';

const ROLES = [
  { role: 'viewer', people: ['ana'], groups: [], organizations: null },
  { role: 'viewer', people: ['bo'], groups: [], organizations: ['org_1'] },
];

/** Serves event streams with a clock that tests move. */
async function serve(ids: readonly string[] = ['org_1', 'org_2'], roles: readonly object[] = ROLES) {
  const clock = createVirtualClock();
  const events = new EventBus<DaemonEvents>();
  const backend = {
    ...someBackend(ids.map((id) => someOrganization(id))),
    clock,
    onChange: (listener: (topic: string) => void) => events.subscribe({ onChange: listener }),
  };
  const streams = new EventStreams({
    backend,
    config: { roles } as unknown as UiConfig,
    identify: async ({ headers }) => ({
      actor: { name: String(headers.user ?? 'ana'), method: 'token' },
      groups: [],
      isAmbient: false,
    }),
    pageDuration: () => 0,
  });
  const app = fastify();
  streams.addTo(app);
  onTestFinished(() => app.close());
  const open = async (user: string) => {
    const response = await app.inject({ url: '/events', headers: { user }, payloadAsStream: true });
    const stream = response.stream();
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    return {
      stream,
      events: () => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(String(data))),
      topics: () => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(String(data)).topics),
    };
  };
  return {
    app,
    clock,
    open,
    notify: (...topics: string[]) => {
      for (const topic of topics) {
        events.publish.onChange?.(topic, false);
      }
    },
  };
}

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

test('people hear of organizations that they may see, and of nothing else', async () => {
  const { clock, open, notify } = await serve();
  const [ana, bo, eve] = [await open('ana'), await open('bo'), await open('eve')];
  notify('org_2');
  await clock.advance(100);
  notify('org_1', 'org_2', 'org_3');
  await clock.advance(1000);
  expect(ana.topics()).toEqual([['org_2'], ['org_1', 'org_2', 'org_3']]);
  expect(bo.topics()).toEqual([['org_1']]);
  expect(eve.topics()).toEqual([]);
});

test('many changed organizations are one topic', async () => {
  const ids = Array.from({ length: 60 }, (_, index) => `org_${index}`);
  const { clock, open, notify } = await serve(ids);
  const [ana, bo] = [await open('ana'), await open('bo')];
  notify(...ids, 'budget');
  await clock.advance(100);
  expect(ana.topics()).toEqual([['budget', '*']]);
  expect(bo.topics()).toEqual([['budget', 'org_1']]);
});

test('with many streams, events are 25 ms apart for each of them', async () => {
  const { clock, open, notify } = await serve();
  const all = await Promise.all(Array.from({ length: 200 }, () => open('ana')));
  notify('org_1');
  await clock.advance(100);
  notify('org_1');
  await clock.advance(4999);
  expect(all.every(({ topics }) => topics().length === 1)).toBe(true);
  await clock.advance(1);
  expect(all.every(({ topics }) => topics().length === 2)).toBe(true);
  expect(all[0]?.events()[1]).toEqual({ topics: ['org_1'], wait: 20_000 });
});

test('a stop ends streams at once, also while changes are collected', async () => {
  const { app, open, notify } = await serve();
  const { stream, topics } = await open('ana');
  notify('org_1');
  const ended = new Promise((resolve) => stream.once('end', resolve));
  await app.close();
  await ended;
  expect(topics()).toEqual([]);
});
