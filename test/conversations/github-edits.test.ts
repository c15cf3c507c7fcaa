import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openGithub } from '../../src/conversations/sources/github.ts';
import { FakeGithub, type FakeIssue } from '../support/fake-github.ts';
import { createSocketClock } from '../support/fake-provider.ts';
import { PolledRounds, pauses, roundsOf } from '../support/poll-rounds.ts';

const START = Date.parse('2026-03-01T12:00:00Z');
const EDITS = [
  'new',
  'closed',
  'pull',
  'reply',
  'answer',
  'bot',
  'hide',
  'uncomment',
  'close',
  'decline',
  'reopen',
  'remove',
] as const;
type EditKind = (typeof EDITS)[number];

interface Edit {
  readonly kind: EditKind;
  readonly issue: number;
  readonly repository: number;
  /** Milliseconds before the edit. */
  readonly after: number;
}

const edit = fc.record<Edit>({
  kind: fc.constantFrom(...EDITS),
  issue: fc.nat(30),
  repository: fc.nat(1),
  after: pauses,
});
class World {
  readonly clock = createSocketClock(START);
  readonly github = new FakeGithub({ clock: this.clock, page: 3, limit: 100_000 });
  readonly repositories = ['acme/product', 'acme/other'].map((name) => this.github.addRepository(name));
  readonly polled = new PolledRounds(this.clock, START - 86_400_000, () => this.#open());
  #words = 0;

  #open() {
    return openGithub({
      name: 'issues',
      repositories: this.repositories.map(({ name }) => name),
      token: FakeGithub.token,
      teamMembers: [],
      includeNotPlanned: false,
      baseUrl: this.github.baseUrl,
      userAgent: 'octavo/0',
      clock: this.clock,
      random: () => 0.5,
    });
  }

  apply({ kind, issue: index, repository: which }: Edit): void {
    const { github } = this;
    this.#words += 1;
    const text = `text ${this.#words}`;
    const repository = this.repositories[which] as World['repositories'][0];
    const issue = repository.issues[index % Math.max(1, repository.issues.length)];
    if (kind === 'new' || kind === 'closed' || kind === 'pull' || issue === undefined) {
      const made = github.addIssue(repository, 'cora', kind === 'pull' ? 'hush' : text, {
        isPullRequest: kind === 'pull',
      });
      if (kind !== 'new') {
        github.close(made);
      }
      return;
    }
    const acts: Record<Exclude<EditKind, 'new' | 'closed' | 'pull'>, () => unknown> = {
      reply: () => github.comment(issue, 'cora', text),
      answer: () => github.comment(issue, 'abe', text, { author_association: 'MEMBER' }),
      bot: () => github.comment(issue, 'stale[bot]', 'hush', { user: { login: 'stale[bot]', type: 'Bot' } }),
      hide: () => github.comment(issue, 'troll', 'hush', { minimized: { reason: 'abuse' } }),
      uncomment: () => github.uncomment(issue),
      close: () => github.close(issue),
      decline: () => github.close(issue, 'not_planned'),
      reopen: () => github.reopen(issue),
      remove: () => github.remove(repository, issue),
    };
    acts[kind]();
  }
}

function wordsOf({ body, comments }: FakeIssue): (string | null)[] {
  return [body, ...comments.map((one) => one.body).filter((text) => text !== 'hush')];
}

test('sends the latest version of every closed issue despite edits and kills, and no other', async () => {
  await fc.assert(
    fc.asyncProperty(roundsOf(edit), async (rounds) => {
      const world = new World();
      await world.github.listen();
      try {
        await world.polled.play(world.github, rounds, (one) => world.apply(one));
        for (const issue of world.repositories.flatMap(({ issues }) => issues)) {
          const found = world.polled.kept.get(`github/${issue.node_id}`);
          if (issue.isPullRequest) {
            expect(found).toBeUndefined();
          } else if (issue.state === 'open' || issue.state_reason === 'not_planned') {
            expect(found).toMatchObject({ kind: 'skipped', reason: issue.state === 'open' ? 'open' : 'declined' });
          } else {
            expect(found?.kind === 'ticket' ? found.ticket.parts.map(({ body }) => body) : found).toEqual(
              wordsOf(issue),
            );
          }
        }
        expect(JSON.stringify(world.polled.came)).not.toContain('hush');
      } finally {
        await world.polled.close();
        await world.github[Symbol.asyncDispose]();
        world.clock[Symbol.dispose]();
      }
    }),
    { numRuns: 60 },
  );
});
