import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { getTopics, rateCluster, rateText, readContent } from '../../src/emulator/conversations/processing.ts';
import type { IssueRecord } from '../../src/emulator/conversations/records.ts';
import { createStore } from '../../src/emulator/families.ts';
import { seededRandom } from '../../src/emulator/http/faults.ts';
import type { EmulatorState, EmulatorStore } from '../../src/emulator/model/store.ts';
import { defaultState } from '../../src/emulator/organizations/seed.ts';
import { TICKETS, type Ticket } from './tickets.ts';

/* Clustering of conversations, without a network: invariants for any sequence and order. */

/** Arrival of the nth ticket under that id. */
interface Arrival {
  readonly id: number;
  readonly ticket: Ticket;
}

const AT = '2026-03-01T12:00:00.000Z';
const ORG = 'org_acme';

function arrive(store: EmulatorStore, { id, ticket }: Arrival): void {
  const before = [...store.conversations.all()].find((record) => record.externalId === String(id));
  store.conversations.put({
    ...(before ?? store.identify('cnv')),
    organization: ORG,
    source: 'email',
    externalId: String(id),
    content: { subject: ticket.subject, parts: [{ type: 'message', role: 'user', body: ticket.body }] },
    createdAt: AT,
    ingestedAt: AT,
    received: 1,
    repeats: 0,
    run: { startedAt: 0, due: 1 },
  });
}

function storeOf(state: EmulatorState): EmulatorStore {
  const store = createStore();
  store.load(state);
  return store;
}

/** Processes the arrivals one after another; with `reload`, from a copy of the state each time. */
function work(arrivals: readonly Arrival[], reload = false): EmulatorStore {
  let store = storeOf(defaultState());
  for (const arrival of arrivals) {
    arrive(store, arrival);
    store.settle(1);
    store = reload ? storeOf(store.dump()) : store;
  }
  return store;
}

const arrivals = fc.array(
  fc.record({ id: fc.integer({ min: 0, max: 15 }), ticket: fc.constantFrom(...TICKETS, { topic: null, body: '' }) }),
  { maxLength: 40 },
);

test('the same sequence gives the same state, even with a restart in between', () => {
  fc.assert(
    fc.property(arrivals, (sequence) => {
      const once = work(sequence).dump();
      expect(work(sequence).dump()).toEqual(once);
      expect(work(sequence, true).dump()).toEqual(once);
    }),
    { numRuns: 50 },
  );
});

test('after any edits every conversation with text has an issue, no cluster is empty, and removed words are gone', () => {
  fc.assert(
    fc.property(arrivals, (sequence) => {
      const store = work(sequence);
      const issues = store.conversationIssues.by('organization', ORG);
      const last = new Map(sequence.map(({ id, ticket }) => [String(id), ticket]));
      const speaking = [...store.conversations.all()].filter((record) => last.get(record.externalId)?.body !== '');
      expect(issues.map((issue) => issue.conversation).toSorted()).toEqual(speaking.map(({ id }) => id).toSorted());
      for (const conversation of speaking) {
        const [issue] = store.conversationIssues.by('conversation', conversation.id);
        expect(issue?.terms).toEqual(readContent(conversation.content)?.terms);
      }
      const used = new Set(issues.flatMap((issue) => issue.cluster ?? []));
      expect([...store.issuesClusters.all()].map(({ id }) => id).toSorted()).toEqual([...used].toSorted());
      for (const issue of issues) {
        const { clusters, unclustered } = getTopics(store, ORG);
        const fresh = getTopics(storeOf(store.dump()), ORG);
        expect(clusters.likeness(issue.cluster ?? '', issue.terms)).toBe(
          fresh.clusters.likeness(issue.cluster ?? '', issue.terms),
        );
        expect(unclustered.likeness(issue.id, issue.terms)).toBe(fresh.unclustered.likeness(issue.id, issue.terms));
      }
    }),
    { numRuns: 30 },
  );
});

function shuffled(seed: number): Arrival[] {
  const random = seededRandom(seed);
  return TICKETS.map((ticket, id) => ({ ticket, id, at: random() })).sort((a, b) => a.at - b.at);
}

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])('finds three topics without noise in any order: seed %i', (seed) => {
  const store = work(shuffled(seed));
  const topicOf = (issue: IssueRecord) =>
    TICKETS[Number(store.conversations.get(issue.conversation)?.externalId)]?.topic ?? 'noise';
  const issues = store.conversationIssues.by('organization', ORG);
  const groups = [...Map.groupBy(issues, (issue) => issue.cluster)].map(([cluster, members]) => [
    cluster === undefined ? 'none' : 'cluster',
    ...new Set(members.map(topicOf)),
    members.length,
  ]);
  expect(groups.map((group) => group.join(' ')).toSorted()).toEqual([
    'cluster billing 10',
    'cluster login 10',
    'cluster webhooks 10',
    'none noise 10',
  ]);
});

test('an early conversation joins when the cluster has grown to match it', () => {
  const ticket = (body: string): Ticket => ({ topic: null, body });
  const early = [ticket('sync branch stuck'), ticket('github sync repository commits missing')];
  const store = work(
    [...early, ticket('github sync branch repository commits')].map((item, id) => ({ id, ticket: item })),
  );
  const [cluster] = store.issuesClusters.all();
  expect(store.conversationIssues.by('cluster', cluster?.id ?? '')).toHaveLength(3);
});

test('names of object members, such as constructor, are ordinary words', () => {
  const ticket: Ticket = { topic: null, body: 'constructor prototype __proto__ hasOwnProperty' };
  const store = work([0, 1, 2].map((id) => ({ id, ticket })));
  expect([...store.issuesClusters.all()]).toHaveLength(1);
  expect(Object.keys(store.conversationIssues.by('organization', ORG)[0]?.terms ?? {})).toContain('constructor');
});

describe('words', () => {
  const terms = (body: string) =>
    Object.keys(readContent({ parts: [{ type: 'message', role: 'user', body }] })?.terms ?? {});

  test.each([
    ['exports exporting exported export', ['export']],
    ['Signed in, signing in, log-in, logging into', ['login']],
    ['categories category', ['category']],
    ['verifies verified verify', ['verify']],
    ['connections connected connect', ['connect']],
    ['<p>Tabellen&nbsp;<b>fehlen</b></p>', ['tabellen', 'fehlen']],
    ['Please help, it does not work', []],
    ['https://acme.example/path ana@acme.example [EMAIL_1] [PHONE_12] 12345', []],
    ['[the guide](https://docs.example/webhooks)', ['guid']],
    ['Поиск не работает', ['поиск', 'не', 'работает']],
  ])('extracts the words of %s', (body, expected) => {
    expect(terms(body)).toEqual(expected);
  });
});

test.each([
  ['All our pages are gone', 'high'],
  ['This is URGENT', 'high'],
  ['We are completely blocked', 'high'],
  ['Nobody can log in', 'high'],
  ['I cannot publish', 'medium'],
  ['It doesn’t load', 'medium'],
  ['The build fails', 'medium'],
  ['How do I change the logo?', 'low'],
  ['We lost interest in blocks of flats and deleted the app', 'low'],
] as const)('rates the impact of "%s" as %s', (text, impact) => {
  expect(rateText(text)).toBe(impact);
});

test.each([
  [['high'], 'medium'],
  [['high', 'high', 'low'], 'high'],
  [['high', 'low', 'low', 'low'], 'low'],
  [['medium', 'low', 'low'], 'medium'],
  [Array(9).fill('low'), 'low'],
  [Array(10).fill('low'), 'medium'],
  [Array(20).fill('medium'), 'high'],
] as const)('rates the impact of a cluster of %j as %s', (impacts, impact) => {
  expect(rateCluster(impacts)).toBe(impact);
});
