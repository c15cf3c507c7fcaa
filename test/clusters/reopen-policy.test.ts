import { describe, expect, test } from 'vitest';
import { decideReopen } from '../../src/clusters/decide/reopen-policy.ts';
import { type ClusterChangeRequest, toClusterChangeRequest } from '../../src/clusters/model/change-request.ts';
import { supersededSubject } from '../../src/clusters/model/ownership-marker.ts';
import { buildDescription, buildSupersededDescription } from '../../src/clusters/write/description.ts';
import { buildProgressComment, toReportedNumbers } from '../../src/clusters/write/progress-comment.ts';
import { DAY, NOW, someCluster, someRequest } from './samples.ts';

type Some = Partial<ClusterChangeRequest>;

describe('fateOf', () => {
  test.each<[string, Some[], number, string | null]>([
    ['none', [], 7, null],
    ['a superseded one', [{ status: 'archived', superseded: true }], 7, null],
    ['an open one', [{}], 7, 'has an open change request (cr_1)'],
    ['a draft', [{ status: 'draft' }], 7, 'has a draft change request (cr_1)'],
    ['one in a status that is not known', [{ status: 'queued' }], 7, 'has a queued change request (cr_1)'],
    [
      'an open one beside a merged one updated later',
      [{ id: 'cr_0', status: 'merged', updatedAt: NOW }, {}],
      100,
      'has an open change request (cr_1)',
    ],
    [
      'an archived one',
      [{ status: 'archived' }],
      100,
      'has an archived change request (cr_1), which blocks another one until it is unarchived',
    ],
    [
      'a merged one, too little grown',
      [{ status: 'merged' }],
      9,
      'has a merged change request (cr_1) with 5 issues; another is opened at 10 issues',
    ],
    ['a merged one, grown', [{ status: 'merged' }], 10, null],
    [
      'a merged one of which the issues are not known',
      [{ id: 'cr_9', status: 'merged' }],
      50,
      'has a merged change request (cr_9) with 50 issues; another is opened at 100 issues',
    ],
    [
      'a merged one, archived after',
      [{ status: 'merged' }, { id: 'cr_2', status: 'archived', updatedAt: NOW }],
      100,
      'has an archived change request (cr_2), which blocks another one until it is unarchived',
    ],
    [
      'an archived one, merged after',
      [
        { status: 'merged', updatedAt: NOW },
        { id: 'cr_2', status: 'archived' },
      ],
      100,
      null,
    ],
    [
      'both at once',
      [{ id: 'cr_2', status: 'archived' }, { status: 'merged' }],
      100,
      'has an archived change request (cr_2), which blocks another one until it is unarchived',
    ],
    [
      'a merged one, and a later superseded one',
      [{ status: 'merged' }, { id: 'cr_2', status: 'archived', updatedAt: NOW, superseded: true }],
      100,
      null,
    ],
  ])('%s', (_, requests, issues, why) => {
    const some = requests.map(someRequest);
    for (const list of [some, some.toReversed()]) {
      const fate = decideReopen(list, { issues, issuesAtMerge: new Map([['cr_1', 5]]), reopenGrowth: 2 });
      expect(fate.may ? null : fate.why).toBe(why);
    }
  });

  test('one that had no issue when it was merged comes again with two', () => {
    const fate = (issues: number) =>
      decideReopen([someRequest({ status: 'merged' })], {
        issues,
        issuesAtMerge: new Map([['cr_1', 0]]),
        reopenGrowth: 2,
      }).may;
    expect([fate(0), fate(1), fate(2)]).toEqual([false, false, true]);
  });
});

describe('changeRequestOf', () => {
  const answer = { id: 'cr_1', space: 'sp_1', status: 'open', createdAt: '2026-11-21T12:00:00Z', updatedAt: 'soon' };
  const parts = { cluster: someCluster({ id: 'c_mark' }), issues: [], pages: [], template: null, most: 0, claim: null };
  const marked = { ...answer, description: buildDescription(parts) };
  const known = new Map([['cr_1', { cluster: 'c_known', superseded: false, revision: null }]]);

  test.each<[string, object, string | null]>([
    ['the link', { ...marked, conversationsIssuesCluster: 'c_link' }, 'c_link'],
    ['the mark, where there is no link', { ...marked, conversationsIssuesCluster: null }, 'c_mark'],
    ['the record, where there is neither', answer, 'c_known'],
  ])('knows the cluster by %s', (_, given, cluster) => {
    expect(toClusterChangeRequest({ ...answer, ...given }, known)?.cluster).toBe(cluster);
  });

  test('knows none where nothing says so', () => {
    expect(toClusterChangeRequest(answer, new Map())).toBe(null);
    expect(toClusterChangeRequest({ ...answer, description: 'text' }, new Map())).toBe(null);
  });

  test('reads its times, and takes one that is not told for the other', () => {
    expect(toClusterChangeRequest(marked, known)).toMatchObject({
      createdAt: NOW,
      updatedAt: NOW,
      subject: '',
      url: null,
    });
  });

  const archived = { ...answer, status: 'archived', conversationsIssuesCluster: 'c_1' };
  const superseded = buildSupersededDescription('c_1', 'why', null);
  test.each<[string, object, boolean, boolean]>([
    ['its description', { description: superseded }, false, true],
    ['its subject, where the list leaves out the description', { subject: supersededSubject('Docs gap') }, false, true],
    ['the record', {}, true, true],
    ['nothing', {}, false, false],
    [
      'a subject that a label made so, beside a description that says otherwise',
      { subject: 'Given up: x', description: marked.description },
      false,
      false,
    ],
    ['its description, but opened again by hand', { status: 'open', description: superseded }, true, false],
  ])('superseded, as %s shows', (_, given, recorded, expected) => {
    const record = new Map([['cr_1', { cluster: 'c_1', superseded: recorded, revision: null }]]);
    expect(toClusterChangeRequest({ ...archived, ...given }, record)?.superseded).toBe(expected);
  });

  test('a subject of a superseded one fits', () => {
    expect(supersededSubject('x'.repeat(100))).toHaveLength(100);
  });
});

describe('newsOf', () => {
  const said = toReportedNumbers(someCluster(), NOW);
  test.each<[string, Parameters<typeof someCluster>[0], number, string | null]>([
    ['nothing came', {}, 9 * DAY, null],
    ['fewer than before', { issues: 1, conversations: 1 }, DAY, null],
    ['a day is not over', { issues: 9 }, DAY - 1, null],
    ['issues came', { issues: 9 }, DAY, 'Since 2026-11-21: 2 more issues (9 now).'],
    [
      'one of each came',
      { issues: 8, conversations: 7 },
      DAY,
      'Since 2026-11-21: 1 more issue (8 now), 1 more conversation (7 now).',
    ],
    ['the impact changed', { impact: 'medium' }, DAY, 'Since 2026-11-21: the impact is now medium.'],
    ['the impact is not told any more', { impact: null }, DAY, null],
    ['the impact is Markdown', { impact: '*x*\n# y' }, DAY, 'Since 2026-11-21: the impact is now \\*x\\* # y.'],
  ])('%s', (_, over, after, text) => {
    expect(buildProgressComment(someCluster(over), said, NOW + after)).toBe(text);
  });
});
