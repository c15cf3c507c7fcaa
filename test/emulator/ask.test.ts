import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import type { FaultRule } from '../../src/emulator/emulator.ts';
import { type Body, type Fixture, fixture } from './fixture.ts';

/* The assistant of a site, over a real socket: it answers in pieces, and may fail between them. */

let made: Fixture;
let site: string;
let ids: { guides: string; login: string; export: string; inGuides: string; inFrench: string };

const PAGES = [
  { title: 'Login', body: '# Reset a password\n\nPress the link below the field. Then look into your mail.' },
  { title: 'Export', path: 'export', body: 'PDF files are made in the background.' },
  { title: 'Import', path: 'import', body: 'Zip files are read at once.' },
];

beforeEach(async () => {
  made = await fixture();
  const { org, emulator } = made;
  const guides = (await org('POST', '/spaces', { title: 'Guides', language: 'en' })).id;
  const french = (await org('POST', '/spaces', { title: 'Guides (fr)', language: 'fr' })).id;
  const [login = '', exported = ''] = emulator.writePages(guides, PAGES);
  emulator.writePages(french, [{ title: 'Exporter', body: 'Le PDF password.' }]);
  site = (await org('POST', '/sites', { title: 'Help', spaces: [guides, french] })).id;
  const [one, two] = (await org('GET', `/sites/${site}/site-spaces`)).items;
  ids = { guides, login, export: exported, inGuides: one.id, inFrench: two.id };
});
afterEach(() => made.emulator.close());

const ALL = { mode: 'all' };
const QUESTION = 'How do I reset a password?';

/** Events of a stream that have arrived so far. */
function eventsOf(text: string): Body[] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)));
}

async function ask(question: string, scope: unknown, query = ''): Promise<Body[]> {
  const { emulator } = made;
  const path = `/orgs/${emulator.organization}/sites/${site}/ask${query}`;
  const { status, body, headers } = await made.call('POST', path, { question, scope });
  expect({ status, type: headers.get('content-type') }).toEqual({
    status: 200,
    type: 'text/event-stream; charset=utf-8',
  });
  expect(body.endsWith('\n\nevent: done\ndata: done\n\n')).toBe(true);
  return eventsOf(body);
}

/** An answer that is still arriving: its head, and the part of its body so far. */
async function asking(): Promise<{ response: IncomingMessage; come(): string; whole: Promise<void> }> {
  const { emulator } = made;
  const sent = request(`${emulator.url}/v1/orgs/${emulator.organization}/sites/${site}/ask`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${emulator.token}`, 'Content-Type': 'application/json' },
  });
  sent.end(JSON.stringify({ question: QUESTION, scope: ALL }));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  // A dropped connection emits an error before it closes, which some tests are about.
  response.on('error', () => {});
  const whole = new Promise<void>((resolve) => response.once('close', () => resolve()));
  return { response, come: () => text, whole };
}

/** Waits for a condition that only the other side of a socket can fulfill. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('the answer', () => {
  test('starts with its sources, grows with each event, and ends with the whole text and follow-up questions', async () => {
    const events = await ask(QUESTION, ALL);
    const answers = events.map((event) => event.answer.answer?.markdown);
    const whole = answers.at(-1);
    expect(events.every((event) => event.type === 'answer')).toBe(true);
    expect(answers[0]).toBeUndefined();
    expect(answers.length).toBeGreaterThan(4);
    for (const [at, answer] of answers.slice(1).entries()) {
      expect(whole.startsWith(answer)).toBe(true);
      expect(answer.length).toBeGreaterThan(answers[at]?.length ?? 0);
    }
    expect(whole).toContain('**Login**: Press the link below the field. Then look into your mail.');
    expect(events.at(-1).answer.followupQuestions).toEqual([
      'What is there about Export?',
      'What is there about Import?',
    ]);
  });

  test('names pages of the current revision and their matching sections as sources', async () => {
    const { revision } = (await made.call('GET', `/spaces/${ids.guides}`)).body;
    const events = await ask(QUESTION, { mode: 'specific', siteSpaceIds: [ids.inGuides] });
    expect(events.at(-1).answer.sources).toEqual([
      {
        type: 'page',
        page: ids.login,
        space: ids.guides,
        revision,
        sections: [`${ids.login}-1`],
        reason: expect.any(String),
      },
    ]);
  });

  test('says that the documentation does not contain an answer', async () => {
    const events = await ask('Where is the moon?', ALL);
    expect(events.at(-1)).toMatchObject({
      answer: { answer: { markdown: 'The documentation does not say anything about that.' }, sources: [] },
    });
  });

  test('is a rich document on request', async () => {
    const events = await ask(QUESTION, ALL, '?format=document');
    const { document, markdown } = events.at(-1).answer.answer;
    expect(markdown).toBeUndefined();
    expect(document).toMatchObject({ object: 'document', nodes: [{ type: 'paragraph' }, { type: 'paragraph' }] });
  });

  test.each([
    ['uses only the default content by default', { mode: 'default' }, ['Login']],
    ['uses all content with the scope all', ALL, ['Login', 'Exporter']],
  ])('%s', async (_, scope, titles) => {
    const markdown = (await ask('password', scope)).at(-1).answer.answer.markdown;
    expect([...markdown.matchAll(/\*\*(\w+)\*\*/g)].map((match) => match[1]).toSorted()).toEqual(titles.toSorted());
  });

  test('uses the current page and other content in its language by default', async () => {
    const events = await ask('password', { mode: 'default', currentSiteSpace: ids.inFrench });
    const [source] = events.at(-1).answer.sources;
    expect(events.at(-1).answer.sources).toHaveLength(1);
    expect(source.space).not.toBe(ids.guides);
  });

  test('is refused if the organization has disabled AI features', async () => {
    await made.org('PATCH', '', { ai: false });
    const path = `/orgs/${made.emulator.organization}/sites/${site}/ask`;
    expect((await made.call('POST', path, { question: QUESTION, scope: ALL })).status).toBe(403);
  });
});

describe('the stream of an answer', () => {
  test('sends each event before the next one is due', async () => {
    made.emulator.setLatency(100);
    const pending = asking();
    await until(() => made.clock.sleeping.length === 1);
    made.clock.advance(100);
    const { response, come, whole } = await pending;
    for (let pieces = 1; !come().endsWith('data: done\n\n'); pieces += 1) {
      await until(() => come().split('\n\n').length > pieces);
      expect(come().split('\n\n')).toHaveLength(pieces + 1);
      if (!come().endsWith('data: done\n\n')) {
        await until(() => made.clock.sleeping.length === 1);
        made.clock.advance(100);
      }
    }
    await whole;
    expect(response.complete).toBe(true);
  });

  test('ends when the client disconnects', async () => {
    const pauses: ('lasting' | 'ended')[] = [];
    const sleep: Clock['sleep'] = (_, signal) =>
      new Promise((resolve, reject) => {
        if (signal === undefined) {
          resolve();
          return;
        }
        const at = pauses.push('lasting') - 1;
        signal.addEventListener('abort', () => {
          pauses[at] = 'ended';
          reject(signal.reason);
        });
      });
    const state = made.emulator.state();
    await made.emulator.close();
    made = await fixture({ clock: { now: () => 0, monotonic: () => 0, sleep }, seed: state, latency: 100 });
    const { response, come } = await asking();
    await until(() => come() !== '' && pauses.length === 1);
    response.destroy();
    await until(() => pauses[0] === 'ended');
    await made.org('GET', '');
    expect(pauses).toEqual(['ended']);
  });

  const fault = (kind: 'truncate' | 'half' | 'wrong-content-type'): FaultRule[] => [
    { match: { operation: 'askSite' }, times: 1, fault: { kind } },
  ];

  test('sends whole events and a partial one if the connection drops', async () => {
    made.emulator.setFaults(fault('truncate'));
    const { response, come, whole } = await asking();
    await whole;
    const pieces = come().split('\n\n');
    expect(response.complete).toBe(false);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.at(-1)).toMatch(/^data: \{/);
    expect(() => JSON.parse(pieces.at(-1)?.slice('data: '.length) ?? '')).toThrow();
  });

  test('sends no done event if it is cut off without an error', async () => {
    made.emulator.setFaults(fault('half'));
    const { response, come, whole } = await asking();
    await whole;
    expect(response.complete).toBe(true);
    expect(come()).not.toContain('done');
    expect(eventsOf(come()).length).toBeGreaterThan(1);
  });

  test('contains the events also with the content type text/plain', async () => {
    made.emulator.setFaults(fault('wrong-content-type'));
    const { response, come, whole } = await asking();
    await whole;
    expect(response.headers['content-type']).toBe('text/plain');
    expect(come().endsWith('data: done\n\n')).toBe(true);
  });

  test('ends when the platform restarts', async () => {
    made.emulator.setLatency(100);
    const pending = asking();
    await until(() => made.clock.sleeping.length === 1);
    made.clock.advance(100);
    const { response, whole } = await pending;
    const restarted = made.emulator.restart();
    await whole;
    expect(response.complete).toBe(false);
    await until(() => made.clock.sleeping.includes(0));
    made.clock.advance(0);
    await restarted;
  });
});
