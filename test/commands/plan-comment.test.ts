import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { FORGES, jobAt } from '../forge/samples.ts';
import { FakeForge } from '../support/fake-forge.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const TEAMS = 'teams:\n  writers: { title: Writers }\n  editors: { title: Editors }\n';

/** A pull request that renames a team; its base has been applied. */
async function openPull() {
  const work = await openWorkspace();
  const base = work.repository.commit('Two teams', { 'teams.yaml': TEAMS });
  await work.inside(['apply', '--yes']);
  work.repository.git('checkout', '--quiet', '-b', 'rename');
  work.repository.write('teams.yaml', TEAMS.replace('title: Writers', 'title: Docs writers'));
  return { work, base, head: work.repository.commit('Rename') };
}

type Pull = Awaited<ReturnType<typeof openPull>>;

/** A pull request whose branch no test changes. */
const pull: Pull = await openPull();
afterAll(() => pull.work[Symbol.asyncDispose]());

/** Variables that a forge's CI sets for a job of the pull request. */
function environment(fake: FakeForge, name: string, { work, base, head }: Pull, run = 1): Record<string, string> {
  const summary = join(work.folder, 'summary.md');
  writeFileSync(summary, '');
  const event = join(work.folder, 'event.json');
  return { ...jobAt(fake, name, { base, head, event, run }), GITHUB_STEP_SUMMARY: summary };
}

const summaryOf = (work: Workspace) => readFileSync(join(work.folder, 'summary.md'), 'utf8');

describe.each(FORGES)('at $name', ({ name, open }) => {
  test('comments the plan against the merge base with a status, and updates the comment in the next run', async () => {
    await using fake = await open();
    const { work } = pull;
    const first = await work.inside(['plan', '.', '--comment'], environment(fake, name, pull, 1));
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('"Writers" → "Docs writers"') });
    expect(first.stderr).toMatch(/^The comment on pull request 12 at \w+ was created\.$/m);
    expect(fake.own.map(({ body }) => body)).toEqual([
      expect.stringContaining('\n-   title: Writers\n+   title: Docs writers\n'),
    ]);
    expect(fake.own[0]?.body).toContain(`: commit ${pull.head.slice(0, 7)} over ${pull.base.slice(0, 7)}`);
    const second = await work.inside(
      ['plan', '.', '--comment', '--detailed-exitcode'],
      environment(fake, name, pull, 2),
    );
    expect(second).toMatchObject({ code: 2, stderr: expect.stringMatching(/ was updated\.\n$/) });
    expect(fake.comments).toHaveLength(1);
    const late = await work.inside(['plan', '.', '--comment'], environment(fake, name, pull, 1));
    expect(late).toMatchObject({ code: 0, stderr: expect.stringContaining('A later run has already commented') });
    const status = { sha: pull.head, state: 'success', name: 'octavo/plan/org_acme' };
    expect(fake.statuses[0]).toMatchObject({ ...status, description: '1 to update, 1 unchanged' });
    expect(work.writes()).toBe(2);
    expect(first.stdout + first.stderr + fake.own[0]?.body).not.toContain(FakeForge.token);
  });

  test('writes a separate comment and status for each of two folders', async () => {
    await using fake = await open();
    const pull = await openPull();
    await using work = pull.work;
    work.repository.write('a/teams.yaml', TEAMS);
    work.repository.write('b c/saml.yaml', 'saml: { okta: { label: Okta } }\n');
    work.repository.commit('Two folders');
    for (const run of [1, 2]) {
      for (const folder of ['a', 'b c']) {
        const { code } = await work.inside(['plan', folder, '--comment'], environment(fake, name, pull, run));
        expect(code).toBe(0);
      }
    }
    const titles = fake.own.map(({ body }) => /^### .*(?=:)/m.exec(body)?.[0]);
    expect(titles).toEqual(['a', 'b c'].map((scope) => `### Plan for \`org_acme, scope ${scope}\``));
    const contexts = new Set(fake.statuses.map(({ name: context }) => context));
    expect([...contexts].toSorted()).toEqual(['octavo/plan/org_acme/a', 'octavo/plan/org_acme/b%20c']);
    work.repository.write('a/teams.yaml', 'teams: { x: 1 }\n');
    await work.inside(['plan', 'a', '--comment'], environment(fake, name, pull, 3));
    expect(fake.own.map(({ body }) => body.includes('No plan for `org_acme, scope a`'))).toEqual([true, false]);
  });

  test('prints the plan in the job summary or output when the token may not comment', async () => {
    await using fake = await open();
    fake.may.comment = false;
    fake.may.status = false;
    const { work } = pull;
    const ended = await work.inside(['plan', '.', '--comment', '--detailed-exitcode'], environment(fake, name, pull));
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/^No comment: \w+ answers with 403 when asked to write a comment\. /m);
    expect(ended.stderr).toMatch(/^No commit status: \w+ answers with 403/m);
    expect(ended.stderr).toContain(name === 'gitlab' ? 'is in the output of this job' : 'in the job summary instead');
    expect(name === 'gitlab' || summaryOf(work).includes('+   title: Docs writers')).toBe(true);
  });

  test('sends no request to the forge without a token', async () => {
    await using fake = await open();
    const { work } = pull;
    const env = { ...environment(fake, name, pull), GITHUB_TOKEN: '', GITLAB_TOKEN: '' };
    const ended = await work.inside(['plan', '.', '--comment'], env);
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^No comment: \w+_TOKEN is not set\. /) });
    expect(fake.requests).toEqual([]);
  });
});

const { open: openFake } = FORGES[0];

test('fails but still prints the plan when the comment is refused for another reason', async () => {
  await using fake = await openFake();
  fake.fault = (request) => (/^POST .*comments$/.test(request) ? 422 : null);
  const { work } = pull;
  const ended = await work.inside(['plan', '.', '--comment'], environment(fake, 'github', pull));
  expect(ended).toMatchObject({ code: 1, stdout: expect.stringContaining('Docs writers') });
  expect(summaryOf(work)).toContain('Docs writers');
});

test('replaces the last plan with the problems of invalid manifests, and sets a failed status', async () => {
  await using fake = await openFake();
  const pull = await openPull();
  await using work = pull.work;
  await work.inside(['plan', '.', '--comment'], environment(fake, 'github', pull, 1));
  const head = work.repository.commit('A slip', { 'teams.yaml': 'teams: { writers: { titel: Writers } }\n' });
  const env = environment(fake, 'github', { ...pull, head }, 2);
  const ended = await work.inside(['plan', '.', '--comment'], env);
  expect(ended).toMatchObject({ code: 3, stdout: '' });
  expect(fake.comments).toHaveLength(1);
  expect(fake.own[0]?.body).toMatch(/^### No plan for `org_acme`: commit [0-9a-f]{7}$/m);
  expect(fake.own[0]?.body).toContain('teams.yaml:1:21');
  expect(fake.statuses.at(-1)).toMatchObject({ sha: head, state: 'error' });
});

test('puts no variable into the comment for the configuration of an untrusted pull request', async () => {
  await using fake = await openFake();
  const pull = await openPull();
  await using work = pull.work;
  const config = `platform: { baseUrl: "http://127.0.0.1", token: a-token }\norganizations: [{ id: "$\{env:PRIVATE}", source: { directory: . } }]\n`;
  work.repository.write('config.yaml', config);
  work.repository.write('teams.yaml', 'teams: { writers: { titel: Writers } }\n');
  const head = work.repository.commit('A slip, and more');
  const env = { ...environment(fake, 'github', { ...pull, head }), PRIVATE: 'a-private-value' };
  const ended = await work.inside(['plan', '.', '--comment', '--snapshot', 'none.json'], env);
  expect(ended.code).not.toBe(0);
  expect(JSON.stringify([fake.comments, fake.statuses, ended])).not.toContain('a-private-value');
});

test('reports a base commit that the clone lacks, with a fix', async () => {
  await using fake = await openFake();
  const { work } = pull;
  const env = environment(fake, 'github', { ...pull, base: 'd'.repeat(40) });
  const ended = await work.inside(['plan', '.', '--comment'], env);
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('fetch-depth: 0') });
});

test('uses --base instead of the merge base', async () => {
  await using fake = await openFake();
  const { work } = pull;
  const env = environment(fake, 'github', pull);
  const { stdout } = await work.inside(['plan', '.', '--comment', '--base', 'HEAD'], env);
  expect(stdout).toContain(`over ${pull.head.slice(0, 7)}`);
});

test('plans a push without a comment, and refuses --comment outside of a CI job', async () => {
  await using fake = await openFake();
  const { work } = pull;
  const env = environment(fake, 'github', pull);
  writeFileSync(env.GITHUB_EVENT_PATH ?? '', '{"ref":"refs/heads/main"}');
  const push = await work.inside(['plan', '.', '--comment'], env);
  expect(push).toMatchObject({ code: 0, stderr: expect.stringContaining('is not for a pull request') });
  expect(fake.requests).toEqual([]);
  const outside = await work.inside(['plan', '.', '--comment']);
  expect(outside).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringContaining('--comment requires a pull request job of GitHub'),
  });
});
