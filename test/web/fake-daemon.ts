/** Daemons without a platform, for views: their state is given. */
import { type Config, configFromEnvironment, type OrganizationConfig } from '../../src/config/config.ts';
import type { ChangeResult, Plan } from '../../src/core/change.ts';
import type { Declared } from '../../src/core/resource.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { planToJson } from '../../src/plan/render/document.ts';
import type { PassEnd } from '../../src/reconcile/pass.ts';
import type { Actor, NewPass } from '../../src/store/history.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/store.ts';
import type { Backend, OrganizationState, PageRequest, ReconcilerState, ViewerRole } from '../../src/web/model/page.ts';
import { type PlanCase, planOf } from '../support/planning.ts';
import { declare } from '../support/world.ts';

export const NOW = Date.parse('2026-06-01T12:02:00Z');
export const COMMIT = '3f2a91c0a1b2c3d4e5f60718293a4b5c6d7e8f90';
const MINUTE = 60_000;
const AUTHORS = { emails: new Set(['ana@acme.example']), isComplete: true };

export const ana: Actor = { name: 'ana@acme.example', method: 'oidc' };

/** A request of a person for a page of the organization `org_1`. */
export function request(
  params: Readonly<Record<string, string>> = {},
  {
    role = 'approver',
    query = {},
    actor = ana,
    handlers = { conversations: async () => ({}) },
  }: {
    role?: ViewerRole;
    query?: Record<string, string>;
    actor?: Actor;
    handlers?: PageRequest['handlers'];
  } = {},
): PageRequest {
  const viewer = { actor, role: () => role };
  return {
    params: { organization: 'org_1', ...params },
    query,
    fields: {},
    viewer,
    handlers,
    titleOf: (id) => id,
    now: NOW,
  };
}

/** State of an organization of the fake daemon. */
export interface OrganizationCase {
  readonly id?: string;
  readonly config?: Partial<OrganizationConfig>;
  /** Null: no source of manifests. */
  readonly plan?: PlanCase | null;
  /** Minutes since the check; null: nothing was checked since the start. */
  readonly checked?: number | null;
  /** Differences from a last pass that was done; null: no pass has ended. */
  readonly end?: Partial<PassEnd> | null;
  readonly isRunning?: boolean;
  /** Changes that the running pass has reached. */
  readonly reached?: number;
  /** Author of the commit. */
  readonly author?: string | null;
  readonly failingSince?: number;
  /** Null: no manifests were valid since the start. */
  readonly lastDesired?: null;
  /** Changes the plan and the declared resources, for content that manifests cannot have. */
  readonly edit?: (
    plan: Plan,
    declared: ReadonlyMap<string, Declared>,
  ) => readonly [Plan, ReadonlyMap<string, Declared>];
  /** Changes that undo what somebody changed on the platform. */
  readonly drift?: (address: string) => boolean;
}

export interface Fake {
  readonly backend: Backend;
  readonly store: Store;
  readonly plans: readonly (Plan | null)[];
}

/** Creates a daemon with these organizations. */
export async function fakeDaemon(...cases: readonly OrganizationCase[]): Promise<Fake> {
  const store = openMemoryStore();
  const all = await Promise.all(cases.map((each) => organization(store, each)));
  const backend = {
    version: '1.2.3',
    clock: { now: () => NOW },
    organizations: () => all.map(({ state }) => state),
    refresh: async () => undefined,
    fleet: () => null,
    configurationProblems: () => [],
    onChange: () => () => undefined,
  } as unknown as Backend;
  return { backend, store, plans: all.map(({ plan }) => plan) };
}

async function organization(store: Store, given: OrganizationCase) {
  const { id = 'org_1', plan: input = { manifests: {} }, config = {} } = given;
  const edit = given.edit ?? ((...both) => both);
  const [plan, declared] =
    input === null
      ? [null, new Map<string, Declared>()]
      : edit((await planOf({ commit: COMMIT, ...input })).plan, await declare(input.manifests));
  const state = {
    id,
    config: { ...organizationConfig(id), ...config },
    owner: { kind: 'only' },
    reconciler: plan === null ? null : reconcilerOf(given, plan, declared),
    resources: async () =>
      plan === null || given.lastDesired === null
        ? null
        : { declared, ids: given.checked === null ? new Map() : plan.bindings },
    record: store.organization(id),
    history: store.history(id),
    clusters: {
      overview: { lastRun: null },
      stored: async () => ({ changeRequests: [], examples: new Map(), issuesAtMerge: new Map(), mutes: new Map() }),
    },
    pollInterval: 30_000,
    webhook: null,
    statuses: null,
  } as unknown as OrganizationState;
  return { state, plan };
}

function organizationConfig(id: string): OrganizationConfig | undefined {
  const env = { OCTAVO_BASE_URL: 'https://api.example', OCTAVO_TOKEN: 'gb_api_t', OCTAVO_ORGANIZATION: id };
  const config: Config = configFromEnvironment(env, kinds);
  return config.organizations[0];
}

function reconcilerOf(
  { checked = 1, end = {}, failingSince, lastDesired: given, drift = () => false, ...rest }: OrganizationCase,
  plan: Plan,
  declared: ReadonlyMap<string, Declared>,
): ReconcilerState {
  const at = NOW - (checked ?? 0) * MINUTE;
  const lastCheck =
    checked === null
      ? null
      : { plan, at, authors: AUTHORS, drift: new Set(plan.changes.filter(({ address }) => drift(address))) };
  const lastEnd: PassEnd | null =
    end === null || checked === null
      ? null
      : {
          trigger: 'schedule',
          outcome: 'done',
          plan,
          results: [],
          requests: { reads: 3, writes: 0 },
          error: null,
          milliseconds: 1200,
          endedAt: at,
          retryIn: null,
          ...end,
        };
  const state = { declared, files: 1, paths: ['a.yaml'] };
  const { isRunning = false, reached = 0, author = 'ana@acme.example' } = rest;
  const desired = { state, commit: COMMIT, subject: 'Rename "docs"', author, forced: false };
  const lastDesired = given === null ? null : desired;
  return {
    lastCheck,
    lastEnd,
    lastDesired,
    isRunning,
    reached,
    failingSince: failingSince ?? (lastEnd?.error == null ? null : lastEnd.endedAt),
  };
}

/** Results of all changes of a plan. */
export function resultsOf(plan: Plan, status: ChangeResult['status'], error: string | null = null): ChangeResult[] {
  return plan.changes.map(({ address, action, id }) => ({ address, action, id, status, error }));
}

/** A pass for the history. */
export function passOf(plan: Plan | null, rest: Partial<NewPass> = {}): NewPass {
  return {
    trigger: 'commit',
    commit: COMMIT,
    subject: 'Rename "docs"',
    author: 'ana@acme.example',
    outcome: 'held',
    checksum: plan?.checksum ?? null,
    counts: plan === null ? {} : { update: plan.changes.length },
    reads: 3,
    writes: 0,
    refused: 0,
    milliseconds: 1200,
    error: null,
    endedAt: NOW - MINUTE,
    changes: (plan?.changes ?? []).map(({ address, action }) => ({ address, action, status: 'held', error: null })),
    plan: plan === null ? null : JSON.parse(JSON.stringify(planToJson(plan))),
    ...rest,
  };
}
