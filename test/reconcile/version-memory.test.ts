import { describe, expect, test } from 'vitest';
import { RejectedError, TransientError } from '../../src/core/errors.ts';
import { VersionMemory, type Ways } from '../../src/reconcile/version-memory.ts';

const refused = (status: number, message = `refused (${status})`) => new RejectedError(message, status);

/** What was tried, in order, and how it ends: an error is thrown, null is done. */
function ways(tried: string[], usual: Error | null, other: Error | null): Ways {
  const way = (name: string, error: Error | null) => async () => {
    tried.push(name);
    await Promise.resolve();
    if (error !== null) {
      throw error;
    }
  };
  return { usual: way('usual', usual), other: way('other', other) };
}

describe('a feature that versions have in two ways', () => {
  test.each([
    { usual: null, other: null, expected: ['usual', 'usual', 'usual'] },
    { usual: refused(404), other: null, expected: ['usual', 'other', 'other', 'other'] },
  ])('is found out once, however many ask at the same time: $expected', async ({ usual, other, expected }) => {
    const memory = new VersionMemory();
    const tried: string[] = [];
    await Promise.all([1, 2, 3].map(() => memory.choose('groups', ways(tried, usual, other))));
    expect(tried).toEqual(expected);
  });

  test.each([
    ['the platform says no', refused(400), null, ['usual']],
    ['it may have been done', new TransientError('lost', true), null, ['usual']],
    ['the other way is refused too', refused(404), refused(404), ['usual', 'other']],
    ['the other way is not understood', refused(404), refused(400), ['usual', 'other']],
    ['the other way is lost', refused(404), new TransientError('lost', true), ['usual', 'other']],
  ])('is not known where %s: the next finds out', async (_, usual, other, expected) => {
    const memory = new VersionMemory();
    const tried: string[] = [];
    const first = memory.choose('groups', ways(tried, usual, other));
    const next: string[] = [];
    const second = memory.choose('groups', ways(next, null, null));
    await expect(first).rejects.toThrow();
    await second;
    expect({ tried, next }).toEqual({ tried: expected, next: ['usual'] });
  });

  test('tells both refusals, one of which says why', async () => {
    const both = ways([], refused(404, 'add: no such operation'), refused(404, 'update: no such section'));
    await expect(new VersionMemory().choose('groups', both)).rejects.toThrow(
      'add: no such operation; update: no such section',
    );
  });

  test('tells nothing of another', async () => {
    const memory = new VersionMemory();
    const tried: string[] = [];
    await memory.choose('groups', ways(tried, refused(404), null));
    await memory.choose('links', ways(tried, null, null));
    expect(tried).toEqual(['usual', 'other', 'usual']);
  });
});
