/** Servers whose organizations have every kind of resource, nothing at all, or very much. */
import { StoreError } from '../../../src/core/errors.ts';
import type { Backend, FleetState, OrganizationState } from '../../../src/web/model/page.ts';
import { pickCases } from '../../support/campaign.ts';
import { samples } from '../../support/kind-samples.ts';
import { type Fake, fakeDaemon, NOW, type OrganizationCase, passOf } from '../fake-daemon.ts';
import { openPageApp, type PageApp, tokenEntry } from '../page-app.ts';
import { withParts } from '../some-backend.ts';

/** A server with its pages by name. */
export interface StatePage extends PageApp {
  readonly url: string;
  readonly paths: ReadonlyMap<string, string>;
}

const TOKENS = ['approver', 'viewer', 'nobody'];
const STATE_UI = {
  tokens: TOKENS.map((role) => tokenEntry(`${role}@acme.example`, `${role}-token`)),
  roles: ['approver', 'viewer'].map((role) => ({ role, people: [`${role}@acme.example`] })),
};

async function serve(
  states: readonly OrganizationState[],
  paths: ReadonlyMap<string, string>,
  more: Partial<Backend> = {},
): Promise<StatePage> {
  const organizations = states.map((state) => withParts(state));
  const page = await openPageApp({
    ui: STATE_UI,
    backend: (backend: Backend) => ({
      ...backend,
      ...more,
      clock: { ...backend.clock, now: () => NOW },
      organizations: () => organizations,
    }),
  });
  return { ...page, paths, url: await page.server.listen() };
}

/** Organizations whose plans have a kind of resource each, with its differences. The campaign has every kind. */
export async function everyKind(): Promise<StatePage> {
  const picked = pickCases(samples, 4, 12);
  const cases = picked.map(
    ({ kind, steps }): OrganizationCase => ({
      id: `org_${kind}`,
      plan: { manifests: steps.updated ?? '', base: steps.created ?? '' },
    }),
  );
  const fake = await fakeDaemon(...cases);
  const paths = picked.flatMap(({ kind, address }, index) => [
    [`plan of ${kind}`, `/o/org_${kind}/plans/${encodeURIComponent(fake.plans[index]?.checksum ?? '')}`] as const,
    [`resource ${kind}`, `/o/org_${kind}/r/${address}`] as const,
  ]);
  return serve(fake.backend.organizations(), new Map(paths));
}

const PAGES_OF_ORGANIZATION = ['', '/history', '/conversations', '/refused', '/questions', '/audit'];
const MONITORING_PAGES = ['/alerts', '/deliveries', '/replicas'];
const PAGES = ['/', '/audit', '/limits', '/log', ...MONITORING_PAGES];

/** A fleet that has just begun: nobody has anything. */
const EMPTY_FLEET: FleetState = {
  ...{ replica: 'host-1-ab', replicas: [], left: 60_000, failure: null, latency: null, unowned: [] },
  notificationsUnowned: null,
};

/** 120 replicas with long names, and 300 organizations that none of them has. */
const LARGE_FLEET: FleetState = {
  replica: 'r-7',
  replicas: Array.from({ length: 120 }, (_, index) => ({
    ...{ id: `r-${index}`, version: '1.2.3', weight: 1, isDraining: index % 3 === 0, organizations: index },
    ...{ address: `${'x'.repeat(300)} ${index}`, left: index % 5 === 0 ? -1 : 60_000 },
    ...{ startedAt: NOW - 3_600_000, seenAt: NOW - 1000 },
  })),
  ...{ left: 20_000, failure: 'a reason without an end, '.repeat(60), latency: 12.5, notificationsUnowned: 90_000 },
  unowned: Array.from({ length: 300 }, (_, index) => ({
    ...{ organization: `org_${index}`, age: index * 1000, isConfigured: index % 2 === 0 },
  })),
};

/** An organization that has just been added, and one without manifests. */
export async function nothing(): Promise<StatePage> {
  const fake = await fakeDaemon(
    { id: 'empty', plan: null, end: null },
    { id: 'new', plan: { manifests: 'teams: {}' }, checked: null, end: null },
  );
  const paths = ['empty', 'new'].flatMap((id) => PAGES_OF_ORGANIZATION.map((path) => `/o/${id}${path}`));
  const all = [...PAGES, ...paths];
  return serve(fake.backend.organizations(), new Map(all.map((path) => [path, path])), { fleet: () => EMPTY_FLEET });
}

/** 150 organizations. One has 600 resources, a plan that changes them all, and a long history. */
export async function veryMuch(): Promise<StatePage> {
  const teams = Array.from({ length: 600 }, (_, index) => `  team-${index}: { title: Team ${index} }`);
  const others = Array.from({ length: 149 }, (_, index): OrganizationCase => ({ id: `org_${index}`, plan: null }));
  const fake = await fakeDaemon({ id: 'large', plan: { manifests: `teams:\n${teams.join('\n')}` } }, ...others);
  await fillHistory(fake);
  const plan = `/o/large/plans/${encodeURIComponent(fake.plans[0]?.checksum ?? '')}`;
  const paths = ['/', '/audit', ...MONITORING_PAGES, '/o/large', '/o/large/history', plan, '/o/large/history/150'];
  return serve(fake.backend.organizations(), new Map(paths.map((path) => [path, path])), { fleet: () => LARGE_FLEET });
}

async function fillHistory({ backend, plans: [plan = null] }: Fake): Promise<void> {
  const [large] = backend.organizations();
  for (let index = 0; index < 300; index += 1) {
    const outcome = index % 2 === 0 ? 'failed' : 'held';
    await large?.history.addPass(passOf(plan, { outcome, endedAt: NOW - 60_000 * (300 - index), error: 'No answer' }));
    await large?.history.addAudit({
      ...{ at: NOW - index * 1000, actor: { name: 'ana@acme.example', method: 'oidc' }, action: 'pause', subject: '' },
      ...{ reason: 'migration', outcome: 'done', detail: '' },
    });
  }
}

/** A plan that can be approved, pages that fail, and a sign-in provider that is down. */
export async function failing(): Promise<StatePage & { readonly checksum: string }> {
  const plan = {
    manifests: 'teams: { a: { title: New } }',
    base: 'teams: { a: { title: A }, b: { title: B } }',
    policy: { requireApproval: ['team'] },
  };
  const other = { ...plan, manifests: 'teams: { a: { title: Other } }' };
  const fake = await fakeDaemon({ id: 'acme', plan }, { id: 'acme', plan: other });
  const [state, moved] = fake.backend.organizations();
  await state?.history.addPass(passOf(fake.plans[1] ?? null));
  const broken = {
    ...(moved as OrganizationState),
    id: 'broken',
    history: new Proxy({}, { get: () => () => Promise.reject(new StoreError('the state file is locked')) }),
    conversations: { status: () => Promise.reject(new Error('secret of the inside')) },
  } as unknown as OrganizationState;
  const oidc = { issuer: 'http://127.0.0.1:9', clientId: 'octavo' };
  const states = [withParts(state as OrganizationState), broken];
  const page = await openPageApp({
    ui: { ...STATE_UI, publicUrl: 'http://localhost', oidc },
    backend: (backend: Backend) => ({ ...backend, organizations: () => states }),
  });
  const paths = new Map([
    ['400', '/o/%E0%A4%A'],
    ['404', '/o/unknown'],
    ['500', '/o/broken/conversations'],
    ['502', '/oidc/start'],
    ['503', '/o/broken/audit'],
  ]);
  return { ...page, paths, url: await page.server.listen(), checksum: fake.plans[1]?.checksum ?? '' };
}
