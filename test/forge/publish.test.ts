import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AuthError, RateLimitedError, RejectedError, TransientError } from '../../src/core/errors.ts';
import type { RunNumber } from '../../src/forge/ci-job.ts';
import { publish, readMarker, writeMarker } from '../../src/forge/comment.ts';
import type { ForgeComment } from '../../src/forge/forge.ts';
import { type Forge, openForge } from '../../src/forge/open-forge.ts';
import { withRetries } from '../../src/forge/requests.ts';
import { FakeForge } from '../support/fake-forge.ts';
import { createInstantClock, FORGES, pullAt } from './samples.ts';

const ORGANIZATION = 'org_1';
const bodyOf = (run: RunNumber, organization = ORGANIZATION) =>
  `${writeMarker({ organization, scope: '.', run })}\nthe plan of run ${run.join('.')}`;

/** In-memory forge. `resultOf` decides the result of each request; its answer arrives when `turn` resolves. */
class MemoryForge implements Forge {
  readonly label = 'Memory';
  readonly maxLength = 1000;
  comments: ForgeComment[] = [];
  resultOf: (what: string) => 'lost' | 'failed' | 'done' = () => 'done';
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
    const result = this.resultOf(what);
    if (result === 'failed') {
      throw new TransientError('down', true);
    }
    const answer = work();
    await this.turn(`${what} answers`);
    if (result === 'lost') {
      throw new TransientError('lost', true);
    }
    return answer;
  }
}

const run = (forge: Forge, number: RunNumber, clock = createInstantClock()) =>
  publish(forge, { organization: ORGANIZATION, scope: '.', run: number }, bodyOf(number), clock);

describe('consecutive runs', () => {
  test('create one comment, update it later, and change no other', async () => {
    const forge = new MemoryForge();
    forge.add('a person says something');
    forge.add(bodyOf([9, 1], 'org_2'));
    expect(await run(forge, [1, 1])).toBe('created');
    expect(await run(forge, [2, 1])).toBe('updated');
    expect(await run(forge, [2, 2])).toBe('updated');
    const bodies = forge.comments.map(({ body }) => body);
    expect(bodies).toEqual(['a person says something', bodyOf([9, 1], 'org_2'), bodyOf([2, 2])]);
  });

  test('create a comment again that is deleted during the update', async () => {
    const forge = new MemoryForge();
    await run(forge, [1, 1]);
    forge.turn = async (what) => {
      forge.comments = what === 'update' ? [] : forge.comments;
    };
    await run(forge, [2, 1]);
    expect(forge.comments.map(({ body }) => body)).toEqual([bodyOf([2, 1])]);
  });

  test('delete the extra comment of a killed run, and keep the latest', async () => {
    const forge = new MemoryForge();
    forge.add(bodyOf([1, 1]));
    forge.add(bodyOf([3, 1]));
    expect(await run(forge, [2, 1])).toBe('outdated');
    expect(forge.comments).toEqual([{ id: 1, body: bodyOf([3, 1]) }]);
  });
});

describe('a failing forge', () => {
  test('is abandoned after all retries', async () => {
    const clock = createInstantClock();
    const down = new TransientError('down', true);
    await expect(withRetries(clock, () => Promise.reject(down))).rejects.toBe(down);
    expect(clock.waits).toEqual([1000, 4000, 15_000]);
  });

  test.each([
    ['waits as long as the forge requests', new RateLimitedError('slow', 30_000), [30_000, 30_000, 30_000]],
    ['waits a minute after a limit without a time', new RateLimitedError('slow', null), [60_000, 60_000, 60_000]],
    ['does not wait for a long time', new RateLimitedError('slow', 3_600_000), []],
    ['does not wait if a person must act', new AuthError('no', 403), []],
  ] as const)('%s', async (_what, error, waits) => {
    const clock = createInstantClock();
    await expect(withRetries(clock, () => Promise.reject(error))).rejects.toBe(error);
    expect(clock.waits).toEqual(waits);
  });

  test('gets no second comment if it does not list the first one yet', async () => {
    const forge = new MemoryForge();
    const { listOwn } = forge;
    const stale = [[], [], []];
    forge.listOwn = async () => stale.shift() ?? listOwn();
    const asked: string[] = [];
    forge.turn = async (what) => void asked.push(what);
    expect(await run(forge, [1, 1])).toBe('created');
    expect(asked.filter((what) => what === 'create')).toHaveLength(1);
  });

  test('gets no second comment if it never lists the first one', async () => {
    const forge = new MemoryForge();
    forge.listOwn = async () => [];
    await expect(run(forge, [1, 1])).rejects.toMatchObject({ code: 'transient' });
    expect(forge.comments).toHaveLength(1);
  });

  test('ends the run with an error if comments are always deleted', async () => {
    const forge = new MemoryForge();
    forge.turn = async (what) => {
      forge.comments = what === 'list' ? [] : forge.comments;
    };
    await expect(run(forge, [1, 1])).rejects.toMatchObject({ code: 'transient' });
  });
});

/** Results with few failures: the number of retries is limited. */
function atMost(most: number, results: readonly ('done' | 'lost' | 'failed')[]): ('done' | 'lost' | 'failed')[] {
  let troubles = 0;
  return results.map((result) => {
    troubles += result === 'done' ? 0 : 1;
    return troubles > most ? 'done' : result;
  });
}

test('a token that cannot read its user finds its comments by the author of a new one', async () => {
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

describe('concurrent runs', () => {
  const runs = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 2 })), {
    minLength: 2,
    maxLength: 4,
  });

  test('leave one comment, for any order of requests and lost responses', async () => {
    const results = fc.array(fc.constantFrom('done', 'done', 'done', 'lost', 'failed'), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), runs, results, fc.boolean(), async (scheduler, numbers, left, isFirst) => {
        const forge = new MemoryForge();
        if (!isFirst) {
          forge.add(bodyOf([0, 1]));
        }
        const queue = atMost(3, left);
        forge.resultOf = () => queue.shift() ?? 'done';
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
});
