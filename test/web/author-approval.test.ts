/** Approvals with `approvals.notAuthor`, with a real repository. */
import { expect, test } from 'vitest';
import { runGit } from '../git/repository.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { tokenEntry } from './page-app.ts';
import { type PageDaemon, startPage } from './page-daemon.ts';

const PEOPLE = ['ana', 'bo', 'cy', 'dan'];
const UI = {
  tokens: PEOPLE.map((name) => tokenEntry(`${name}@acme.example`, name)),
  roles: [{ role: 'approver', people: ['*'] }],
};
const BOTH = 'collections:\n  a: { title: A }\n  b: { title: B }\n';
const ONE = 'collections:\n  a: { title: A }\n';

/** Commits the manifests as a person, and waits for the pass. */
async function push(work: Workspace, page: PageDaemon | null, person: string, manifests: string, message = 'Edit') {
  const email = `${person}@acme.example`;
  work.repository.write('a.yaml', manifests);
  work.repository.git('add', '--all');
  runGit(work.repository.directory, ['commit', '--quiet', '--allow-empty', '-m', message], {
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_EMAIL: email,
  });
  await page?.daemon.organizations[0]?.trigger('manual');
}

/** Approves the present plan. Returns the status and the message. */
async function approve(page: PageDaemon, person: string) {
  const plan = page.daemon.organizations[0]?.lastPlan;
  const headers = { authorization: `Bearer ${person}`, accept: 'application/json' };
  const form = { action: 'approve', checksum: plan?.heldChecksum ?? plan?.checksum ?? '' };
  const response = await page.post('/o/org_acme/actions', form, headers);
  return `${response.status} ${((await response.json()) as { error?: string }).error ?? ''}`;
}

test('nobody approves a plan with a commit of theirs, until all of it was applied', async () => {
  await using work = await openWorkspace();
  await push(work, null, 'dan', BOTH);
  await using page = await startPage(work, { ui: UI, organization: { approvals: { notAuthor: true } } });
  // The deletion is held, and the commits on top of it do not hide who wrote it.
  await push(work, page, 'ana', ONE);
  await push(work, page, 'bo', `${ONE}teams:\n  t: { title: T }\n`, 'Teams\n\nCo-authored-by: Cy <CY@acme.example>');
  expect(work.teams()).toEqual(['T']);
  for (const person of ['ana', 'bo', 'cy']) {
    expect(await approve(page, person)).toContain(`403 ${person}@acme.example wrote a commit that this plan applies`);
  }
  const plan = page.daemon.organizations[0]?.lastPlan?.heldChecksum ?? '';
  const shown = await page.get(`/o/org_acme/plans/${plan}`, { authorization: 'Bearer ana' });
  expect(await shown.text()).toContain('You cannot approve this plan: ana@acme.example wrote a commit');
  expect(work.emulator.requests.count('deleteCollection')).toBe(0);
  expect(await approve(page, 'dan')).toBe('200 ');
  await page.daemon.organizations[0]?.idle();
  expect(work.emulator.requests.count('deleteCollection')).toBe(1);

  // Everything was applied, so only later commits count: ana may approve what dan wrote.
  await push(work, page, 'dan', 'teams:\n  t: { title: T }\n');
  expect(await approve(page, 'dan')).toContain('403 ');
  expect(await approve(page, 'ana')).toBe('200 ');
  await page.daemon.organizations[0]?.idle();
  expect(work.emulator.requests.count('deleteCollection')).toBe(2);
});

test('an approval no longer counts once its person writes a commit of the plan', async () => {
  await using work = await openWorkspace();
  await push(work, null, 'dan', BOTH);
  const approvals = { notAuthor: true, count: 2 };
  await using page = await startPage(work, { ui: UI, organization: { approvals } });
  await push(work, page, 'ana', ONE);
  expect(await approve(page, 'bo')).toBe('200 ');
  await push(work, page, 'bo', ONE, 'Nothing');
  expect(await approve(page, 'cy')).toBe('200 ');
  await page.daemon.organizations[0]?.idle();
  expect(work.emulator.requests.count('deleteCollection')).toBe(0);
  expect(await approve(page, 'dan')).toBe('200 ');
  await page.daemon.organizations[0]?.idle();
  expect(work.emulator.requests.count('deleteCollection')).toBe(1);
});

test('after a restart and a force-push, people who wrote a removed commit cannot approve', async () => {
  await using work = await openWorkspace();
  await push(work, null, 'dan', ONE);
  const first = work.repository.git('rev-parse', 'HEAD');
  const settings = { ui: UI, organization: { approvals: { notAuthor: true } } };
  {
    await using page = await startPage(work, settings);
    await push(work, page, 'ana', BOTH);
  }
  work.repository.git('reset', '--hard', '--quiet', first);
  await using page = await startPage(work, settings);
  expect(await approve(page, 'ana')).toContain('403 ana@acme.example wrote a commit');
  expect(await approve(page, 'dan')).toContain('403 dan@acme.example wrote a commit');
  expect(await approve(page, 'bo')).toBe('200 ');
});
