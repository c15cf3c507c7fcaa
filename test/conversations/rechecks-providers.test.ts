/* Tickets that are deleted at their provider during the settle delay are never sent. */
import { afterEach, expect, test } from 'vitest';
import type { Ingestion } from '../../src/conversations/ingestion.ts';
import { ConversationSink } from '../support/conversation-sink.ts';
import type { FakeGithub } from '../support/fake-github.ts';
import type { FakeIntercom } from '../support/fake-intercom.ts';
import { createSocketClock } from '../support/fake-provider.ts';
import { createIngestion } from '../support/helpdesk.ts';
import { DAY, HOUR, MINUTE, type SocketClock, START } from '../support/polls.ts';
import { type Desk, type DeskOptions, type DeskTicket, PROVIDERS } from '../support/provider-desks.ts';

let clock: SocketClock;
let desk: Desk;
let ingestion: Ingestion;
let sink: ConversationSink;

async function open(provider: string, options: DeskOptions = {}): Promise<void> {
  clock = createSocketClock(START);
  desk = (await PROVIDERS.find(({ name }) => name === provider)?.open(clock, options)) as Desk;
}

/** Starts to poll. The settle delay is two hours from now on. */
function start(): void {
  sink = new ConversationSink();
  ingestion = createIngestion({
    sources: [{ name: 'support', polling: desk.connect(), webhook: null, every: 10 * MINUTE, since: DAY }],
    writer: sink.write(clock),
    settleDelay: 2 * HOUR,
    clock,
  });
  ingestion.start();
}

afterEach(async () => {
  await clock.run(ingestion.stop(0));
  await desk.fake[Symbol.asyncDispose]();
  clock[Symbol.dispose]();
});

function solved(text: string): DeskTicket {
  const ticket = desk.add(text);
  ticket.edits.solve('');
  return ticket;
}
const waiting = async () => (await ingestion.status()).sources[0]?.waiting;
/** Everything that was ever sent to the platform. */
const offered = () => sink.attempts.flatMap(({ ids }) => ids);

test.each([
  ['Zendesk', {}, 'remove', 1],
  ['Intercom', { lists: true }, 'remove', 1],
  ['Intercom', { lists: false }, 'remove', 2],
  ['Freshdesk', {}, 'remove', 2],
  ['Freshdesk', {}, 'spam', 2],
  ['Freshdesk', {}, 'delete', 2],
  ['GitHub', {}, 'remove', 2],
] as const)('%s %o never sends a ticket after %s, and reads others %i times', async (name, options, edit, reads) => {
  await open(name, options);
  const [deleted, kept] = ['a', 'b'].map(solved) as [DeskTicket, DeskTicket];
  await clock.advance(10 * MINUTE);
  start();
  const readsOfKept = () => desk.fake.requests.filter(({ path }) => path === kept.path).length;
  await clock.advance(HOUR);
  expect([await waiting(), readsOfKept()]).toEqual([2, 1]);
  deleted.edits[edit]?.('');
  await clock.advance(HOUR);
  expect([offered(), await waiting(), readsOfKept()]).toEqual([[kept.key], 0, reads]);
  await clock.advance(DAY);
  expect([offered(), await waiting(), readsOfKept()]).toEqual([[kept.key], 0, reads]);
});

test('GitHub withdraws nothing while a repository is unreachable, and an issue that was transferred', async () => {
  await open('GitHub');
  const github = desk.fake as FakeGithub;
  const [repository] = github.repositories as [FakeGithub['repositories'][0]];
  const [moved, kept] = ['a', 'b'].map(solved) as [DeskTicket, DeskTicket];
  start();
  await clock.advance(HOUR);
  const away = github.repositories.splice(0);
  await clock.advance(2 * HOUR);
  expect([offered(), await waiting()]).toEqual([[], 2]);
  github.repositories.push(...away);
  const issue = repository.issues.find(({ node_id: id }) => moved.key.endsWith(id));
  github.transfer(repository, issue as NonNullable<typeof issue>, github.addRepository('acme/elsewhere'));
  await clock.advance(HOUR);
  expect([offered(), await waiting()]).toEqual([[kept.key], 0]);
});

test('tickets that wait for a recheck are sent after it, even if the Intercom workspace now lists deletions', async () => {
  await open('Intercom', { lists: false });
  const conversation = solved('How?');
  await clock.advance(MINUTE);
  start();
  await clock.advance(HOUR);
  (desk.fake as FakeIntercom).getsList();
  await clock.advance(2 * HOUR);
  expect(offered()).toEqual([conversation.key]);
});
