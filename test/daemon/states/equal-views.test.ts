/** Pages of an organization are the same at its owner and at another replica. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClusterOverview } from '../../../src/clusters/events.ts';
import { outboxLimit } from '../../../src/config/conversations.ts';
import type { IngestionActivity } from '../../../src/conversations/ingestion.ts';
import type { Change, Plan } from '../../../src/core/change.ts';
import {
  AuthError,
  ConfigError,
  DesiredStateError,
  SourceError,
  StoreError,
  TransientError,
} from '../../../src/core/errors.ts';
import type { Declared } from '../../../src/core/resource.ts';
import { conversationState } from '../../../src/daemon/organization/conversations.ts';
import { RemoteOrganizations } from '../../../src/daemon/states/remote-organizations.ts';
import { type OwnedState, StateWriter } from '../../../src/daemon/states/states.ts';
import { openMemoryStore } from '../../../src/store/memory.ts';
import type { BudgetSample } from '../../../src/web/model/budget-samples.ts';
import type { Backend, OrganizationState } from '../../../src/web/model/page.ts';
import { pages } from '../../../src/web/pages/index.ts';
import { countCases, SEED } from '../../support/campaign.ts';
import { actual } from '../../support/planning.ts';
import { fakeDaemon, NOW, type OrganizationCase, resultsOf } from '../../web/fake-daemon.ts';
import { someBudget, someQueue, someRequest } from '../../web/some-backend.ts';

const OWNER = { kind: 'replica', id: 'r-1', address: 'host-1:42' } as const;
const LEASE = { epoch: 1, lost: new AbortController().signal };

const KEYS = ['a', 'b', 'c', 'd'];
const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const title = fc.constantFrom('Docs', 'API', 'Guides', 'Handbook');
const error = fc.oneof(
  fc.record({ file: text, line: fc.nat(), column: fc.nat(), address: text, message: text }).map((problem) => {
    return new DesiredStateError([problem]);
  }),
  text.map((message) => new SourceError(message)),
  text.map((message) => new StoreError(message)),
  text.map((message) => new ConfigError(message)),
  text.map((message) => new AuthError(message, 401)),
  text.map((message) => new TransientError(message, true)),
  text.map((message) => new TypeError(message)),
);

/** A resource: declared, of the last apply, and on the platform, each with a title or not at all. */
const resource = fc.record({
  declared: fc.option(title),
  base: fc.option(title),
  actual: fc.option(title),
  held: fc.boolean(),
  isDrift: fc.boolean(),
  status: fc.constantFrom('applied', 'failed', 'skipped', 'held', null),
});

const organizationCase = fc.record({
  resources: fc.array(resource, { minLength: KEYS.length, maxLength: KEYS.length }),
  verdict: fc.constantFrom('ready', 'held', 'refused'),
  hostile: fc.option(text),
  checked: fc.option(fc.integer({ min: 0, max: 300 })),
  hasEnded: fc.boolean(),
  isOfPlan: fc.boolean(),
  outcome: fc.constantFrom('done', 'held', 'failed'),
  error: fc.option(error),
  retryIn: fc.option(fc.nat(100_000)),
  isRunning: fc.boolean(),
  reached: fc.nat(5),
  author: fc.option(text),
  hasDesired: fc.boolean(),
  failure: fc.option(text),
  lastRun: fc.option(text),
  sender: fc.constantFrom<IngestionActivity['sender']>({ kind: 'idle' }, { kind: 'failing', reason: 'HTTP 503' }),
  budget: fc.record({ resetIn: fc.option(fc.nat(60_000)), cooldown: fc.constantFrom(0, 5000), remaining: fc.nat(90) }),
  oldest: fc.option(fc.nat(90_000)),
  samples: fc.array(fc.nat(20_000_000), { maxLength: 40 }),
});
type Case = typeof organizationCase extends fc.Arbitrary<infer T> ? T : never;

/** Manifests, the base and the platform of a case: spaces, which have a page of their own. */
function toCase(given: Case): OrganizationCase {
  const spaces = (member: 'declared' | 'base') =>
    given.resources.flatMap((each, index) =>
      each[member] === null ? [] : [`  ${KEYS[index]}: { title: ${each[member]} ${KEYS[index]} }`],
    );
  const manifest = (lines: readonly string[]) => (lines.length === 0 ? 'spaces: {}' : `spaces:\n${lines.join('\n')}`);
  const edit = (plan: Plan, declared: ReadonlyMap<string, Declared>) =>
    [changed(plan, given), renamed(declared, given.hostile)] as const;
  return {
    config: { source: { directory: '/manifests' } } as never,
    plan: {
      manifests: { 'a.yaml': manifest(spaces('declared')) },
      base: { 'a.yaml': manifest(spaces('base')) },
      ids: Object.fromEntries(KEYS.map((key) => [`space/${key}`, `sp_${key}`])),
      actuals: given.resources.flatMap((each, index) =>
        each.actual === null ? [] : [actual('space', `sp_${KEYS[index]}`, { title: `${each.actual} ${KEYS[index]}` })],
      ),
    },
    edit,
    checked: given.checked,
    drift: (address) => given.resources[KEYS.indexOf(address.replace('space/', ''))]?.isDrift === true,
    isRunning: given.isRunning,
    reached: given.reached,
    author: given.author,
    ...(given.hasDesired ? {} : { lastDesired: null }),
    end: given.hasEnded ? { outcome: given.outcome, error: given.error, retryIn: given.retryIn } : null,
  };
}

function changed(plan: Plan, { resources, verdict, hostile }: Case): Plan {
  const indexOf = ({ address }: Change) => KEYS.indexOf(address.replace('space/', ''));
  const changes = plan.changes.map((change) =>
    resources[indexOf(change)]?.held ? { ...change, held: hostile ?? 'deletes', approvable: true, weight: 3 } : change,
  );
  const hasHeld = changes.some(({ held }) => held !== null);
  return {
    ...plan,
    changes,
    heldChecksum: hasHeld ? 'sha256:held' : null,
    verdict: { state: verdict, reasons: verdict === 'ready' ? [] : [hostile ?? 'too many deletions'] },
    bindings: new Map([...plan.bindings, ['space/z', hostile ?? 'sp_z']]),
  };
}

function renamed(declared: ReadonlyMap<string, Declared>, hostile: string | null): ReadonlyMap<string, Declared> {
  return hostile === null
    ? declared
    : new Map([...declared].map(([key, each]) => [key, { ...each, fields: { ...each.fields, title: hostile } }]));
}

/** The state of a case at its owner. */
async function ownState(given: Case) {
  const { backend, store, plans } = await fakeDaemon(toCase(given));
  const [state] = backend.organizations() as [OrganizationState];
  const [plan = null] = plans;
  const end = state.reconciler?.lastEnd ?? null;
  const results = (plan === null ? [] : resultsOf(plan, 'applied')).flatMap((result, index) => {
    const status = given.resources[index]?.status ?? null;
    return status === null ? [] : [{ ...result, status, error: status === 'failed' ? 'HTTP 500' : null }];
  });
  const overview = new ClusterOverview({ now: () => NOW - 5000 });
  if (given.lastRun !== null) {
    overview.events().onTrouble?.({ message: given.lastRun } as never);
    overview.events().onRunEnd?.({ error: null, outcome: 'done', read: 3, passing: 1, opened: 0 } as never);
  }
  const snapshot = someQueue({ budgets: [someBudget(given.budget)], oldest: given.oldest });
  const samples: readonly BudgetSample[] = given.samples
    .toSorted((a, b) => b - a)
    .map((age) => ({ at: NOW - age, waiting: 1, inFlight: 0, refused: 0, budgets: [] }));
  const ingestion: IngestionActivity = { sender: given.sender, inFlight: 2, errors: new Map([['help', 'HTTP 401']]) };
  const context = { store, version: '1', random: () => 0.5, clock: { ...backend.clock, now: () => NOW } };
  const outbox = store.outbox('org_1', outboxLimit(state.config.conversations));
  const own: OrganizationState = {
    ...state,
    owner: OWNER,
    pollInterval: null,
    reconciler:
      state.reconciler === null || end === null
        ? state.reconciler
        : { ...state.reconciler, lastEnd: { ...end, results, plan: given.isOfPlan ? end.plan : null } },
    clusters: {
      overview,
      stored: async () => ({ changeRequests: [], examples: new Map(), issuesAtMerge: new Map(), mutes: new Map() }),
    },
    statuses: { failure: given.failure === null ? null : { since: NOW - 1000, reason: given.failure } },
    queue: { name: 'org_1', isKnown: true, snapshot: () => snapshot, samples: async () => samples },
    conversations: conversationState(state.config.conversations, outbox, context.clock, () => ingestion),
  };
  return { own, ingestion, backend, context };
}

/** Content of all pages, with their JSON, by path. */
async function contentOf(backend: Backend, state: OrganizationState): Promise<ReadonlyMap<string, string>> {
  const lastPlan = state.reconciler?.lastCheck?.plan ?? null;
  const params: Readonly<Record<string, string>>[] = [
    {},
    { organization: 'org_1' },
    ...KEYS.map((key) => ({ organization: 'org_1', '*': `space/${key}` })),
    ...(lastPlan === null ? [] : [{ organization: 'org_1', checksum: lastPlan.checksum }]),
  ];
  const found = new Map<string, string>();
  for (const page of pages.filter(({ path }) => !/^\/(alerts|deliveries|silences|audit|log)$/.test(path))) {
    for (const given of params) {
      const names = [...page.path.matchAll(/:(\w+)|\*/g)].map(([name, word]) => word ?? name);
      if (names.length === Object.keys(given).length && names.every((name) => name in given)) {
        const request = { ...someRequest(given, {}, 'operator'), now: NOW };
        await backend.refresh();
        const view = await page.load(backend, request);
        const shown = view === null ? '' : String(await page.render?.(view, request));
        found.set(`${page.path} ${JSON.stringify(given)}`, `${JSON.stringify(view)}\n${shown}`);
      }
    }
  }
  return found;
}

test('every page and its JSON are the same at the owner and at another replica', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(organizationCase, { minLength: 1, maxLength: 3 }), async (cases) => {
      const states = openMemoryStore().organizationStates();
      let state: OwnedState | null = null;
      const openWriter = () =>
        new StateWriter({ ...{ id: 'org_1', states, read: () => state as OwnedState }, lease: LEASE });
      let writer = openWriter();
      const replica = {} as ConstructorParameters<typeof RemoteOrganizations>[0];
      let remote: RemoteOrganizations | null = null;
      // One owner after the other writes its state; the other replica has what it read before.
      for (const [index, given] of cases.entries()) {
        const { own, ingestion, backend, context } = await ownState({ ...given, samples: cases[0]?.samples ?? [] });
        if (index === 1) {
          writer = openWriter();
        }
        state = { ...own, resources: await own.resources(), ingestion };
        await writer.write(NOW);
        Object.assign(replica, context, { store: { ...context.store, organizationStates: () => states } });
        remote ??= new RemoteOrganizations(
          replica,
          { replica: 'r-2', holder: () => ({ replica: OWNER as never, age: 0 }) },
          { queueName: () => 'org_1' },
          null,
        );
        const at = (shown: OrganizationState): Backend =>
          ({ ...backend, clock: context.clock, organizations: () => [shown] }) as Backend;
        const there = {
          ...at(remote.of(own.config).state),
          refresh: () => remote?.refresh(new Set(['org_1'])),
        } as Backend;
        expect(await contentOf(there, own)).toEqual(await contentOf(at(own), own));
      }
    }),
    { seed: SEED, numRuns: countCases({ sample: 60, ci: 150, full: 3000 }) },
  );
});
