/** Facts of organizations, tokens, the platform and the state file. */
import { expect, test } from 'vitest';
import type { LastRun } from '../../../src/clusters/events.ts';
import type { IngestionStatus } from '../../../src/conversations/ingestion.ts';
import { CONDITION_CODES, type ConditionCode } from '../../../src/core/condition-codes.ts';
import {
  AuthError,
  DesiredStateError,
  RejectedError,
  SourceError,
  StoreError,
  TransientError,
} from '../../../src/core/errors.ts';
import {
  budgetFacts,
  clusterFacts,
  configurationFacts,
  conversationFacts,
  keepSince,
  newFact,
  passFacts,
  pauseFacts,
  planFacts,
  platformFacts,
  staleFacts,
  stateFileFacts,
  unownedFacts,
} from '../../../src/daemon/facts/facts.ts';
import type { Revert } from '../../../src/plan/flapping.ts';
import type { PassEnd } from '../../../src/reconcile/pass.ts';
import type { ManualPause } from '../../../src/store/history.ts';
import type { Fact } from '../../../src/store/notifications.ts';
import { freshness } from '../../../src/web/model/status.ts';
import { fakeDaemon, NOW, type OrganizationCase, resultsOf } from '../../web/fake-daemon.ts';
import { someQueue, someSource } from '../../web/some-backend.ts';

const MINUTE = 60_000;
const SCOPE = { organization: 'acme', token: 'acme', platform: 'https://api.example' };
const TOKEN = { ...SCOPE, organization: null };

const passEnd = (error: Error | null): PassEnd => ({
  ...{
    trigger: 'schedule',
    outcome: error === null ? 'done' : 'failed',
    plan: null,
    results: [],
    error,
    retryIn: null,
  },
  ...{ requests: { reads: 1, writes: 0 }, milliseconds: 1, endedAt: NOW },
});

const ofPass = (error: Error | null) =>
  passFacts('acme', SCOPE, { lastEnd: passEnd(error), failingSince: error === null ? null : NOW - MINUTE });

async function ofPlan(given: OrganizationCase, flapping: readonly Revert[] = []): Promise<readonly Fact[] | null> {
  const { backend } = await fakeDaemon({ id: 'acme', plan: { manifests: TEAM }, ...given });
  const { reconciler } = backend.organizations()[0] ?? {};
  return planFacts({ organization: 'acme', scope: SCOPE, reconciler: reconciler as never, flapping });
}

const TEAM = 'teams: { a: { title: A }, b: { title: B } }\n';
const status = (over: Partial<IngestionStatus>): IngestionStatus => ({
  ...{ inFlight: 0, sender: { kind: 'idle' }, sources: [] },
  outbox: { stored: { items: 5, bytes: 9 }, limit: { items: 5, bytes: 9 }, isFull: false },
  ...over,
});
const conversations = (over: Partial<IngestionStatus>) => conversationFacts('acme', SCOPE, status(over), NOW);
const pause = (over: Partial<ManualPause>): ManualPause => ({
  ...{ address: '', reason: 'migration', by: { name: 'ana', method: 'socket' }, since: NOW, until: null },
  ...over,
});
const run = (over: Partial<LastRun>) => ({ outcome: 'failed', error: 'no', endedAt: NOW, ...over }) as LastRun;
const waiting = { plan: 0, apply: 3, drift: 0, ingestion: 0 } as never;
const flap: Revert = {
  ...{ address: 'team/a' as Revert['address'], kind: 'team', path: 'title', times: 4, at: NOW },
  seen: [{ at: NOW - 9 * MINUTE, value: 'B' }],
};
const held: OrganizationCase = {
  edit: (plan, declared) => [{ ...plan, verdict: { state: 'held', reasons: ['many deletions'] } }, declared],
};

/** State that makes each condition true. Those of channels and commit statuses have their own tests. */
const CASES: readonly (readonly [ConditionCode, string, () => unknown])[] = [
  [
    'source-unreadable',
    'the repository does not answer',
    () => ofPass(new SourceError('cannot fetch https://a:b@h/x')),
  ],
  [
    'manifests-invalid',
    'manifests have a problem',
    () => ofPass(new DesiredStateError([{ file: 'a.yaml', line: 3, column: 1, address: '', message: 'no' }])),
  ],
  ['pass-failing', 'the platform fails', () => ofPass(new TransientError('503', false))],
  ['pass-failing', 'the token has too few rights', () => ofPass(new AuthError('403', 403))],
  [
    'stale',
    'the last check is old',
    () => staleFacts('acme', SCOPE, freshness(NOW - 11 * MINUTE, NOW, 5 * MINUTE), { activeAt: null, now: NOW }),
  ],
  ['paused', 'a pause has no end', () => pauseFacts('acme', SCOPE, [pause({})])],
  ['paused', 'a pause lasts a day', () => pauseFacts('acme', SCOPE, [pause({ until: NOW + 24 * 60 * MINUTE })])],
  ['connector-failing', 'a source fails', () => conversations({ sources: [someSource({ error: 'no' })] })],
  ['dead-letters', 'the platform refused some', () => conversations({ sources: [someSource({ deadLetters: 2 })] })],
  ['outbox-full', 'the outbox is full', () => conversations({ outbox: { ...status({}).outbox, isFull: true } })],
  ['token-refused', 'conversations are refused', () => conversations({ sender: { kind: 'refused', reason: '401' } })],
  ['token-refused', 'passes are refused', () => ofPass(new AuthError('no', 401))?.slice(1) ?? []],
  ['clusters-failing', 'the last run failed', () => clusterFacts('acme', SCOPE, run({}))],
  [
    'budget-starved',
    'requests wait long',
    () => budgetFacts(TOKEN, { ...someQueue(), waiting, oldest: 6 * MINUTE }, NOW),
  ],
  [
    'platform-failing',
    'no token gets an answer',
    () => platformFacts(TOKEN, { failingSince: NOW, answeredAt: NOW - 1 }, []),
  ],
  ['state-file-failing', 'the disk is full', () => stateFileFacts('disk full', NOW)],
  [
    'unowned-organization',
    'no replica has an organization',
    () => unownedFacts({ unowned: [{ organization: 'acme', age: MINUTE }] }, 'https://api.example', NOW),
  ],
  [
    'configuration-invalid',
    'a file is invalid',
    () =>
      configurationFacts([{ reason: 'a.yaml:1:1: no', since: NOW, usedSince: NOW, replica: null, isPartial: false }]),
  ],
  ['waiting-for-approval', 'changes are held', () => ofPlan(held)],
  ['drift', 'somebody changed the platform', () => ofPlan({ plan: { manifests: TEAM }, drift: () => true })],
  ['field-flapping', 'a field is changed again', () => ofPlan({ plan: { manifests: TEAM } }, [flap])],
  [
    'changes-failing',
    'a change failed',
    async () => {
      const { plans } = await fakeDaemon({ id: 'acme', plan: { manifests: TEAM } });
      return ofPlan({
        plan: { manifests: TEAM },
        edit: (_plan, declared) => [plans[0] as never, declared],
        end: { plan: plans[0] ?? null, results: resultsOf(plans[0] as never, 'failed', 'no') },
      });
    },
  ],
  [
    'plan-refused',
    'a limit is exceeded',
    () =>
      ofPlan({
        plan: { manifests: TEAM },
        edit: (plan, declared) => [{ ...plan, verdict: { state: 'refused', reasons: ['too much'] } }, declared],
      }),
  ],
];

test.each(CASES)('%s is true if %s', async (code, _why, facts) => {
  const found = (await facts()) as readonly Fact[];
  expect(found.map((fact) => fact.code)).toEqual([code]);
  const [fact] = found as [Fact];
  expect(fact.summary).not.toMatch(/[\n]|a:b@/);
  expect(fact.summary.length).toBeGreaterThan(10);
  expect(fact.details.length).toBeLessThanOrEqual(10);
  expect(fact.path ?? '/').toMatch(/^\//);
});

test('every condition is produced by something', () => {
  const elsewhere: readonly ConditionCode[] = ['channel-failing', 'status-failing'];
  const produced = new Set([...CASES.map(([code]) => code), ...elsewhere]);
  expect([...produced].toSorted()).toEqual([...CONDITION_CODES].toSorted());
});

const UNKNOWN: readonly (readonly [string, () => unknown])[] = [
  ['of a pass before one has ended', () => passFacts('acme', SCOPE, { lastEnd: null, failingSince: null })],
  ['of a plan before one was made', () => ofPlan({ checked: null })],
  ['of a plan if the last pass made none', () => ofPlan({ end: { plan: null, error: new Error('no') } })],
  ['of clusters before a run', () => clusterFacts('acme', SCOPE, null)],
  ['of the platform before an answer', () => platformFacts(TOKEN, { failingSince: null, answeredAt: null }, [])],
];
test.each(UNKNOWN)('nothing is known %s', async (_when, facts) => {
  expect(await facts()).toBeNull();
});

const NOTHING: readonly (readonly [string, () => unknown])[] = [
  ['a pass succeeded', () => ofPass(null)],
  ['the state file failed, which is a fact of the daemon', () => ofPass(new StoreError('locked'))],
  ['a plan has nothing to do', () => ofPlan({ edit: (plan, declared) => [{ ...plan, changes: [] }, declared] })],
  [
    'the last check is recent',
    () => staleFacts('acme', SCOPE, freshness(NOW - 9 * MINUTE, NOW, 5 * MINUTE), { activeAt: null, now: NOW }),
  ],
  [
    'a pass makes progress',
    () =>
      staleFacts('acme', SCOPE, freshness(NOW - 60 * MINUTE, NOW, 5 * MINUTE), { activeAt: NOW - MINUTE, now: NOW }),
  ],
  [
    'nothing was ever checked',
    () => staleFacts('acme', SCOPE, freshness(null, NOW, 5 * MINUTE), { activeAt: null, now: NOW }),
  ],
  ['a pause is short', () => pauseFacts('acme', SCOPE, [pause({ until: NOW + 60 * MINUTE })])],
  ['sources work', () => conversations({ sources: [someSource()] })],
  ['a run succeeded', () => clusterFacts('acme', SCOPE, run({ outcome: 'done', error: null }))],
  ['requests wait shortly', () => budgetFacts(TOKEN, { ...someQueue(), waiting, oldest: MINUTE }, NOW)],
  [
    'the breaker is open, which is a fact of the platform',
    () => budgetFacts(TOKEN, { ...someQueue(), waiting, oldest: 60 * MINUTE, breaker: 'open' }, NOW),
  ],
  [
    'another token gets answers',
    () => platformFacts(TOKEN, { failingSince: NOW - 5, answeredAt: null }, [{ failingSince: null, answeredAt: NOW }]),
  ],
  ['the state file works', () => stateFileFacts(null, NOW)],
];
test.each(NOTHING)('nothing is wrong if %s', async (_when, facts) => {
  expect(await facts()).toEqual([]);
});

test('a token is refused by 401, and not by the refusal of one request', () => {
  const codes = (error: Error) => ofPass(error)?.map(({ code }) => code);
  expect(codes(new AuthError('no', 401))).toEqual(['pass-failing', 'token-refused']);
  expect(codes(new AuthError('no', 403))).toEqual(['pass-failing']);
  expect(codes(new RejectedError('no', 422))).toEqual(['pass-failing']);
  expect(ofPass(new AuthError('no', 401))?.[1]).toMatchObject({
    ...{ scope: TOKEN, since: NOW - MINUTE, details: ['acme'] },
    summary: 'The platform refuses the token; replace it in the configuration: no',
  });
});

test('a fact keeps the time at which it became true, from report to report', () => {
  const at = (since: number, subject: string) => newFact('dead-letters', SCOPE, { summary: 'x', since, subject });
  expect(keepSince([at(5, 'a')], [at(9, 'a'), at(9, 'b')]).map(({ since }) => since)).toEqual([5, 9]);
});

test('details are cut to ten lines, with the number of the rest', () => {
  const details = Array.from({ length: 25 }, (_, index) => `line ${index}\nsecond`);
  const fact = newFact('drift', SCOPE, { summary: 'x', since: 0, details });
  expect(fact.details).toHaveLength(10);
  expect(fact.details.at(0)).toBe('line 0');
  expect(fact.details.at(-1)).toBe('and 16 more');
});

test('texts of facts do not change while nothing else does', async () => {
  const texts = (now: number) => [
    staleFacts('acme', SCOPE, freshness(NOW - 60 * MINUTE, now, 5 * MINUTE), { activeAt: null, now }),
    pauseFacts('acme', SCOPE, [pause({ until: NOW + 24 * 60 * MINUTE })]),
  ];
  expect(texts(NOW)).toEqual(texts(NOW + 30 * MINUTE));
});
