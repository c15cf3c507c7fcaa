/** Questions that readers ask: what their page and the overview of the organization say, and in which order. */
import { describe, expect, test } from 'vitest';
import { ClusterOverview, type RunEnd } from '../../../src/clusters/events.ts';
import type { OwnRequest } from '../../../src/clusters/store.ts';
import type { Declared } from '../../../src/core/resource.ts';
import type { KnownResources, OrganizationState } from '../../../src/web/model/page.ts';
import { type OrganizationView, organizationPage } from '../../../src/web/pages/organization.ts';
import { type ClustersView, clustersPage, questionPage } from '../../../src/web/pages/questions.ts';
import { someCluster } from '../../clusters/samples.ts';
import { fakeDaemon } from '../fake-daemon.ts';
import {
  MINUTE,
  NOW,
  type OrganizationParts,
  render,
  someBackend,
  someOrganization,
  someRequest,
  viewOf,
  withParts,
} from '../some-backend.ts';

function clustersView(state: OrganizationState, query: Readonly<Record<string, string>> = {}) {
  return viewOf<ClustersView>(clustersPage, someBackend([state]), someRequest({ organization: state.id }, query));
}

/** Text that a person reads, without tags. */
async function textOf(state: OrganizationState, page = clustersPage, query: Readonly<Record<string, string>> = {}) {
  const shown = await render(page, someBackend([state]), someRequest({ organization: state.id }, query));
  return shown.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');
}

/** The page of an operator. */
const htmlOf = (state: OrganizationState, query: Readonly<Record<string, string>> = {}) =>
  render(clustersPage, someBackend([state]), someRequest({ organization: state.id }, query, 'operator'));

/** The same organization with everything that its overview shows. */
async function withOverview(parts: OrganizationParts): Promise<OrganizationState> {
  const { backend } = await fakeDaemon({ id: 'acme', plan: null });
  return withParts(backend.organizations()[0] ?? someOrganization('acme'), parts);
}

const END: RunEnd = {
  ...{ outcome: 'done', error: null, source: 'clusters', read: 3, passing: 2, opened: 1, superseded: 0, commented: 0 },
  ...{ skipped: {}, open: 1, requests: 12, milliseconds: 800, dryRun: false },
};
const PASSES = { passes: true } as const;
const REFUSED = {
  passes: false,
  reasons: [{ words: 'it has 2 issues, and the configuration asks for at least 3', until: null }],
} as const;

function someOwnRequest(over: Partial<OwnRequest> = {}): OwnRequest {
  const numbers = { issues: 7, conversations: 6, impact: 'high' };
  return {
    ...{ cluster: 'c_1', label: 'Login', claim: 'a', id: 'cr_1', space: 'sp_1', subject: 'Docs gap: Login' },
    ...{
      url: 'https://app.example/cr_1',
      revision: null,
      at: NOW - MINUTE,
      state: 'open',
      mergedAt: null,
      isManual: false,
    },
    ...{
      why: '',
      reviewersDue: false,
      reported: { ...numbers, at: NOW },
      seen: numbers,
      muteDue: false,
      missingSince: null,
    },
    ...over,
  };
}

test('shows clusters with their change requests, or why there is none', async () => {
  const overview = new ClusterOverview({ now: () => NOW - MINUTE });
  const events = overview.events();
  events.onRead?.([
    { cluster: someCluster({ id: 'c_3', label: 'Small', issues: 2 }), verdict: REFUSED },
    { cluster: someCluster({ id: 'c_2', label: 'Export', issues: 5 }), verdict: PASSES },
    { cluster: someCluster({ id: 'c_1', label: 'Login' }), verdict: PASSES },
  ]);
  events.onSkipped?.({ cluster: 'c_2', label: 'Export', reason: 'limit-day', why: 'the limit of 3 a day is reached' });
  events.onTrouble?.({ cluster: null, message: 'space x is full' });
  events.onRunEnd?.(END);
  overview.mute('c_3', true);
  const changeRequests = [
    someOwnRequest(),
    someOwnRequest({ id: 'cr_0', cluster: 'c_9', claim: 'b', state: 'merged' }),
  ];
  const view = await clustersView(someOrganization('acme', { clusters: { enabled: true }, overview, changeRequests }));
  expect(view.clusters.map(({ id, isSelected, muted, reason }) => [id, isSelected, muted, reason])).toEqual([
    ['c_1', true, false, null],
    ['c_2', true, false, 'Not opened yet: the limit of 3 a day is reached'],
    ['c_3', false, true, 'Muted: Octavo opens no change request for it'],
  ]);
  expect(view.clusters[0]?.changeRequests).toMatchObject([{ id: 'cr_1', state: 'open' }]);
  expect(view.changeRequests.map(({ id }) => id)).toEqual(['cr_0', 'cr_1']);
  expect(view.sentence).toBe('The last run read 3 questions and opened 1 change request; 1 change request is open');
  expect(view.lastRun).toMatchObject({ selected: 2, troubles: ['space x is full'] });
  expect(view.nextRun).toBe('2026-11-21T12:23:00.000Z');
});

test('says that the last run failed, or is long ago', async () => {
  const overview = new ClusterOverview({ now: () => NOW - 300 * MINUTE });
  const state = someOrganization('acme', { clusters: { enabled: true }, overview });
  expect((await clustersView(state)).sentence).toBe('No run has ended since Octavo started; no change request is open');
  overview.events().onRunEnd?.(END);
  const late = await clustersView(state);
  expect(late.freshness.isStale).toBe(true);
  expect(late.sentence).toMatch(/^The last run is long ago: it read 3 questions/);
  overview.events().onRunEnd?.({ ...END, outcome: 'failed', error: new Error('HTTP 500') });
  expect((await clustersView(state)).sentence).toMatch(/^The last run failed: HTTP 500;/);
  expect((await clustersView(someOrganization('acme'))).sentence).toMatch(/^Octavo does not read questions;/);
});

test('keeps the 100 most severe clusters and shows 25 at a time', async () => {
  const overview = new ClusterOverview({ now: () => NOW });
  const events = overview.events();
  const weeklyPulse = Array.from({ length: 5000 }, () => 1);
  for (const part of [0, 1]) {
    events.onRead?.(
      Array.from({ length: 75 }, (_, index) => {
        const issues = part * 75 + index;
        return {
          cluster: someCluster({ id: `c_${issues}`, issues, label: 'x'.repeat(1000), weeklyPulse }),
          verdict: PASSES,
        };
      }),
    );
  }
  const view = await clustersView(someOrganization('acme', { clusters: { enabled: true }, overview }), { start: '25' });
  expect(view).toMatchObject({ start: 25, known: 100, matching: 100, omitted: 50 });
  expect(view.clusters.map(({ id }) => id)).toEqual(Array.from({ length: 25 }, (_, index) => `c_${124 - index}`));
  expect(view.clusters[0]?.label.length).toBeLessThan(310);
  expect(view.clusters[0]?.weeklyPulse).toHaveLength(13);
});

const RISING = [0, 0, 0, 4, 12];
const FLAT = [4, 4, 4, 4, 4];

/** An organization that knows these questions. */
function questionParts(questions: readonly Parameters<typeof someCluster>[0][]): OrganizationParts {
  const overview = new ClusterOverview({ now: () => NOW - MINUTE });
  overview.events().onRead?.(questions.map((over) => ({ cluster: someCluster(over), verdict: PASSES })));
  overview.events().onRunEnd?.(END);
  return { clusters: { enabled: true }, overview };
}

function withQuestions(
  questions: readonly Parameters<typeof someCluster>[0][],
  parts: OrganizationParts = {},
): OrganizationState {
  return someOrganization('acme', { ...questionParts(questions), ...parts });
}

/** Declared spaces; the last one does not exist yet. */
function someSpaces(...titles: readonly string[]): KnownResources {
  const declared = titles.map((title, index) => {
    const address = `space/s${index}` as Declared['address'];
    return [address, { address, kind: 'space', id: null, fields: { title } } as unknown as Declared] as const;
  });
  return {
    declared: new Map(declared),
    ids: new Map(declared.slice(0, -1).map(([address], index) => [address, `sp_${index}`])),
  };
}

describe('the list', () => {
  const state = withQuestions(
    [
      { id: 'muted', label: 'Muted', muted: true, weeklyPulse: RISING },
      { id: 'low', label: 'Low', impact: 'low', weeklyPulse: RISING, issues: 90 },
      { id: 'flat', label: 'Flat', weeklyPulse: FLAT, issues: 80 },
      { id: 'rising', label: 'Rising', weeklyPulse: RISING, issues: 5 },
      { id: 'unknown', label: 'Unknown', impact: null, weeklyPulse: [] },
    ],
    { changeRequests: [someOwnRequest({ cluster: 'flat' })], examples: new Map([['low', ['How do I rotate keys?']]]) },
  );

  test.each([
    [{}, ['rising', 'flat', 'low', 'unknown', 'muted']],
    [{ show: 'growing' }, ['rising', 'low', 'muted']],
    [{ show: 'requests' }, ['flat']],
    [{ show: 'muted' }, ['muted']],
    [{ show: 'toString' }, ['rising', 'flat', 'low', 'unknown', 'muted']],
    [{ q: ' ROTATE ' }, ['low']],
    [{ q: 'rising', show: 'muted' }, []],
    [{ q: '%00<b>' }, []],
  ])('with %j has the highest impact first, and of the same impact what grows', async (query, ids) => {
    expect((await clustersView(state, query)).clusters.map(({ id }) => id)).toEqual(ids);
  });

  test('says the impact, the conversations and the trend in words, with examples', async () => {
    const text = await textOf(state);
    expect(text).toContain('Rising rising: 12 this week, 4 last week High impact, 6 conversations in all');
    expect(text).toContain(
      'Low rising: 12 this week, 4 last week Low impact, 6 conversations in all How do I rotate keys?',
    );
    expect(text).toContain('Unknown no numbers by week Impact unknown');
    expect(text).toContain('Muted: Octavo opens no change request for it.');
    expect(await textOf(state, clustersPage, { q: 'nothing' })).toContain('0 of 5 questions');
  });

  test('offers a search when it is long', async () => {
    expect(await htmlOf(state)).not.toContain('type="search"');
    const many = Array.from({ length: 11 }, (_, index) => ({ id: `c_${index}`, label: `${index}` }));
    expect(await htmlOf(withQuestions(many))).toContain('type="search"');
  });
});

describe('a change request', () => {
  test('is in a space that is named by its title, or by its id if no manifest declares it', async () => {
    const changeRequests = [
      someOwnRequest({ space: 'sp_0' }),
      someOwnRequest({ space: 'sp_gone', cluster: 'c_2', claim: 'b', id: 'cr_2', state: 'merged' }),
    ];
    const text = await textOf(withQuestions([{}], { changeRequests, resources: someSpaces('Guides', 'API') }));
    expect(text).toContain('open Docs gap: Login in Guides');
    expect(text).toContain('merged Docs gap: Login in sp_gone');
    expect(text).not.toContain('sp_0');
  });

  const daysAgo = (days: number) => NOW - days * 24 * 60 * MINUTE;
  const merged = (days: number, over: Partial<OwnRequest> = {}) =>
    someOwnRequest({ state: 'merged', mergedAt: daysAgo(days), at: daysAgo(days + 30), ...over });

  test.each([
    ['has more issues than at the merge', { issues: 9 }, merged(3), new Map([['cr_1', 7]]), true],
    ['was asked in a week after it', { weeklyPulse: [5, 5, 1] }, merged(8), new Map(), true],
    ['was asked in the week of the merge only', { weeklyPulse: [5, 5, 0] }, merged(8), new Map([['cr_1', 7]]), false],
    ['has an unknown time and number', {}, merged(3, { mergedAt: null }), new Map(), false],
  ] as const)(
    'that was merged, of a question that %s, says so',
    async (_name, question, request, issuesAtMerge, asked) => {
      const state = withQuestions([{ issues: 7, ...question }], { changeRequests: [request], issuesAtMerge });
      const text = await textOf(state);
      expect(text).not.toContain('Not opened yet');
      const when = request.mergedAt === null ? '' : request.mergedAt === daysAgo(3) ? ' 3 days ago' : ' 8 days ago';
      expect(text).toContain(`merged${when}${asked ? ', still asked' : ''}: Docs gap: Login in sp_1`);
      const view = await clustersView(state);
      expect(view.clusters[0]).toMatchObject({ closed: { id: 'cr_1', state: 'merged' }, isStillAsked: asked });
    },
  );

  test('that is open hides one that was merged before', async () => {
    const changeRequests = [merged(90), someOwnRequest({ id: 'cr_2', claim: 'b' })];
    const [question] = (await clustersView(withQuestions([{}], { changeRequests }))).clusters;
    expect(question).toMatchObject({ closed: null, isStillAsked: null, changeRequests: [{ id: 'cr_2' }] });
  });

  test('is opened in a space that is chosen from a list, where Octavo chooses by default', async () => {
    const all = await htmlOf(withQuestions([{}], { resources: someSpaces('Guides', 'API', 'Guides') }));
    const [shown = ''] = /<select id="[^"]*-space".*?<\/select>/s.exec(all) ?? [];
    expect([...shown.matchAll(/<option value="([^"]*)">([^<]*)/g)].map(([, value, text]) => [value, text])).toEqual([
      ['', 'Octavo chooses'],
      ['s1', 'API'],
      ['s0', 'Guides (s0)'],
      ['s2', 'Guides (s2)'],
    ]);
  });

  test('of many spaces has one list for all questions, and without any a field for the id', async () => {
    const titles = Array.from({ length: 101 }, (_, index) => `Space ${index}`);
    const questions = [{ id: 'a' }, { id: 'b' }];
    const many = await htmlOf(withQuestions(questions, { resources: someSpaces(...titles) }));
    expect(many.match(/<option value="s\d+"/g)).toHaveLength(101);
    expect(many.match(/list="spaces"/g)).toHaveLength(2);
    const none = await htmlOf(withQuestions(questions));
    expect(none).toContain('Space (its id); if it is empty, Octavo chooses');
  });

  test.each([
    ['unrouted', 'no default is set', 'Not opened, because no space was found: no default is set.'],
    ['merged', 'has a merged change request (cr_1)', 'No other is opened: it has a merged change request (cr_1).'],
    ['waiting', 'route 1 names x', 'Not opened yet: route 1 names x.'],
    ['failed', 'HTTP 403', 'Not opened, because the platform refused it: HTTP 403.'],
  ] as const)('that is not opened because it is %s says so in a sentence', async (reason, why, sentence) => {
    const overview = new ClusterOverview({ now: () => NOW });
    overview.events().onRead?.([{ cluster: someCluster(), verdict: PASSES }]);
    const state = someOrganization('acme', { clusters: { enabled: true }, overview });
    expect(await textOf(state)).toContain('Not opened yet: the next run decides.');
    overview.events().onSkipped?.({ cluster: 'c_1', label: '', reason, why });
    expect(await textOf(state)).toContain(sentence);
  });
});

describe('a question', () => {
  const state = withQuestions([{ id: 'c 1/<b>', label: 'How do I <b>rotate</b> keys?', weeklyPulse: RISING }], {
    changeRequests: [
      someOwnRequest({ cluster: 'c 1/<b>', state: 'archived' }),
      someOwnRequest({ cluster: 'c 1/<b>', id: 'cr_2', claim: 'b', state: 'merged', mergedAt: NOW - 60 * MINUTE }),
      someOwnRequest({ cluster: 'other', id: 'cr_3', claim: 'c', subject: 'Of another question' }),
    ],
    examples: new Map([['c 1/<b>', ['Where are the keys?']]]),
  });
  const asked = someRequest({ organization: 'acme', cluster: 'c 1/<b>' });

  test('has a page, which its title links to, with its weeks and all its change requests', async () => {
    expect(await htmlOf(state)).toContain('href="/o/acme/questions/c%201%2F%3Cb%3E"');
    const page = await render(questionPage, someBackend([state]), asked);
    expect(page).toContain('<h1>How do I &lt;b&gt;rotate&lt;/b&gt; keys?</h1>');
    const text = page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(text).toContain('Rising: 12 this week, 4 last week.');
    expect(text).toContain('this week 12 last week 4 2 weeks ago 0');
    expect(text).toContain('Where are the keys?');
    expect(text.match(/merged .{0,12}hour ago/g)).toHaveLength(2);
    expect(text).toContain('archived Docs gap: Login');
    expect(text).not.toContain('Of another question');
    expect(text).not.toContain('Mute…');
  });

  test('that is not known any more has none', async () => {
    expect(
      await questionPage.load(someBackend([state]), someRequest({ organization: 'acme', cluster: 'gone' })),
    ).toBeNull();
  });

  test('is muted with a reason and for a time, and says both', async () => {
    const operator = await render(questionPage, someBackend([state]), {
      ...asked,
      viewer: someRequest({}, {}, 'operator').viewer,
    });
    expect(operator).toContain('<option value="30d">30 days</option>');
    const mutes = new Map([['c_1', { reason: 'a <rewrite> is planned', until: NOW + 30 * 24 * 60 * MINUTE }]]);
    const muted = withQuestions([{ muted: true }], { mutes });
    expect(await textOf(muted)).toContain(
      'Muted: Octavo opens no change request for it. It is unmuted in 30 days. “a &lt;rewrite&gt; is planned”',
    );
    // It was unmuted on the platform.
    expect(await textOf(withQuestions([{ muted: false }], { mutes }))).not.toContain('rewrite');
  });
});

test('a form keeps its place when the order changes, so that nobody opens the wrong one', async () => {
  const idOf = (text: string, label: string) =>
    new RegExp(`<li id="([^"]+)">(?:(?!<li).)*>${label}<`, 's').exec(text)?.[1];
  const questions = [
    { id: 'a', label: 'One', weeklyPulse: RISING },
    { id: 'b b"<', label: 'Two' },
  ];
  const [first, second] = [await htmlOf(withQuestions(questions)), await htmlOf(withQuestions(questions.toReversed()))];
  for (const label of ['One', 'Two']) {
    expect(idOf(first, label)).toMatch(/^q-[0-9a-f]{12}$/);
    expect(idOf(first, label)).toBe(idOf(second, label));
  }
  expect(idOf(first, 'One')).not.toBe(idOf(first, 'Two'));
});

test('without the setting it says what to do first', async () => {
  const text = await textOf(someOrganization('acme'));
  expect(text).toContain('turn on clusters.enabled in the configuration of Octavo');
  expect(text).toContain('clusters: { enabled: true, select: { impact: [high, medium] } }');
  expect(await textOf(withQuestions([]))).toContain('No question is known yet');
});

test('numbers that were read days ago say so', async () => {
  const overview = new ClusterOverview({ now: () => NOW - 3 * 24 * 60 * MINUTE });
  overview.events().onRead?.([{ cluster: someCluster(), verdict: PASSES }]);
  const state = someOrganization('acme', { clusters: { enabled: true }, overview });
  expect(await textOf(state)).toContain('6 conversations in all, read 3 days ago');
});

describe('the overview of the organization', () => {
  test('names the questions that grow, and links to them', async () => {
    const questions = [
      { id: 'a', label: 'Flat', weeklyPulse: FLAT },
      { id: 'b', label: 'How do I rotate keys?', weeklyPulse: RISING },
      { id: 'c', label: 'Muted', weeklyPulse: RISING, muted: true },
    ];
    const state = await withOverview(questionParts(questions));
    const { growingQuestions } = await viewOf<OrganizationView>(
      organizationPage,
      someBackend([state]),
      someRequest({ organization: 'acme' }),
    );
    expect(growingQuestions).toMatchObject({ total: 1, first: [{ label: 'How do I rotate keys?' }] });
    expect(growingQuestions.path).toBe('/o/acme/questions?show=growing');
    expect(growingQuestions.first[0]?.path).toBe('/o/acme/questions/b');
    expect(await textOf(state, organizationPage)).toContain('How do I rotate keys? rising: 12 this week, 4 last week');
  });

  test('says that a run failed in the words of the page', async () => {
    const overview = new ClusterOverview({ now: () => NOW });
    overview.events().onRunEnd?.({ ...END, outcome: 'failed', error: new Error('HTTP 500') });
    const state = await withOverview({ clusters: { enabled: true }, overview });
    expect(await textOf(state)).toContain('The last run failed: HTTP 500;');
    expect(await textOf(state, organizationPage)).toContain('Questions readers ask: The last run failed: HTTP 500');
    expect(await textOf(await withOverview({ overview }), organizationPage)).not.toContain('HTTP 500');
  });
});
