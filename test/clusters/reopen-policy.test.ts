import { describe, expect, test } from 'vitest';
import {
  type ClusterChangeRequest,
  supersededSubject,
  toClusterChangeRequest,
} from '../../src/clusters/change-request.ts';
import { decideReopen } from '../../src/clusters/claims.ts';
import { buildDescription, buildProgressComment, buildSupersededDescription } from '../../src/clusters/description.ts';
import { NO_REDACTION } from './run-daemon.ts';
import { DAY, NOW, someCluster, someRequest } from './samples.ts';

type Some = Partial<ClusterChangeRequest>;

describe('decideReopen', () => {
  test.each<[string, Some[], number, string | null]>([
    ['allows a cluster without change requests', [], 7, null],
    ['refuses a cluster with a draft', [{ status: 'draft' }], 7, 'has a draft change request (cr_1)'],
    [
      'refuses a cluster with a change request in an unknown status',
      [{ status: 'queued' }],
      7,
      'has a queued change request (cr_1)',
    ],
    [
      'prefers an open change request to a merged one that was updated later',
      [{ id: 'cr_0', status: 'merged', updatedAt: NOW }, {}],
      100,
      'has an open change request (cr_1)',
    ],
    [
      'refuses a cluster that has grown too little since the merge',
      [{ status: 'merged' }],
      9,
      'has a merged change request (cr_1) with 5 issues; another is opened at 10 issues',
    ],
    ['allows a cluster that has grown enough since the merge', [{ status: 'merged' }], 10, null],
    [
      'counts growth from the current issues if those at the merge are unknown',
      [{ id: 'cr_9', status: 'merged' }],
      50,
      'has a merged change request (cr_9) with 50 issues; another is opened at 100 issues',
    ],
    [
      'uses the archived change request if it is newer than the merged one',
      [{ status: 'merged' }, { id: 'cr_2', status: 'archived', updatedAt: NOW }],
      100,
      'has an archived change request (cr_2), which blocks another one until it is unarchived',
    ],
    [
      'prefers an archived change request to a merged one of the same time',
      [{ id: 'cr_2', status: 'archived' }, { status: 'merged' }],
      100,
      'has an archived change request (cr_2), which blocks another one until it is unarchived',
    ],
    [
      'ignores a superseded change request after a merged one',
      [{ status: 'merged' }, { id: 'cr_2', status: 'archived', updatedAt: NOW, superseded: true }],
      100,
      null,
    ],
  ])('%s', (_, requests, issues, why) => {
    const some = requests.map(someRequest);
    for (const list of [some, some.toReversed()]) {
      const decision = decideReopen(list, { issues, issuesAtMerge: new Map([['cr_1', 5]]), reopenGrowth: 2 });
      expect(decision.may ? null : decision.why).toBe(why);
    }
  });

  test('reopens a cluster with two issues if it had none at the merge', () => {
    const decision = (issues: number) =>
      decideReopen([someRequest({ status: 'merged' })], {
        issues,
        issuesAtMerge: new Map([['cr_1', 0]]),
        reopenGrowth: 2,
      }).may;
    expect([decision(0), decision(1), decision(2)]).toEqual([false, false, true]);
  });
});

describe('toClusterChangeRequest', () => {
  const answer = { id: 'cr_1', space: 'sp_1', status: 'open', createdAt: '2026-11-21T12:00:00Z', updatedAt: 'soon' };
  const parts = { cluster: someCluster({ id: 'c_mark' }), issues: [], pages: [], template: null, most: 0, claim: null };
  const marked = { ...answer, description: buildDescription(parts) };
  const known = new Map([['cr_1', { cluster: 'c_known', superseded: false, revision: null }]]);

  const read = (given: typeof answer, known: Parameters<typeof toClusterChangeRequest>[1] = new Map()) =>
    toClusterChangeRequest(given, known, NO_REDACTION);

  test.each<[string, object, string | null]>([
    ['the link', { ...marked, conversationsIssuesCluster: 'c_link' }, 'c_link'],
    ['the marker if there is no link', { ...marked, conversationsIssuesCluster: null }, 'c_mark'],
    ['the record if there is neither', answer, 'c_known'],
  ])('finds the cluster by %s', (_, given, cluster) => {
    expect(read({ ...answer, ...given }, known)?.cluster).toBe(cluster);
  });

  test('returns null for a change request without a cluster', () => {
    expect(read(answer)).toBe(null);
    expect(read({ ...answer, ...{ description: 'text' } })).toBe(null);
  });

  test('uses the creation time if the update time is invalid', () => {
    expect(read(marked, known)).toMatchObject({
      createdAt: NOW,
      updatedAt: NOW,
      subject: '',
      url: null,
    });
  });

  const archived = { ...answer, status: 'archived', conversationsIssuesCluster: 'c_1' };
  const superseded = buildSupersededDescription('c_1', 'why', null);
  test.each<[string, object, boolean, boolean]>([
    ['the description', { description: superseded }, false, true],
    ['the subject if the list omits the description', { subject: supersededSubject('Docs gap') }, false, true],
    ['the record', {}, true, true],
    ['nothing', {}, false, false],
    [
      'a label that imitates the subject of a superseded one',
      { subject: 'Given up: x', description: marked.description },
      false,
      false,
    ],
    ['the description of one that was manually reopened', { status: 'open', description: superseded }, true, false],
  ])('reads from %s whether it is superseded', (_, given, recorded, expected) => {
    const record = new Map([['cr_1', { cluster: 'c_1', superseded: recorded, revision: null }]]);
    expect(read({ ...archived, ...given }, record)?.superseded).toBe(expected);
  });

  test('the subject of a superseded change request has at most 100 characters', () => {
    expect(supersededSubject('x'.repeat(100))).toHaveLength(100);
  });
});

describe('buildProgressComment', () => {
  const { issues, conversations, impact } = someCluster();
  const reported = { at: NOW, issues, conversations, impact };
  test.each<[string, Parameters<typeof someCluster>[0], number, string | null]>([
    ['returns null without changes', {}, 9 * DAY, null],
    ['returns null if the numbers decreased', { issues: 1, conversations: 1 }, DAY, null],
    ['returns null within a day of the last comment', { issues: 9 }, DAY - 1, null],
    ['reports new issues', { issues: 9 }, DAY, 'Since 2026-11-21: 2 more issues (9 now).'],
    [
      'reports one new issue and one new conversation',
      { issues: 8, conversations: 7 },
      DAY,
      'Since 2026-11-21: 1 more issue (8 now), 1 more conversation (7 now).',
    ],
    ['reports a changed impact', { impact: 'medium' }, DAY, 'Since 2026-11-21: the impact is now medium.'],
    ['returns null if the impact became unknown', { impact: null }, DAY, null],
    ['escapes Markdown in the impact', { impact: '*x*\n# y' }, DAY, 'Since 2026-11-21: the impact is now \\*x\\* # y.'],
  ])('%s', (_, over, after, text) => {
    expect(buildProgressComment(someCluster(over), reported, NOW + after)).toBe(text);
  });
});
