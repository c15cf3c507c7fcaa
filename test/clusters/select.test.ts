import { describe, expect, test } from 'vitest';
import type { IssueCluster } from '../../src/clusters/cluster.ts';
import { createSelectionRule, evaluateCluster } from '../../src/clusters/select.ts';
import { toCluster, toIssue } from '../../src/clusters/sources.ts';
import { DAY, NOW, settingsOf, someCluster } from './samples.ts';

function reasonsOf(select: object, cluster: Partial<IssueCluster>) {
  const verdict = evaluateCluster(someCluster(cluster), createSelectionRule(settingsOf({ select })), NOW);
  return verdict.passes ? [] : verdict.reasons.map(({ words, until }) => [words, until]);
}

describe('evaluateCluster', () => {
  test.each<[string, object, Partial<IssueCluster>]>([
    ['any impact', { impact: [] }, { impact: null }],
    ['one of the impacts', { impact: ['low', 'medium'] }, { impact: 'medium' }],
    ['exactly the required number of issues and conversations', { minIssues: 7, minConversations: 6 }, {}],
    ['exactly the required age', { minAge: '10d' }, {}],
    ['an increase over six weeks', { risingWeeks: 6 }, {}],
    ['an increase from a short pulse', { risingWeeks: 3 }, { weeklyPulse: [1] }],
    ['an included label in any case', { include: ['billing', 'sso'] }, {}],
    ['a pattern of another script', { include: ['вхід\\p{L}*'] }, { label: 'ВХІДНІ' }],
  ])('accepts %s', (_, select, cluster) => {
    expect(reasonsOf(select, cluster)).toEqual([]);
  });

  test.each<[object, Partial<IssueCluster>, (string | number | null)[][]]>([
    [{}, { muted: true }, [['it is muted', 0]]],
    [{}, { impact: 'medium' }, [['its impact is medium, and the configuration asks for high', null]]],
    [{}, { impact: 'catastrophic' }, [['its impact is catastrophic, and the configuration asks for high', null]]],
    [
      { impact: ['low', 'medium', 'high'] },
      { impact: null },
      [['its impact is unknown, and the configuration asks for low, medium or high', null]],
    ],
    [{}, { issues: 2 }, [['it has 2 issues, and the configuration asks for at least 3', null]]],
    [{ minIssues: 2 }, { issues: 1 }, [['it has 1 issue, and the configuration asks for at least 2', null]]],
    [
      { minConversations: 1 },
      { conversations: 0 },
      [['it has no conversations, and the configuration asks for at least 1', null]],
    ],
    [{ minAge: '11d' }, {}, [['it is 10d old, and the configuration asks for at least 11d', NOW + DAY]]],
    [
      { minAge: '2h' },
      { createdAt: NOW - 60_000 },
      [['it is 1m old, and the configuration asks for at least 2h', NOW + 7_140_000]],
    ],
    [
      { minAge: '2h' },
      { createdAt: NOW + 60_000 },
      [['it is 0s old, and the configuration asks for at least 2h', NOW + 7_260_000]],
    ],
    [{ minAge: '1s' }, { createdAt: null }, [['its age is unknown, and the configuration asks for at least 1s', null]]],
    [
      { risingWeeks: 2 },
      { weeklyPulse: [9, 0, 0, 5] },
      [
        [
          'it had 5 issues in the last 2 weeks and 9 in the 2 weeks before, and the configuration asks for an increase',
          0,
        ],
      ],
    ],
    [
      { risingWeeks: 1 },
      { weeklyPulse: [3, 3] },
      [['it had 3 issues in the last week and 3 in the week before, and the configuration asks for an increase', 0]],
    ],
    [
      { risingWeeks: 1 },
      { weeklyPulse: [3, 0] },
      [['it had 0 issues in the last week and 3 in the week before, and the configuration asks for an increase', null]],
    ],
    [
      { risingWeeks: 1 },
      { weeklyPulse: [] },
      [['it had 0 issues in the last week and 0 in the week before, and the configuration asks for an increase', null]],
    ],
    [
      { sources: ['chat', 'phone'] },
      {},
      [['none of its issues is from chat or phone, and the configuration asks for one', null]],
    ],
    [
      { sources: ['email'] },
      { sources: { email: 0 } },
      [['none of its issues is from email, and the configuration asks for one', null]],
    ],
    [{ include: ['billing'] }, {}, [['its title matches no pattern of include in the configuration', null]]],
    [{ exclude: ['x', 'S.O'] }, {}, [['its title matches S.O, which the configuration excludes', null]]],
    [
      { minAge: '11d', exclude: ['sso'] },
      { muted: true, impact: 'low', issues: 0, conversations: 0 },
      [
        ['it is muted', 0],
        ['its impact is low, and the configuration asks for high', null],
        ['it has no issues, and the configuration asks for at least 3', null],
        ['it has no conversations, and the configuration asks for at least 3', null],
        ['it is 10d old, and the configuration asks for at least 11d', NOW + DAY],
        ['its title matches sso, which the configuration excludes', null],
      ],
    ],
  ])('with %j rejects %j', (select, cluster, reasons) => {
    expect(reasonsOf(select, cluster)).toEqual(reasons);
  });
});

test('the hash of a rule covers the selection and the reopen policy only', () => {
  const hashOf = (settings: object) => createSelectionRule(settingsOf(settings)).hash;
  expect(hashOf({ select: { minIssues: 3, minAge: '0s' } })).toBe(hashOf({}));
  expect(hashOf({ defaultSpace: 'guides' })).toBe(hashOf({}));
  expect(hashOf({ select: { minIssues: 4 } })).not.toBe(hashOf({}));
  expect(hashOf({ afterMerge: { reopenGrowth: 3 } })).not.toBe(hashOf({}));
});

describe('a response of the platform', () => {
  test('is parsed with all members', () => {
    const given = {
      id: 'c_1',
      label: 'SSO',
      impact: 'high',
      muted: true,
      summary: { object: 'document' },
      icon: 'fire',
    };
    const answer = {
      ...{ ...given, createdAt: '2026-11-21T12:00:00Z', updatedAt: '2026-11-21T13:00:00+01:00' },
      ...{ weeklyPulse: [1, null], sources: { email: 2, chat: null }, stats: { issues: 4, conversations: 3 } },
      urls: { location: 'https://api.example/c_1', app: 'https://app.example/c_1' },
    };
    expect(toCluster(answer)).toEqual({
      ...{ ...given, createdAt: NOW, updatedAt: NOW, weeklyPulse: [1, 0], sources: { email: 2, chat: 0 } },
      ...{ issues: 4, conversations: 3, url: 'https://app.example/c_1' },
    });
  });

  test('is parsed if most members are missing', () => {
    expect(toCluster({ id: 'c_1', details: 'text', updatedAt: 'soon' })).toMatchObject({
      label: '',
      impact: null,
      muted: false,
      createdAt: null,
      updatedAt: null,
      weeklyPulse: [],
      issues: 0,
      summary: 'text',
      url: null,
    });
    expect(toIssue({ issue: { id: 'i_1', summary: 'text' } })).toEqual({
      id: 'i_1',
      title: '',
      impact: null,
      createdAt: null,
      details: 'text',
      conversation: null,
    });
  });

  test('links an issue to the source of its conversation, if that is a web address', () => {
    const urlOf = (urls: Record<string, string>) =>
      toIssue({ issue: { id: 'i_1' }, conversation: { id: 'v_1', urls } }).conversation?.url;
    expect(urlOf({ location: 'https://api.example/v_1', source: 'https://help.example/1' })).toBe(
      'https://help.example/1',
    );
    expect(urlOf({ location: 'https://api.example/v_1', source: 'javascript:alert(1)' })).toBe(
      'https://api.example/v_1',
    );
    for (const source of ['https://', `https://help.example/${'x'.repeat(2_048)}`]) {
      expect(urlOf({ source })).toBe(null);
    }
    expect(toIssue({ issue: { id: 'i_1', conversation: 'v_9' } }).conversation).toEqual({
      id: 'v_9',
      subject: '',
      url: null,
      source: null,
    });
  });
});
