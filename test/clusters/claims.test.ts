import { describe, expect, test } from 'vitest';
import type { ClusterChangeRequest } from '../../src/clusters/change-request.ts';
import { type ClaimOptions, decideClaims } from '../../src/clusters/claims.ts';
import { DAY, NOW, someRequest } from './samples.ts';

const WIDE = { maxOpen: 100, maxOpenPerSpace: 100, maxPerDay: 100 };
const options = (limits: Partial<typeof WIDE> = {}): ClaimOptions => ({
  limits: { ...WIDE, ...limits },
  reopenGrowth: 2,
  issuesAtMerge: new Map([['merged', 5]]),
});

type Some = Partial<ClusterChangeRequest>;
const draft = (id: string, cluster: string, over: Some = {}): Some => ({
  id,
  cluster,
  status: 'draft',
  createdAt: NOW,
  ...over,
});

/** Drafts of the same time, and a later one. */
const [A, B, C, RIVAL] = [draft('a', 'c_1'), draft('b', 'c_2'), draft('c', 'c_3'), draft('b', 'c_1')];
const LATER = draft('b', 'c_1', { createdAt: NOW + 1 });

describe('decideClaims', () => {
  test.each<[string, Some[], string[], Partial<typeof WIDE>, string[], string[]]>([
    ['opens the first of two drafts', [A, LATER], ['a'], {}, ['a'], []],
    ['supersedes the second of two drafts', [A, LATER], ['b'], {}, [], ['has a draft change request (a)']],
    ['orders drafts of the same time by id', [RIVAL, A], ['a', 'b'], {}, ['a'], ['has a draft change request (a)']],
    [
      'prefers an open change request, even if it was created later',
      [A, { id: 'b', createdAt: NOW + 1 }],
      ['a'],
      {},
      [],
      ['has an open change request (b)'],
    ],
    ['decides nothing about drafts of other daemons', [A, B], [], {}, [], []],
    ['decides nothing about an own change request that is already open', [{ id: 'a' }], ['a'], {}, [], []],
    [
      'supersedes drafts above the limit of open change requests',
      [{ id: 'o', cluster: 'c_9' }, A, B],
      ['a', 'b'],
      { maxOpen: 2 },
      ['a'],
      ['the limit of 2 open at the same time is reached'],
    ],
    [
      'supersedes drafts above the limit of a space',
      [A, draft('b', 'c_2', { space: 'sp_2' }), C],
      ['a', 'b', 'c'],
      { maxOpenPerSpace: 1 },
      ['a', 'b'],
      ['the limit of 1 open at the same time in this space is reached'],
    ],
    [
      'supersedes drafts above the daily limit',
      [{ id: 'm', cluster: 'c_9', status: 'merged', createdAt: NOW - DAY + 1 }, A],
      ['a'],
      { maxPerDay: 1 },
      [],
      ['the limit of 1 opened within 24 hours is reached'],
    ],
    [
      'counts the draft of a cluster whose last change request was merged without an edit',
      [{ id: 'm', cluster: 'c_1', status: 'merged', isEmptyMerge: true, createdAt: NOW - 1 }, A, B],
      ['a', 'b'],
      { maxPerDay: 2 },
      ['a'],
      ['the limit of 2 opened within 24 hours is reached'],
    ],
    [
      'counts the draft of a cluster whose issues have grown since the merge',
      [{ id: 'merged', cluster: 'c_1', status: 'merged', createdAt: NOW - 1 }, A, B],
      ['b'],
      { maxPerDay: 2 },
      [],
      ['the limit of 2 opened within 24 hours is reached'],
    ],
    [
      'does not count change requests that are older than a day',
      [{ id: 'm', cluster: 'c_9', status: 'merged', createdAt: NOW - DAY }, A],
      ['a'],
      { maxPerDay: 1 },
      ['a'],
      [],
    ],
    [
      'does not count superseded drafts against the limits',
      [A, RIVAL, draft('c', 'c_2')],
      ['c'],
      { maxOpen: 2 },
      ['c'],
      [],
    ],
    ['does not count later drafts against the limits', [A, B, C], ['a'], { maxOpen: 1 }, ['a'], []],
  ])('%s', (_, list, mine, limits, open, whys) => {
    const requests = list.map(someRequest);
    const claims = new Map(mine.map((id) => [id, 7]));
    const both = [
      decideClaims(requests, claims, options(limits)),
      decideClaims(requests.toReversed(), claims, options(limits)),
    ];
    for (const decision of both) {
      expect(decision.open.map(({ id }) => id)).toEqual(open);
      expect(decision.superseded.map(({ why }) => why)).toEqual(
        whys.map((why) => (why.startsWith('the limit') ? why : `the cluster ${why}`)),
      );
    }
  });
});
