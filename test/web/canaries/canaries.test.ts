/** Search of everything that the daemon shows for texts that nobody may see. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pages } from '../../../src/web/pages/index.ts';
import { eventually } from '../../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';
import { openPageApp } from '../page-app.ts';
import { type PageDaemon, startPage } from '../page-daemon.ts';
import { CANARIES, canarySettings, fillWorkspace, PLATFORM_TOKEN, ROLES, STORY } from './canaries.ts';

const JSON_ONLY = { accept: 'application/json' };

/** Addresses of an organization whose repository cannot be read. */
const UNREACHABLE = ['', '/history', '/conversations', '/audit'].map(
  (path) => [`/o/:organization${path}`, `/o/org_unreachable${path}`] as const,
);

/** Returns an address of every route, by its pattern. Routes that only change something are asked with GET, too. */
async function samplesOf(page: PageDaemon): Promise<ReadonlyMap<string, string>> {
  const { deadLetters } = await viewOf(page, '/o/org_acme/refused');
  const [organization] = page.daemon.organizations.filter(({ id }) => id === 'org_acme');
  const plan = `/o/org_acme/plans/${encodeURIComponent(organization?.lastPlan?.checksum ?? '')}`;
  return new Map([
    ...[...['/', '/sign-in', '/sign-out', '/audit', '/limits', '/log'], ...['/alerts', '/deliveries', '/replicas']].map(
      (path) => [path, path] as const,
    ),
    ['/oidc/start', '/oidc/start?back=/o/org_acme'],
    [
      '/oidc/callback',
      `/oidc/callback?code=${CANARIES['code of the provider']}&state=${CANARIES['state of a sign-in']}`,
    ],
    ['/assets/:name', '/assets/page.js'],
    ['/o/:organization', '/o/org_acme'],
    ['/o/:organization/actions', '/o/org_acme/actions'],
    ['/o/:organization/r/*', '/o/org_acme/r/saml/okta'],
    ['/o/:organization/plans/:checksum', plan],
    ['/o/:organization/plans/:checksum/plan.json', `${plan}/plan.json`],
    ['/o/:organization/history/:number', '/o/org_acme/history/1'],
    ['/o/:organization/questions/:cluster', '/o/org_acme/questions/c_1'],
    ['/o/:organization/refused/:key', `/o/org_acme/refused/${encodeURIComponent(deadLetters[0].key)}`],
    ...['audit', 'history', 'conversations', 'questions', 'refused', ...['passes', 'clusters', 'dead-letters']].map(
      (name) => [`/o/:organization/${name}`, `/o/org_acme/${name}`] as const,
    ),
    ['/o/:organization/conversations/redaction', '/o/org_acme/conversations/redaction'],
    // Addresses that pages had before.
    ...['/budget', '/conditions'].map((path) => [path, path] as const),
    ['/o/:organization/passes/:number', '/o/org_acme/passes/1'],
    ['/o/:organization/dead-letters/:key', `/o/org_acme/dead-letters/${encodeURIComponent(deadLetters[0].key)}`],
  ]);
}

/** Patterns of all routes of a server with every way to sign in, except the event stream, which does not end. */
async function routes(): Promise<readonly string[]> {
  const oidc = { issuer: 'https://login.example', clientId: 'octavo' };
  await using page = await openPageApp({ ui: { publicUrl: 'http://localhost', oidc } });
  const stack: string[] = [];
  const found = new Set<string>();
  for (const line of page.server.app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', part = ''] = /^([│ ]*)[├└]── (\S+) \(/.exec(line) ?? [];
    if (part !== '') {
      stack.splice(indent.length / 4, stack.length, part);
      found.add(stack.join(''));
    }
  }
  found.delete('/events');
  // The pattern of a resource is shown without its own part.
  return [...found].map((route) => route.replace(/^(\/o\/:organization)\*$/, '$1/r/*')).toSorted();
}

/** Answers that were searched, by their address. Throws for an answer with a canary. */
class Search {
  readonly statuses = new Set<number>();
  readonly found: string[] = [];
  /** Number of answers with the text of the ticket, which shows that the search finds something. */
  stories = 0;
  readonly #secrets = new Map(Object.entries(CANARIES));

  /** Adds a text that became a secret. */
  add(place: string, text: string): void {
    this.#secrets.set(place, text);
  }

  text(where: string, text: string, { mayHaveStory = false } = {}): void {
    this.stories += mayHaveStory && text.includes(STORY) ? 1 : 0;
    for (const [place, canary] of mayHaveStory ? this.#secrets : [...this.#secrets, ['text of a ticket', STORY]]) {
      const forms = [canary, encodeURIComponent(canary), Buffer.from(canary).toString('base64').replace(/=+$/, '')];
      if (forms.some((form) => form !== undefined && text.includes(form))) {
        this.found.push(`${where}: ${place}`);
      }
    }
  }

  async answer(where: string, answer: Response, options = {}): Promise<void> {
    this.statuses.add(answer.status);
    // The cookie of the person themselves.
    const headers = [...answer.headers].filter(([name]) => name !== 'set-cookie');
    this.text(where, `${JSON.stringify(headers)}\n${await answer.text()}`, options);
  }
}

/** Begins a session. Returns its cookie. */
async function signIn(page: PageDaemon, role: string): Promise<string> {
  const answer = await page.post('/sign-in', { token: `canary-token-of-${role}` });
  expect(answer.status).toBe(303);
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

async function searchPages(
  page: PageDaemon,
  samples: ReadonlyMap<string, string>,
  search: Search,
  roles: readonly string[],
): Promise<void> {
  for (const role of [null, ...roles]) {
    const cookie = role === null ? '' : await signIn(page, role);
    search.add(`session of a ${role}`, cookie.split('=')[1] || 'nobody has this session');
    for (const [pattern, path] of [...samples, ...UNREACHABLE]) {
      const mayHaveStory = pattern.endsWith('/:key') && (role === 'operator' || role === 'approver');
      for (const accept of ['text/html', 'application/json']) {
        const answer = await page.get(path, { accept, cookie });
        expect(answer.status, `${role} ${path}`).toBeLessThan(pattern.startsWith('/oidc') ? 503 : 500);
        await search.answer(`${path} as ${role} (${accept})`, answer, { mayHaveStory });
      }
    }
    await searchErrors(page, search, cookie);
  }
}

/** Asks for every kind of error page. */
async function searchErrors({ get, post }: PageDaemon, search: Search, cookie: string): Promise<void> {
  const act = (fields: Readonly<Record<string, string>>, headers = {}) =>
    post('/o/org_acme/actions', fields, { cookie, ...headers });
  const wrong = CANARIES['wrong token'] ?? '';
  const answers = [
    get('/o/%E0%A4%A', { cookie }),
    get('/', { authorization: `Bearer ${wrong}`, ...JSON_ONLY }),
    post('/sign-in', { token: wrong }),
    get('/o/org_unknown', { cookie }),
    act({ action: 'reconcile' }, { 'sec-fetch-site': 'cross-site' }),
    act({ action: 'approve', checksum: 'another' }),
    act({ action: 'pause' }),
    act({ action: 'pause', reason: 'x'.repeat(70_000) }),
    act({ action: 'pause', reason: 'x' }, { 'content-type': 'text/plain' }),
    get('/', { 'x-user': 'ana@acme.example', 'x-secret': 'wrong', cookie }),
  ];
  for (const [index, answer] of (await Promise.all(answers)).entries()) {
    await search.answer(`error page ${index}`, answer);
  }
}

/** Reads the event stream of an approver while something happens, and the surfaces other than the page. */
async function searchTheRest(page: PageDaemon, work: Workspace, search: Search): Promise<void> {
  const stream = await page.get('/events', { cookie: await signIn(page, 'approver') });
  const [organization] = page.daemon.organizations.filter(({ id }) => id === 'org_acme');
  await organization?.trigger('manual');
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  let events = '';
  while (!events.includes('org_acme')) {
    events += (await reader?.read())?.value ?? '';
  }
  await reader?.cancel();
  search.text('event stream', events);
  for (const path of ['/metrics', '/healthz', '/readyz', '/nothing']) {
    await search.answer(path, await fetch(`${page.daemon.address}${path}`));
  }
  const config = join(work.folder, 'config.yaml');
  for (const command of ['status', 'history', 'audit']) {
    for (const format of ['text', 'json']) {
      const { code, stdout, stderr } = await work.inside(
        [command, '--config', config, '--organization', 'org_acme', '--format', format],
        {
          OCTAVO_TOKEN: PLATFORM_TOKEN,
        },
      );
      expect(code, stderr).not.toBe(3);
      search.text(`octavo ${command} --format ${format}`, stdout + stderr);
    }
  }
  search.text('log', JSON.stringify(page.log));
}

beforeEach(() => vi.stubEnv('OCTAVO_CANARY', CANARIES['variable of the environment']));
afterEach(() => vi.unstubAllEnvs());

async function viewOf({ get }: PageDaemon, path: string) {
  const answer = await get(path, { ...JSON_ONLY, authorization: 'Bearer canary-token-of-viewer' });
  return JSON.parse(await answer.text());
}

const deadLetters = async (page: PageDaemon) => (await viewOf(page, '/o/org_acme/conversations')).outbox.deadLetters;

/** Checks that the pages show the sources, budgets and log of the daemon: otherwise, the search proves nothing. */
async function checkMonitoring(page: PageDaemon): Promise<void> {
  const { sources, redactions } = await viewOf(page, '/o/org_acme/conversations');
  expect(sources[0]).toMatchObject({ name: 'drop', kind: 'folder', state: 'working' });
  expect(redactions.map(({ type }: { readonly type: string }) => type)).toContain('email');
  const { queues } = await viewOf(page, '/limits');
  expect(queues).toMatchObject([
    { name: 'org_acme', organizations: ['org_acme', 'org_unreachable'], breaker: 'closed' },
  ]);
  expect(JSON.stringify((await viewOf(page, '/log')).records)).toContain('octavo is running');
  const path = '/o/org_acme/refused';
  expect((await viewOf(page, '/o/org_acme')).waiting).toContainEqual(
    expect.objectContaining({ kind: 'dead-letters', path }),
  );
}

test.each(['oidc', 'proxy'] as const)(
  'no page, event, error, command, metric or log has a secret or text of a customer, with %s',
  async (how) => {
    await using work = await openWorkspace({ token: PLATFORM_TOKEN });
    fillWorkspace(work);
    await using page = await startPage(work, canarySettings(work, how));
    // A plan that is held.
    work.repository.write('a.yaml', 'collections: { a: { title: A } }\n');
    work.repository.commit('One');
    await page.daemon.organizations.find(({ id }) => id === 'org_acme')?.trigger('manual');
    await eventually('a dead letter', async () => (await deadLetters(page)) > 0);
    await checkMonitoring(page);
    // Every page and every other route has an address that is searched.
    const samples = await samplesOf(page);
    const known = await routes();
    expect([...samples.keys()].toSorted()).toEqual(known);
    expect(pages.map(({ path }) => path).filter((path) => !known.includes(path))).toEqual([]);
    const search = new Search();
    // The roles see the same pages however people sign in.
    await searchPages(page, samples, search, how === 'oidc' ? ROLES : ['approver']);
    await searchTheRest(page, work, search);
    expect(search.found).toEqual([]);
    // As HTML and as JSON, for operators and approvers.
    expect(search.stories).toBe(how === 'oidc' ? 4 : 2);
    const expected = [200, 303, 400, 401, 403, 404, 409, 413, 415, 422];
    expect(expected.filter((status) => !search.statuses.has(status))).toEqual([]);
  },
);
