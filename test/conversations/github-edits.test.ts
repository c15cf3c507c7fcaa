import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openGithub } from '../../src/conversations/github/github.ts';
import type { Found } from '../../src/conversations/ticket.ts';
import type { Json } from '../../src/core/json.ts';
import { FakeGithub, type FakeIssue } from '../support/fake-github.ts';
import { createSocketClock } from '../support/fake-provider.ts';

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
  /** Milliseconds that pass before it. */
  readonly after: number;
}

/** Edits, some of them while the pages are read, and then a poll that dies after so many batches; null: it does not. */
interface Round {
  readonly before: readonly Edit[];
  readonly during: readonly Edit[];
  readonly dies: number | null;
  /** Whether a new process goes on. */
  readonly restarts: boolean;
}

const edit = fc.record<Edit>({
  kind: fc.constantFrom(...EDITS),
  issue: fc.nat(30),
  repository: fc.nat(1),
  after: fc.oneof({ weight: 4, arbitrary: fc.nat(1500) }, { weight: 1, arbitrary: fc.nat(3 * 3_600_000) }),
});
const round = fc.record<Round>({
  before: fc.array(edit, { maxLength: 12 }),
  during: fc.array(edit, { maxLength: 6 }),
  dies: fc.option(fc.nat(3)),
  restarts: fc.boolean(),
});

class World {
  readonly clock = createSocketClock(START);
  readonly github = new FakeGithub({ clock: this.clock, page: 3, limit: 100_000 });
  readonly repositories = ['acme/product', 'acme/other'].map((name) => this.github.addRepository(name));
  /** What is durable: the newest of each issue, and where the next poll begins. */
  readonly kept = new Map<string, Found>();
  /** Everything that ever came, durable or not. */
  readonly came: Found[] = [];
  #cursor: Json = null;
  #opened: ReturnType<typeof openGithub> | null = null;
  #words = 0;

  get source() {
    this.#opened ??= openGithub({
      name: 'issues',
      repositories: this.repositories.map(({ name }) => name),
      token: FakeGithub.token,
      team: [],
      declined: false,
      baseUrl: this.github.baseUrl,
      userAgent: 'octavo/0',
      clock: this.clock,
      random: () => 0.5,
    });
    return this.#opened;
  }

  async restart(): Promise<void> {
    await this.clock.run(this.source.close());
    this.#opened = null;
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

  /** Polls; what is not kept before it dies is lost. */
  async poll(dies: number | null): Promise<void> {
    let batches = 0;
    const signal = new AbortController().signal;
    for await (const { found, cursor } of this.source.poll({
      cursor: this.#cursor,
      since: START - 86_400_000,
      signal,
    })) {
      this.came.push(...found);
      if (batches === dies) {
        return;
      }
      batches += 1;
      for (const one of found) {
        if (one.kind !== 'rejected') {
          this.kept.set(one.kind === 'ticket' ? one.ticket.key : one.key, one);
        }
      }
      this.#cursor = JSON.parse(JSON.stringify(cursor)) as Json;
    }
  }
}

function wordsOf({ body, comments }: FakeIssue): (string | null)[] {
  return [body, ...comments.map((one) => one.body).filter((text) => text !== 'hush')];
}

test('whatever is edited and whoever dies, the newest of every closed issue comes, and no other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 5 }), async (rounds) => {
      const world = new World();
      await world.github.listen();
      try {
        for (const { before, during, dies, restarts } of rounds) {
          for (const one of before) {
            await world.clock.advance(one.after);
            world.apply(one);
          }
          const waiting = [...during];
          world.github.meanwhile = () => {
            const next = waiting.shift();
            if (next !== undefined) {
              world.apply(next);
            }
          };
          await world.clock.run(world.poll(dies));
          world.github.meanwhile = () => undefined;
          if (restarts) {
            await world.restart();
          }
        }
        await world.clock.run(world.poll(null));
        for (const issue of world.repositories.flatMap(({ issues }) => issues)) {
          const found = world.kept.get(`github/${issue.node_id}`);
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
        expect(JSON.stringify(world.came)).not.toContain('hush');
      } finally {
        await world.clock.run(world.source.close());
        await world.github[Symbol.asyncDispose]();
        world.clock[Symbol.dispose]();
      }
    }),
    { numRuns: 60 },
  );
});
