import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AuthError, RateLimitedError, RejectedError, TransientError } from '../../src/core/errors.ts';
import type { Forge, ForgeComment } from '../../src/forge/forge.ts';
import { readMarker, writeMarker } from '../../src/forge/marker.ts';
import { openForge } from '../../src/forge/open-forge.ts';
import { publish, withRetries } from '../../src/forge/publish.ts';
import type { RunNumber } from '../../src/forge/pull-request.ts';
import { FakeForge } from '../support/fake-forge.ts';
import { createHastyClock, FORGES, pullAt } from './samples.ts';

const ORGANIZATION = 'org_1';
const bodyOf = (run: RunNumber, organization = ORGANIZATION) =>
  `${writeMarker({ organization, scope: '.', run })}\nthe plan of run ${run.join('.')}`;

/** A forge in memory. `fate` says of each request what becomes of it; its answer comes when `turn` resolves. */
class MemoryForge implements Forge {
  readonly label = 'Memory';
  readonly longest = 1000;
  comments: ForgeComment[] = [];
  fate: (what: string) => 'lost' | 'failed' | 'done' = () => 'done';
  turn: (what: string) => Promise<void> = async () => {};
  #ids = 0;

  add(body: string): ForgeComment {
    this.#ids += 1;
    const comment = { id: this.#ids, body };
    this.comments.push(comment);
    return comment;
  }

  listOwn = () => this.#request('list', () => [...this.comments]);
  create = (body: string) => this.#request('create', () => this.add(body));
  update = (id: number, body: string) =>
    this.#request('update', () => {
      if (!this.comments.some((one) => one.id === id)) {
        throw new RejectedError('gone', 404);
      }
      this.comments = this.comments.map((one) => (one.id === id ? { id, body } : one));
    });
  remove = (id: number) =>
    this.#request('remove', () => {
      this.comments = this.comments.filter((one) => one.id !== id);
    });
  setStatus = async () => {};

  async #request<T>(what: string, work: () => T): Promise<T> {
    await this.turn(what);
    const fate = this.fate(what);
    if (fate === 'failed') {
      throw new TransientError('down', true);
    }
    const answer = work();
    await this.turn(`${what} answers`);
    if (fate === 'lost') {
      throw new TransientError('lost', true);
    }
    return answer;
  }
}

const run = (forge: Forge, number: RunNumber, clock = createHastyClock()) =>
  publish(forge, { organization: ORGANIZATION, scope: '.', run: number }, bodyOf(number), clock);

describe('one run after the other', () => {
  test('the first creates, the next update, and nothing else is touched', async () => {
    const forge = new MemoryForge();
    forge.add('a person says something');
    forge.add(bodyOf([9, 1], 'org_2'));
    expect(await run(forge, [1, 1])).toBe('created');
    expect(await run(forge, [2, 1])).toBe('updated');
    expect(await run(forge, [2, 2])).toBe('updated');
    const bodies = forge.comments.map(({ body }) => body);
    expect(bodies).toEqual(['a person says something', bodyOf([9, 1], 'org_2'), bodyOf([2, 2])]);
  });

  test('an earlier run that comes late changes nothing', async () => {
    const forge = new MemoryForge();
    await run(forge, [5, 1]);
    expect(await run(forge, [4, 7])).toBe('outdated');
    expect(forge.comments.map(({ body }) => body)).toEqual([bodyOf([5, 1])]);
  });

  test('a comment that somebody deleted is made again', async () => {
    const forge = new MemoryForge();
    await run(forge, [1, 1]);
    forge.comments = [];
    expect(await run(forge, [2, 1])).toBe('created');
    expect(forge.comments).toHaveLength(1);
  });

  test('a comment that is deleted while it is updated is made again', async () => {
    const forge = new MemoryForge();
    await run(forge, [1, 1]);
    forge.turn = async (what) => {
      forge.comments = what === 'update' ? [] : forge.comments;
    };
    await run(forge, [2, 1]);
    expect(forge.comments.map(({ body }) => body)).toEqual([bodyOf([2, 1])]);
  });

  test('what a run that was killed has left over goes, and what the latest said stays', async () => {
    const forge = new MemoryForge();
    forge.add(bodyOf([1, 1]));
    forge.add(bodyOf([3, 1]));
    expect(await run(forge, [2, 1])).toBe('outdated');
    expect(forge.comments).toEqual([{ id: 1, body: bodyOf([3, 1]) }]);
  });
});

describe('a forge in trouble', () => {
  test('a create whose answer was lost is not made twice', async () => {
    const forge = new MemoryForge();
    forge.fate = (what) => (what === 'create' ? 'lost' : 'done');
    expect(await run(forge, [1, 1])).toBe('created');
    expect(forge.comments).toHaveLength(1);
  });

  test('reads and updates are asked again, with pauses', async () => {
    const forge = new MemoryForge();
    forge.add(bodyOf([1, 1]));
    const failed = new Set<string>();
    forge.fate = (what) => {
      const isFirst = !failed.has(what);
      failed.add(what);
      return isFirst ? 'failed' : 'done';
    };
    const clock = createHastyClock();
    expect(await run(forge, [2, 1], clock)).toBe('updated');
    expect(clock.waits).toEqual([1000, 1000]);
  });

  test('one that stays down is given up, after as much patience as there is', async () => {
    const clock = createHastyClock();
    const down = new TransientError('down', true);
    await expect(withRetries(clock, () => Promise.reject(down))).rejects.toBe(down);
    expect(clock.waits).toEqual([1000, 4000, 15_000]);
  });

  test.each([
    ['as long as it is asked to', new RateLimitedError('slow', 30_000), [30_000, 30_000, 30_000]],
    ['not for long', new RateLimitedError('slow', 3_600_000), []],
    ['not at all where a person must act', new AuthError('no', 403), []],
  ] as const)('waits %s', async (_what, error, waits) => {
    const clock = createHastyClock();
    await expect(withRetries(clock, () => Promise.reject(error))).rejects.toBe(error);
    expect(clock.waits).toEqual(waits);
  });

  test('a comment that was refused for a limit is made later, once', async () => {
    const forge = new MemoryForge();
    const { create } = forge;
    const limits = [new RateLimitedError('slow', 2000), new RateLimitedError('slow', null)];
    forge.create = async (body) => {
      const limit = limits.shift();
      if (limit !== undefined) {
        throw limit;
      }
      return create(body);
    };
    const clock = createHastyClock();
    expect(await run(forge, [1, 1], clock)).toBe('created');
    expect(clock.waits).toEqual([2000, 60_000]);
    expect(forge.comments).toHaveLength(1);
  });

  test('a comment that is there is not made again because the forge does not list it yet', async () => {
    const forge = new MemoryForge();
    const { listOwn } = forge;
    const stale = [[], [], []];
    forge.listOwn = async () => stale.shift() ?? listOwn();
    const asked: string[] = [];
    forge.turn = async (what) => void asked.push(what);
    expect(await run(forge, [1, 1])).toBe('created');
    expect(asked.filter((what) => what === 'create')).toHaveLength(1);
  });

  test('one that is never listed is not made again either', async () => {
    const forge = new MemoryForge();
    forge.listOwn = async () => [];
    await expect(run(forge, [1, 1])).rejects.toMatchObject({ code: 'transient' });
    expect(forge.comments).toHaveLength(1);
  });

  test('comments that are deleted faster than they are written end with an error', async () => {
    const forge = new MemoryForge();
    forge.turn = async (what) => {
      forge.comments = what === 'list' ? [] : forge.comments;
    };
    await expect(run(forge, [1, 1])).rejects.toMatchObject({ code: 'transient' });
  });
});

/** Fates of which only so many are trouble: a run is patient, not for ever. */
function atMost(most: number, fates: readonly ('done' | 'lost' | 'failed')[]): ('done' | 'lost' | 'failed')[] {
  let troubles = 0;
  return fates.map((fate) => {
    troubles += fate === 'done' ? 0 : 1;
    return troubles > most ? 'done' : fate;
  });
}

test('a token that may not ask who it is knows its comments by the one that it writes', async () => {
  const { open, name, repository } = FORGES[2];
  await using fake = await open();
  fake.may.identify = false;
  const { signal } = new AbortController();
  for (const number of [1, 2, 3]) {
    const forge = openForge(pullAt(fake, name, repository), FakeForge.token, signal, 'octavo/0') as Forge;
    await run(forge, [number, 1]);
  }
  expect(fake.comments.map(({ body }) => body)).toEqual([bodyOf([3, 1])]);
});

describe('runs at the same time', () => {
  const runs = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 2 })), {
    minLength: 2,
    maxLength: 4,
  });

  test('in whatever order their requests are worked on, and whatever is lost, there is one comment, of one of them', async () => {
    const fates = fc.array(fc.constantFrom('done', 'done', 'done', 'lost', 'failed'), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), runs, fates, fc.boolean(), async (scheduler, numbers, left, isFirst) => {
        const forge = new MemoryForge();
        if (!isFirst) {
          forge.add(bodyOf([0, 1]));
        }
        const queue = atMost(3, left);
        forge.fate = () => queue.shift() ?? 'done';
        forge.turn = (what) => scheduler.schedule(Promise.resolve(), what);
        const all = Promise.allSettled(numbers.map((number) => run(forge, number)));
        await scheduler.waitFor(all);
        expect((await all).filter(({ status }) => status === 'rejected')).toEqual([]);
        expect(forge.comments).toHaveLength(1);
        const wrote = readMarker(forge.comments[0]?.body ?? '')?.run;
        expect(numbers.map(String)).toContain(String(wrote));
      }),
      { numRuns: 300 },
    );
  });

  test.each(FORGES)(
    'two runs that create at the same time at $name leave one comment',
    async ({ name, open, repository }) => {
      await using fake = await open();
      const { signal } = new AbortController();
      const forge = () => openForge(pullAt(fake, name, repository), FakeForge.token, signal, 'octavo/0') as Forge;
      // Neither sees the other's before it has made its own.
      let waiting: (() => void)[] = [];
      const met = (inner: Forge): Forge => ({
        ...inner,
        create: async (body) => {
          await new Promise<void>((resolve) => {
            waiting.push(resolve);
            if (waiting.length === 2) {
              for (const go of waiting) {
                go();
              }
              waiting = [];
            }
          });
          return inner.create(body);
        },
      });
      await Promise.all([run(met(forge()), [1, 1]), run(met(forge()), [2, 1])]);
      expect(fake.requests.filter((request) => /^POST .*(comments|notes)$/.test(request))).toHaveLength(2);
      expect(fake.own.map(({ body }) => body)).toEqual([bodyOf([2, 1])]);
    },
  );
});
