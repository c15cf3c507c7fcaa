import { afterEach, describe, expect, test } from 'vitest';
import { Ingestion } from '../../src/conversations/ingestion.ts';
import type { PollingSource } from '../../src/conversations/model/source.ts';
import { openFreshdesk } from '../../src/conversations/sources/freshdesk.ts';
import { openGithub } from '../../src/conversations/sources/github.ts';
import { openIntercom } from '../../src/conversations/sources/intercom.ts';
import { openZendesk } from '../../src/conversations/sources/zendesk.ts';
import { openWriter } from '../../src/platform/client.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { ConversationSink } from '../support/conversation-sink.ts';
import { FakeFreshdesk } from '../support/fake-freshdesk.ts';
import { FakeGithub } from '../support/fake-github.ts';
import { FakeIntercom } from '../support/fake-intercom.ts';
import { createSocketClock, type FakeProvider } from '../support/fake-provider.ts';
import { FakeZendesk } from '../support/fake-zendesk.ts';
import { testRedactor } from '../support/helpdesk.ts';

const START = Date.parse('2026-03-01T12:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let clock: ReturnType<typeof createSocketClock>;
let provider: FakeProvider;
let ingestion: Ingestion;
let sink: ConversationSink;

/** The settle delay is two hours from now on. */
function start(polling: PollingSource): void {
  sink = new ConversationSink();
  ingestion = new Ingestion({
    sources: [{ name: 'support', polling, webhook: null, every: 10 * MINUTE, since: DAY }],
    outbox: openMemoryStore().outbox('org_1', { items: 100, bytes: 1e6 }),
    redactor: testRedactor,
    writer: openWriter(sink.connect(clock), { organization: 'org_1', priority: 'ingestion' }),
    settleDelay: 2 * HOUR,
    batch: { maxConversations: 50, maxBytes: 1e6 },
    clock,
    random: () => 0.5,
    events: {},
  });
  ingestion.start();
}

afterEach(async () => {
  await clock.run(ingestion.stop(0));
  await provider[Symbol.asyncDispose]();
  clock[Symbol.dispose]();
});

const dependencies = () => ({ name: 'support', userAgent: 'octavo/0', clock, random: () => 0.5 });
const waiting = async () => (await ingestion.status()).sources[0]?.waiting;
const sent = () => [...sink.contents.keys()];
/** Everything that was ever sent to the platform. */
const offered = () => sink.attempts.flatMap(({ ids }) => ids);

describe('Freshdesk', () => {
  const ONE = /^\/api\/v2\/tickets\/\d+$/;
  const MESSAGES = /\/conversations$/;

  async function open() {
    clock = createSocketClock(START);
    const desk = await new FakeFreshdesk({ clock }).listen();
    provider = desk;
    const customer = desk.addPerson('contacts', 'Cora Customer', 'cora@customer.example');
    const resolved = (text: string) => {
      const ticket = desk.addTicket(customer, text);
      desk.setStatus(ticket, 4);
      return ticket;
    };
    const settings = { domain: 'acme', token: FakeFreshdesk.token, lookback: DAY, baseUrl: desk.url };
    return { desk, resolved, customer, begin: () => start(openFreshdesk({ ...settings, ...dependencies() })) };
  }

  test('never sends a ticket that is deleted, spam or destroyed during its settle delay', async () => {
    const { desk, resolved, begin } = await open();
    const [deleted, spam, destroyed, kept] = ['a', 'b', 'c', 'd'].map(resolved);
    begin();
    await clock.advance(HOUR);
    expect(await waiting()).toBe(4);
    Object.assign(deleted ?? {}, { deleted: true });
    Object.assign(spam ?? {}, { spam: true });
    desk.destroy(destroyed as NonNullable<typeof destroyed>);
    await clock.advance(HOUR + MINUTE);
    expect(sent()).toEqual([`freshdesk/acme/${kept?.id}`]);
    await clock.advance(DAY);
    expect(offered()).toEqual([`freshdesk/acme/${kept?.id}`]);
    expect(await waiting()).toBe(0);
  });

  test('takes two requests per ticket at the end of its settle delay, and none before or after', async () => {
    const { desk, resolved, begin } = await open();
    resolved('a');
    resolved('b');
    await clock.advance(30 * MINUTE);
    begin();
    await clock.advance(80 * MINUTE);
    // Each was read with the poll that found it.
    expect([desk.count(ONE), desk.count(MESSAGES)]).toEqual([0, 2]);
    await clock.advance(20 * MINUTE);
    expect([desk.count(ONE), desk.count(MESSAGES), sent().length]).toEqual([2, 4, 2]);
    await clock.advance(DAY);
    expect([desk.count(ONE), desk.count(MESSAGES), sink.attempts.length]).toEqual([2, 4, 1]);
  });

  test('does not recheck a ticket whose settle delay was over when it was found', async () => {
    const { desk, resolved, begin } = await open();
    resolved('a');
    await clock.advance(3 * HOUR);
    begin();
    await clock.advance(HOUR);
    expect([desk.count(ONE), desk.count(MESSAGES), sent().length]).toEqual([0, 1, 1]);
  });

  test('delays only the ticket that cannot be fetched', async () => {
    const { desk, resolved, begin } = await open();
    const [broken, fine] = ['a', 'b'].map(resolved);
    begin();
    await clock.advance(HOUR);
    desk.fault = ({ path }) => (path === `/api/v2/tickets/${broken?.id}` ? 500 : null);
    await clock.advance(2 * HOUR);
    expect(sent()).toEqual([`freshdesk/acme/${fine?.id}`]);
    expect((await ingestion.status()).sources[0]).toMatchObject({ waiting: 1, error: expect.stringContaining('500') });
    desk.fault = () => null;
    await clock.advance(HOUR);
    expect(sent()).toHaveLength(2);
    expect((await ingestion.status()).sources[0]).toMatchObject({ waiting: 0, error: null });
  });
});

describe('GitHub', () => {
  const ONE = /^\/repos\/acme\/product\/issues\/\d+$/;
  const COMMENTS = /\/comments$/;

  async function open() {
    clock = createSocketClock(START);
    const github = await new FakeGithub({ clock }).listen();
    provider = github;
    const repository = github.addRepository('acme/product');
    const closed = (text: string) => {
      const issue = github.addIssue(repository, 'cora', text);
      github.close(issue);
      return issue;
    };
    const settings = {
      repositories: ['acme/product'],
      token: FakeGithub.token,
      teamMembers: [],
      includeNotPlanned: false,
    };
    const polling = () => openGithub({ ...settings, baseUrl: github.baseUrl, ...dependencies() });
    return { github, repository, closed, begin: () => start(polling()) };
  }

  test('never sends an issue that is deleted or transferred during its settle delay', async () => {
    const { github, repository, closed, begin } = await open();
    const [deleted, moved, kept] = ['a', 'b', 'c'].map(closed) as [never, never, ReturnType<typeof closed>];
    begin();
    await clock.advance(HOUR);
    expect(await waiting()).toBe(3);
    github.remove(repository, deleted);
    github.transfer(repository, moved, github.addRepository('acme/other'));
    await clock.advance(HOUR + MINUTE);
    expect(sent()).toEqual([`github/${kept.node_id}`]);
    await clock.advance(DAY);
    expect(offered()).toEqual([`github/${kept.node_id}`]);
    expect(await waiting()).toBe(0);
  });

  test('takes two requests per issue at the end of its settle delay, and none before or after', async () => {
    const { github, closed, begin } = await open();
    closed('a');
    closed('b');
    await clock.advance(30 * MINUTE);
    begin();
    await clock.advance(80 * MINUTE);
    expect([github.count(ONE), github.count(COMMENTS)]).toEqual([0, 2]);
    await clock.advance(20 * MINUTE);
    expect([github.count(ONE), github.count(COMMENTS), sent().length]).toEqual([2, 4, 2]);
    await clock.advance(DAY);
    expect([github.count(ONE), github.count(COMMENTS), sink.attempts.length]).toEqual([2, 4, 1]);
  });

  test('withdraws nothing while a repository is unreachable', async () => {
    const { github, closed, begin } = await open();
    closed('a');
    begin();
    await clock.advance(HOUR);
    const away = github.repositories.splice(0);
    await clock.advance(2 * HOUR);
    expect(offered()).toEqual([]);
    expect(await waiting()).toBe(1);
    github.repositories.push(...away);
    await clock.advance(HOUR);
    expect(sent()).toHaveLength(1);
  });
});

describe('Intercom', () => {
  const ONE = /^\/conversations\/\d+$/;

  async function open(lists: boolean) {
    clock = createSocketClock(START);
    const helpdesk = await new FakeIntercom({ clock, lists }).listen();
    provider = helpdesk;
    const customer = helpdesk.author('user', 'Cora');
    const closed = (text: string) => {
      const conversation = helpdesk.begin(customer, text);
      helpdesk.close(conversation);
      return conversation;
    };
    const settings = { appId: 'ab12cd', token: FakeIntercom.token, region: 'us', lookback: HOUR } as const;
    const polling = () => openIntercom({ ...settings, baseUrl: helpdesk.url, ...dependencies() });
    return { helpdesk, closed, begin: () => start(polling()) };
  }

  test.each([true, false])(
    'never sends a conversation that is deleted during its settle delay; the workspace lists deletions: %s',
    async (lists) => {
      const { helpdesk, closed, begin } = await open(lists);
      const [deleted, kept] = ['a', 'b'].map(closed) as [never, ReturnType<typeof closed>];
      await clock.advance(MINUTE);
      begin();
      await clock.advance(100 * MINUTE);
      expect(await waiting()).toBe(2);
      const before = helpdesk.count(ONE);
      helpdesk.remove(deleted);
      await clock.advance(40 * MINUTE);
      expect(offered()).toEqual([`intercom/ab12cd/${kept.id}`]);
      expect(await waiting()).toBe(0);
      // No fetches if the provider lists deletions.
      expect(helpdesk.count(ONE) - before).toBe(lists ? 0 : 2);
    },
  );
});

test('tickets that wait for a recheck are sent after it, even if the Intercom workspace now lists deletions', async () => {
  clock = createSocketClock(START);
  const helpdesk = await new FakeIntercom({ clock, lists: false }).listen();
  provider = helpdesk;
  const conversation = helpdesk.begin(helpdesk.author('user', 'Cora'), 'How?');
  helpdesk.close(conversation);
  const settings = { appId: 'ab12cd', token: FakeIntercom.token, region: 'us', lookback: HOUR } as const;
  await clock.advance(MINUTE);
  start(openIntercom({ ...settings, baseUrl: helpdesk.url, ...dependencies() }));
  await clock.advance(HOUR);
  helpdesk.getsList();
  await clock.advance(2 * HOUR);
  expect(sent()).toEqual([`intercom/ab12cd/${conversation.id}`]);
});

test('Zendesk reports deletions in its export, and needs no rechecks', async () => {
  clock = createSocketClock(START);
  const zendesk = await new FakeZendesk({ clock }).listen();
  provider = zendesk;
  const customer = zendesk.addUser('end-user', 'Cora Customer');
  const [deleted, kept] = ['a', 'b'].map((text) => {
    const ticket = zendesk.addTicket(customer, 'Help', text);
    zendesk.solve(ticket);
    return ticket;
  }) as [never, ReturnType<typeof zendesk.addTicket>];
  await clock.advance(5 * MINUTE);
  const note = openMemoryStore().note('tokens');
  start(openZendesk({ subdomain: 'acme', token: FakeZendesk.token, note, baseUrl: zendesk.url, ...dependencies() }));
  await clock.advance(HOUR);
  expect(await waiting()).toBe(2);
  zendesk.remove(deleted);
  const before = zendesk.count(/^\/api\/v2\/tickets\//);
  await clock.advance(2 * HOUR);
  expect(offered()).toEqual([`zendesk/acme/${kept.id}`]);
  expect(zendesk.count(/^\/api\/v2\/tickets\//) - before).toBe(0);
});
