import { expect, test } from 'vitest';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const SITE = `spaces:
  guides: { title: Guides, language: en }
translations:
  guides-fr: { space: guides, from: en, to: fr }
teams:
  writers: { title: Writers }
sites:
  help:
    title: Help
    default: guides
    structure:
      - section: guides
        title: Guides
        default: fr
        spaces:
          - { key: en, space: guides, path: en }
          - { key: fr, space: guides-fr, path: fr, condition: visitor.claims.a }
`;

/** A platform that takes this many milliseconds for a translation. */
async function openSite(translation: number, options: object = {}): Promise<Workspace> {
  const work = await openWorkspace({ processing: { openapi: 0, translation, ...options } });
  work.repository.commit('A site', { 'sites.yaml': SITE });
  return work;
}

const spaceCount = (work: Workspace) => (work.emulator.state() as { siteSpaces?: unknown[] }).siteSpaces?.length;
const FOREVER = 1e9;

test('waits for a translation that it has started, and applies what depends on it', async () => {
  await using work = await openSite(300);
  const { code, stdout, stderr } = await work.inside(['apply', '--yes', '--record']);
  expect(stderr).toContain('Pending   site-space/help/guides/fr: ');
  expect(stderr).toContain('waiting  translation/guides-fr (at most 5 minutes)');
  expect({ code, pending: /pending/.test(stdout) }, stderr).toEqual({ code: 0, pending: false });
  expect(spaceCount(work)).toBe(2);
  expect((await work.inside(['plan', '--base', 'applied', '--detailed-exitcode'])).stdout).toContain('No changes');
  const record = work.repository.git('show', 'refs/octavo/org_acme/applied:.octavo-applied.json');
  expect(record).toContain('"site-space/help/guides/fr"');
});

test('reports what is still pending after the wait, with its own exit code', async () => {
  await using work = await openSite(FOREVER);
  const ended = await work.inside(['apply', '--yes', '--record', '--wait', '300ms']);
  expect(ended.stdout).toMatch(
    /^\d+ applied, 2 still pending after 1 second: site-space\/help\/guides\/fr, translation\/guides-fr; \d+ writes\n$/,
  );
  expect(ended.stderr).toContain('Pending: site-space/help/guides/fr: ');
  expect(ended.stderr).toContain('Pending: translation/guides-fr: the platform is still working on it');
  expect(ended.code).toBe(5);
  expect(work.repository.git('for-each-ref', 'refs/octavo')).toBe('');
  // The next apply also waits for it, although it has not started it.
  const next = await work.inside(['apply', '--yes', '--wait', '200ms', '--format', 'json']);
  const result = JSON.parse(next.stdout) as { pending: { address: string }[]; summary: object };
  expect(result.pending.map(({ address }) => address)).toContain('site-space/help/guides/fr');
  expect(result.summary).toMatchObject({ applied: 0, pending: result.pending.length });
  expect(next.code).toBe(5);
});

test('does not wait with --wait 0, and succeeds with pending changes', async () => {
  await using work = await openSite(FOREVER);
  const { code, stdout, stderr } = await work.inside(['apply', '--yes', '--record', '--wait', '0']);
  expect(stdout).toMatch(
    /^\d+ applied, 2 pending: site-space\/help\/guides\/fr, translation\/guides-fr; \d+ writes\n$/,
  );
  expect(stderr).not.toContain('waiting');
  expect(stderr).toContain('was not updated; still to apply: site-space/help/guides/fr, translation/guides-fr');
  expect(code).toBe(0);
  expect(work.emulator.requests.count('getTranslation')).toBe(1);
  expect(work.repository.git('for-each-ref', 'refs/octavo')).toBe('');
});

test('does not say that it waits with --wait 0 for a specification or on a terminal', async () => {
  await using work = await openWorkspace({ processing: { openapi: FOREVER, translation: FOREVER } });
  work.repository.write('sites.yaml', SITE);
  work.repository.write('api.yaml', 'openapi: { pets: { source: { url: "https://acme.example/pets.json" } } }\n');
  work.repository.commit('Both');
  const { code, stderr } = await work.inside(['apply', '--yes', '--wait', '0'], {}, '.', { isErrTerminal: true });
  expect({ code, waits: stderr.includes('waiting') }).toEqual({ code: 0, waits: false });
});

test('does not wait for a translation that somebody else started and no change depends on', async () => {
  await using work = await openSite(FOREVER);
  work.repository.commit('No site', { 'sites.yaml': SITE.slice(0, SITE.indexOf('sites:')) });
  await work.inside(['apply', '--yes', '--wait', '0']);
  const polls = work.emulator.requests.count('getTranslation');
  const { code, stdout, stderr } = await work.inside(['apply', '--yes']);
  expect({ code, polls: work.emulator.requests.count('getTranslation') }, stdout + stderr).toEqual({ code: 0, polls });
  // With a change that does not depend on it, it is not awaited either.
  work.repository.commit('A team', { 'teams.yaml': 'teams: { a: { title: A } }\n' });
  expect(await work.inside(['apply', '--yes'])).toMatchObject({ code: 0, stdout: '1 applied; 1 write\n' });
  expect(work.emulator.requests.count('getTranslation')).toBe(polls);
});

test('leaves changes that others make during the wait to the next plan', async () => {
  await using work = await openSite(400);
  let isDone = false;
  const hook = async () => {
    const [team] = work.emulator.state().teams ?? [];
    if (!isDone && team !== undefined) {
      isDone = true;
      await work.call('PATCH', `/teams/${team.id}`, { title: 'By hand' });
      const [site] = (work.emulator.state() as { sites?: { id: string }[] }).sites ?? [];
      await work.call('PATCH', `/sites/${site?.id}`, { title: 'By hand too' });
    }
  };
  work.emulator.setFaults([
    { match: { operation: 'getTranslation', nth: 1 }, fault: { kind: 'hook', when: 'after', run: () => void hook() } },
  ]);
  const { code, stderr } = await work.inside(['apply', '--yes']);
  expect(code, stderr).toBe(0);
  expect(spaceCount(work)).toBe(2);
  expect(work.teams()).toEqual(['By hand']);
  expect(stderr).not.toContain('updated  team/writers');
  expect((work.emulator.state() as { sites?: { title: string }[] }).sites?.map(({ title }) => title)).toEqual([
    'By hand too',
  ]);
});

test('counts people who have not joined, without waiting for them', async () => {
  await using work = await openWorkspace();
  work.repository.write('teams.yaml', 'teams: { a: { title: A, members: { dana@acme.example: member } } }\n');
  work.repository.commit('A team');
  expect(await work.inside(['apply', '--yes'])).toMatchObject({
    code: 0,
    stdout: '1 applied, 1 pending: member/dana@acme.example; 1 write\n',
  });
});

test('reports a specification that is still being processed as pending', async () => {
  await using work = await openWorkspace({ processing: { openapi: FOREVER, translation: 0 } });
  work.repository.write('api.yaml', 'openapi: { pets: { source: { url: "https://acme.example/pets.json" } } }\n');
  work.repository.commit('A specification');
  const { code, stdout } = await work.inside(['apply', '--yes', '--wait', '200ms']);
  expect([code, stdout]).toEqual([5, '1 applied, 1 still pending after 1 second: openapi/pets; 1 write\n']);
});

test('updates a single line during the wait on a terminal', async () => {
  await using work = await openSite(300);
  const { code, stderr } = await work.inside(['apply', '--yes'], {}, '.', { isErrTerminal: true });
  expect(code).toBe(0);
  expect(stderr).toContain(
    '\r\u001b[2K\u001b[2m  waiting for the platform, 1 second of 5 minutes: translation/guides-fr',
  );
});

test.each(['x', '5', '-1'])('refuses --wait %s', async (value) => {
  await using work = await openWorkspace();
  expect((await work.inside(['apply', '--yes', `--wait=${value}`])).code).toBe(3);
});

test('ends the wait at once when interrupted, also while a poll is in flight', async () => {
  await using work = await openSite(FOREVER);
  work.emulator.setFaults([{ match: { operation: 'getTranslation' }, fault: { kind: 'delay', ms: 60_000 } }]);
  const apply = work.begin('apply', work.repository.directory, '--yes', '--record');
  await eventually('the first poll', () => work.emulator.requests.count('getTranslation') === 1);
  const since = performance.now();
  const { code, stdout, stderr } = await apply.stop('SIGINT');
  expect({ code, took: performance.now() - since < 3000 }, stderr).toEqual({ code: 5, took: true });
  expect(stdout).toMatch(/applied, 2 still pending after \d+ seconds?: site-space/);
  expect(work.repository.git('for-each-ref', 'refs/octavo')).toBe('');
});

test('leaves a specification pending when interrupted during its processing', async () => {
  await using work = await openWorkspace({ processing: { openapi: FOREVER, translation: 0 } });
  work.repository.write('api.yaml', 'openapi: { pets: { source: { url: "https://acme.example/pets.json" } } }\n');
  work.repository.commit('A specification');
  const apply = work.beginInside('apply', work.repository.directory, '--yes');
  await eventually('the first poll', () => work.emulator.requests.count('getOpenApiSpec') > 0);
  expect(await apply.stop()).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('waiting  openapi/pets'),
  });
});

test('applies only the confirmed plan with a checksum, and no later changes', async () => {
  await using work = await openSite(100);
  const { checksum } = JSON.parse((await work.inside(['plan', '--format', 'json'])).stdout) as { checksum: string };
  const { code, stderr } = await work.inside(['apply', '--approve', checksum]);
  expect({ code, spaces: spaceCount(work) }, stderr).toEqual({ code: 5, spaces: 1 });
  expect(stderr).toContain('were not confirmed; run apply again');
});

test('does not wait for the work of an earlier apply without confirmation', async () => {
  await using work = await openSite(FOREVER);
  await work.inside(['apply', '--yes', '--wait', '0']);
  const polls = work.emulator.requests.count('getTranslation');
  const { code, stdout } = await work.inside(['apply']);
  expect({ code, polls: work.emulator.requests.count('getTranslation') }).toEqual({ code: 5, polls });
  expect(stdout).toContain('1 pending: site-space/help/guides/fr');
});

test('mentions pending changes in the question, and applies them after a yes', async () => {
  await using work = await openSite(100);
  let question = '';
  const ask = async (text: string) => {
    question = text;
    return 'yes';
  };
  expect((await work.inside(['apply'], {}, '.', { ask })).code).toBe(0);
  expect(question).toMatch(/apply \d+ changes, and pending changes once they are ready, to /);
  expect(spaceCount(work)).toBe(2);
});

test('leaves changes pending when the plan after the wait fails', async () => {
  await using work = await openSite(100);
  work.emulator.setFaults([{ match: { operation: 'listSites', nth: 2 }, fault: { kind: 'html' } }]);
  const { code, stderr } = await work.inside(['apply', '--yes', '--record']);
  expect({ code, spaces: spaceCount(work) }, stderr).toEqual({ code: 5, spaces: 1 });
  expect(stderr).toContain('Cannot plan the pending changes: ');
});

test('escapes platform messages about a translation for terminals and CI jobs', async () => {
  await using work = await openSite(FOREVER);
  const message = 'gone\u001b[2J\n::error::forged\n##[error]forged';
  work.emulator.setFaults([
    { match: { operation: 'getTranslation' }, fault: { kind: 'status', status: 404, message } },
  ]);
  const { code, stderr } = await work.inside(['apply', '--yes']);
  expect(code).toBe(5);
  expect(stderr).toContain('Pending: translation/guides-fr: ');
  expect(stderr).not.toContain('\u001b');
  expect(stderr).not.toMatch(/^::|##\[/m);
});
