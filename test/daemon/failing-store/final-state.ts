/** Everything that must hold once a daemon whose store failed has recovered: nothing is lost, doubled or left over. */
import type { PassRecord } from '../../../src/store/history.ts';
import type { FailingDaemon } from './failing-daemon.ts';

const ORGANIZATION = 'org_acme';

/** Work of the people: the number of the last team, and the ids of all tickets. */
export interface GivenWork {
  readonly teams: number;
  readonly tickets: readonly string[];
}

/** Returns what was lost or doubled, and what has not ended. */
export async function findWrong(daemon: FailingDaemon, given: GivenWork): Promise<readonly string[]> {
  return [
    ...(await wrongCreations(daemon, given.teams)),
    ...(await wrongConversations(daemon, given.tickets)),
    ...(await wrongConditions(daemon)),
    ...(await wrongEvents(daemon)),
    ...wrongStatuses(daemon),
  ];
}

/** Each team was created once, and the history has its creation once. */
async function wrongCreations({ work, store }: FailingDaemon, teams: number): Promise<readonly string[]> {
  const history = store.history(ORGANIZATION);
  const wrong: string[] = [];
  let created = 0;
  for (let number = 1; number <= teams; number += 1) {
    const changes = await history.changesOf(`team/team${number}`, 100);
    const times = changes.filter(({ action, status }) => action === 'create' && status === 'applied').length;
    created += times;
    if (times > 1) {
      wrong.push(`the history has ${times} creations of team${number}`);
    }
  }
  const requests = work.emulator.requests.count('createTeam');
  return requests === created ? wrong : [...wrong, `${requests} teams were created, and the history has ${created}`];
}

/** Each ticket was sent once, and the outbox is empty. */
async function wrongConversations(
  { conversations, store }: FailingDaemon,
  tickets: readonly string[],
): Promise<readonly string[]> {
  const repeated = [...conversations].filter(([, repeats]) => repeats > 0).map(([id]) => id);
  const { sources } = await store.outbox(ORGANIZATION, { bytes: 1e9, items: 1e6 } as never).status();
  const left = sources.filter((each) => each.waiting + each.sending + each.inDoubt + each.deadLetters > 0);
  return [
    ...(repeated.length === 0 ? [] : [`conversations were sent twice: ${repeated.join()}`]),
    ...(conversations.size === tickets.length ? [] : [`${conversations.size} of ${tickets.length} conversations`]),
    ...left.map((source) => `the outbox is not empty: ${JSON.stringify(source)}`),
  ];
}

/** Each message was sent once, and each condition has ended. */
async function wrongConditions({ receiver, store }: FailingDaemon): Promise<readonly string[]> {
  const ids = receiver.messages.map(({ id }) => id);
  const conditions = (await store.notifications().conditions(1000)).filter(({ state }) => state !== 'resolved');
  const waiting = await store.notifications().deliveries({ isPending: true, limit: 100 });
  return [
    ...(new Set(ids).size === ids.length ? [] : ['a message was sent twice']),
    ...conditions.map(({ fact, state }) => `the condition ${fact.code} is ${state}`),
    ...waiting.map((delivery) => `a message waits: ${JSON.stringify(delivery)}`),
  ];
}

/** There is one message about each commit that was applied. */
async function wrongEvents({ receiver, store }: FailingDaemon): Promise<readonly string[]> {
  const sent = receiver.messages.filter(({ code }) => code === 'applied').length;
  const passes = await store.history(ORGANIZATION).passes({ limit: 1000 });
  const commits = new Set(passes.filter(isComplete).map(({ commit }) => commit)).size;
  return sent === commits ? [] : [`${sent} messages about ${commits} commits that were applied`];
}

/** Returns true for a pass that has applied all changes of its plan. */
function isComplete({ counts, outcome }: PassRecord): boolean {
  const { applied = 0, create = 0, update = 0, move = 0, delete: deleted = 0 } = counts;
  return applied > 0 && (outcome === 'done' || applied === create + update + move + deleted);
}

/** No commit stays pending. */
function wrongStatuses({ forge }: FailingDaemon): readonly string[] {
  const last = new Map(forge.statuses.map((status) => [status.sha, status]));
  return [...last.values()]
    .filter(({ state }) => state === 'pending')
    .map(({ sha, description }) => `the status of ${sha.slice(0, 7)} stays pending: ${description}`);
}
