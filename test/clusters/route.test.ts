import { describe, expect, test } from 'vitest';
import { pickRepresentatives } from '../../src/clusters/cluster.ts';
import {
  buildSearchQuery,
  chooseSpace,
  createRouting,
  indexSpaces,
  pickRelatedPages,
  type RankedSpace,
  rankSpaces,
  type TargetSpace,
} from '../../src/clusters/route.ts';
import { NOW, settingsOf, someCluster, someIssue } from './samples.ts';

function space(id: string, over: Partial<TargetSpace> = {}): TargetSpace {
  return { id, title: id, key: null, usable: true, waits: false, why: null, ...over };
}

const SPACES = indexSpaces([
  space('sp_guides', { key: 'guides' }),
  space('sp_api', { key: 'api' }),
  space('sp_old', { key: 'old', usable: false, why: 'locked' }),
  space('sp_none'),
]);

function ranked(...ids: string[]): RankedSpace[] {
  return ids.map((id, index) => ({ id, score: 1 / (index + 1), pages: [] }));
}

/** A route. */
const to = (space: string, label?: string, source?: string) => ({
  space,
  ...(label === undefined ? {} : { label }),
  ...(source === undefined ? {} : { source }),
});

type Case = [string, object, readonly RankedSpace[] | null, string | null, string];

describe('chooseSpace', () => {
  test.each<Case>([
    [
      'the first rule that matches',
      { routes: [to('api', 'billing'), to('guides', 'sso'), to('api', 'login')] },
      null,
      'sp_guides',
      'route 2',
    ],
    [
      'a rule only if both label and source match',
      { routes: [to('api', 'sso', 'chat'), to('guides', 'SSO', 'email')] },
      null,
      'sp_guides',
      'route 2',
    ],
    [
      'the search before the default',
      { defaultSpace: 'guides' },
      ranked('sp_api', 'sp_guides'),
      'sp_api',
      'ranked first in the search (0 pages)',
    ],
    [
      'the best of the allowed spaces',
      { search: { spaces: ['guides', 'sp_none'] } },
      ranked('sp_api', 'sp_none', 'sp_guides'),
      'sp_none',
      'ranked first in the search (0 pages)',
    ],
    [
      'the default if the search finds no allowed space',
      { search: { spaces: ['guides'] }, defaultSpace: 'api' },
      ranked('sp_none'),
      'sp_api',
      'the default; the search found no allowed space',
    ],
    [
      'the default if no rule matches',
      { routes: [to('guides', 'billing')], defaultSpace: 'api' },
      null,
      'sp_api',
      'the default; no route matches',
    ],
    [
      'the space of the next rule if a space is locked',
      { routes: [to('old', 'sso'), to('api', 'login')] },
      null,
      'sp_api',
      'route 2; route 1 names old, which is locked',
    ],
    [
      'the search result if the space of a rule does not exist',
      { routes: [to('gone', 'sso')] },
      ranked('sp_api'),
      'sp_api',
      'ranked first in the search (0 pages); route 1 names gone, which is not found',
    ],
    [
      'the next search result if the best is locked',
      {},
      ranked('sp_old', 'sp_api'),
      'sp_api',
      'ranked first of the usable spaces in the search (0 pages); the search names sp_old, which is locked',
    ],
    ['no space without rules, search results and default', {}, null, null, 'no default is set'],
    [
      'no space if the default is locked',
      { routes: [to('api', 'billing')], defaultSpace: 'old' },
      [],
      null,
      'no route matches; the search found nothing; the default names old, which is locked',
    ],
  ])('chooses %s', (_, settings, found, id, why) => {
    const chosen = chooseSpace(someCluster(), createRouting(settingsOf(settings)), SPACES, found);
    expect([chosen.space?.id ?? null, chosen.why]).toEqual([id, why]);
  });

  test('prefers a key to an equal id', () => {
    const spaces = indexSpaces([space('sp_1', { key: 'sp_2' }), space('sp_2')]);
    expect([spaces.get('sp_1')?.id, spaces.get('sp_2')?.id]).toEqual(['sp_1', 'sp_1']);
  });
});

const pages = (...ids: string[]) =>
  ids.map((id) => ({ id, title: `Page ${id}`, urls: { app: `https://app.example/${id}` } }));

describe('rankSpaces', () => {
  test.each<[string, Parameters<typeof rankSpaces>[0], string[]]>([
    ['the order of the search results', [{ id: 'a' }, { id: 'b' }, { id: 'c' }], ['a', 'b', 'c']],
    [
      'the number of matching pages',
      [
        { id: 'a', pages: pages('1') },
        { id: 'b', pages: pages('2', '3', '4', '5', '6') },
      ],
      ['b', 'a'],
    ],
    ['the number of results in the same space', [{ id: 'a' }, { id: 'b' }, { id: 'b' }, { id: 'b' }], ['b', 'a']],
    ['nothing without results', [], []],
  ])('ranks by %s', (_, results, order) => {
    expect(rankSpaces(results).map(({ id }) => id)).toEqual(order);
  });

  test('returns the requested number of distinct pages, those of the chosen space first', () => {
    const found = rankSpaces([
      { id: 'a', title: 'A\nB', pages: [{ id: '1', path: 'x/y', urls: { app: 'ftp://x' } }, ...pages('2')] },
      { id: 'b', title: 'B', pages: pages('3', '2', '4') },
    ]);
    expect(pickRelatedPages(found, 'b', 3).map(({ id }) => id)).toEqual(['3', '2', '4']);
    expect(pickRelatedPages(found, 'b', 9).map(({ id }) => id)).toEqual(['3', '2', '4', '1']);
    expect(pickRelatedPages(found, 'a', 1)).toEqual([{ id: '1', title: 'x/y', url: null, space: 'A B' }]);
    expect(pickRelatedPages(found, 'a', 0)).toEqual([]);
  });
});

describe('buildSearchQuery', () => {
  test('joins the label and the distinct issue titles', () => {
    const issues = [
      someIssue({ title: 'A\r\ntitle' }),
      someIssue({ id: 'i_2', title: 'SSO' }),
      someIssue({ id: 'i_3', title: '' }),
    ];
    expect(buildSearchQuery(someCluster({ label: 'SSO' }), issues)).toBe('SSO A title');
    expect(buildSearchQuery(someCluster({ label: '' }), [])).toBe('');
  });

  test('returns at most 512 characters and ends with a whole word', () => {
    const issues = [someIssue({ title: 'words '.repeat(200) })];
    const query = buildSearchQuery(someCluster(), issues);
    expect(query.length).toBeLessThanOrEqual(512);
    expect(query.length).toBeGreaterThan(480);
    expect(query).toMatch(/words$/);
    expect(buildSearchQuery(someCluster({ label: '👩‍👩‍👧'.repeat(200) }), [])).toBe('👩‍👩‍👧'.repeat(63));
  });
});

describe('pickRepresentatives', () => {
  const of = (conversation: string, impact: string | null, daysAgo: number, id: string) =>
    someIssue({
      id,
      impact,
      createdAt: NOW - daysAgo * 86_400_000,
      conversation: { id: conversation, subject: '', url: null, source: null },
    });

  test('prefers the highest impact, then distinct conversations, then the newest issues', () => {
    const issues = [
      of('v1', 'low', 0, 'a'),
      of('v1', 'high', 3, 'b'),
      of('v1', 'high', 2, 'c'),
      of('v2', 'high', 9, 'd'),
      of('v3', 'odd', 0, 'e'),
      of('v2', 'medium', 0, 'f'),
      of('v4', 'medium', 5, 'g'),
      of('v5', 'medium', 5, 'h'),
    ];
    const expected = ['c', 'd', 'b', 'g', 'h', 'f', 'a', 'e'];
    expect(pickRepresentatives(issues, 10).map(({ id }) => id)).toEqual(expected);
    expect(pickRepresentatives(issues.toReversed(), 3).map(({ id }) => id)).toEqual(expected.slice(0, 3));
  });

  test('treats an issue without a conversation as its own conversation', () => {
    const issues = ['a', 'b'].map((id) => someIssue({ id, conversation: null }));
    expect(pickRepresentatives(issues, 2)).toEqual(issues);
  });
});
