import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const SITES = 'sites: { help: { title: Help, structure: [{ key: a, space: guides }] } }\n';

describe('the contents of held deletions', () => {
  let work: Workspace;
  beforeEach(async () => {
    work = await openWorkspace();
  });
  afterEach(() => work[Symbol.asyncDispose]());

  async function applied(manifest: string): Promise<void> {
    work.repository.commit('Apply', { 'spaces.yaml': manifest });
    expect((await work.inside(['apply', '.', '--yes', '--record'])).code).toBe(0);
    work.emulator.requests.reset();
  }
  const plan = async (...args: string[]) => (await work.inside(['plan', '.', ...args])).stdout;
  const json = async () => JSON.parse(await plan('--format', 'json'));

  test('are shown with one read each', async () => {
    await applied(
      `${SITES}spaces: { guides: { title: Guides }, other: { title: Other } }\nteams: { a: { title: A } }\n`,
    );
    const spaces = (await work.call('GET', '/spaces')).items as { id: string; title: string }[];
    const id = spaces.find(({ title }) => title === 'Guides')?.id ?? '';
    work.emulator.writeContent(id, {
      pages: [
        { title: 'Start' },
        { title: 'Part', type: 'group' },
        { title: 'One', path: 'part/one' },
        { title: 'Out', type: 'link', target: { kind: 'url', url: 'https://example.com' } },
      ],
    });
    work.emulator.requests.reset();
    work.repository.write('spaces.yaml', 'spaces: { other: { title: Other } }\nteams: {}\n');
    const { changes, requests } = await json();
    expect(work.emulator.requests.count('getSpacePages')).toBe(1);
    expect(requests.reads).toBe(work.emulator.requests.byMethod.GET);
    const of = (address: string) => changes.find((change: { address: string }) => change.address === address);
    const { pages, lastEdit, ...rest } = of('space/guides').deletes;
    expect(rest).toEqual({ title: 'Guides', shownOn: ['site/help'], openChangeRequests: 0 });
    expect(lastEdit).toMatch(/^20\d\d-\d\d-\d\dT/);
    expect(pages).toBeGreaterThanOrEqual(2);
    expect(of('team/a').deletes).toEqual({ title: 'A', shownOn: [] });
    const contents = `${pages} pages, last edited ${lastEdit.slice(0, 10)}, restorable for 7 days, shown on site/help`;
    expect(await plan()).toContain(`"Guides", ${contents}`);
    const comment = (await plan('--format', 'markdown')).replaceAll(/\n {4}/g, ' ');
    expect(comment).toContain(`- Guides (space/guides): ${contents}`);
  });

  test('name the repository of Git Sync, in which the files stay', async () => {
    work.emulator.setFeatures({ gitSync: true });
    await applied('spaces: { guides: { title: Guides } }\n');
    const { id } = (await work.call('GET', '/spaces')).items[0];
    work.emulator.writeContent(id, { pages: [{ title: 'Start' }] });
    work.emulator.installGitSync({ space: id, repository: 'acme/docs', branch: 'main', priority: 'git' });
    work.repository.write('spaces.yaml', 'spaces: {}\n');
    const [change] = (await json()).changes;
    expect(change.impact).toContain('restorable for 7 days; the files stay in acme/docs');
  });

  test('are not read without held deletions', async () => {
    await applied('spaces: { guides: { title: Guides } }\nteams: { a: { title: A } }\n');
    work.repository.write('spaces.yaml', 'spaces: { guides: { title: Handbook } }\nteams: {}\n');
    expect((await json()).changes).toHaveLength(2);
    expect(work.emulator.requests.count('getSpacePages')).toBe(0);
  });

  test.each([401, 403, 404, 500])('do not fail the plan if the platform responds %i', async (status) => {
    await applied('spaces: { guides: { title: Guides } }\n');
    work.emulator.setFaults([{ match: { operation: 'getSpacePages' }, fault: { kind: 'status', status } }]);
    work.repository.write('spaces.yaml', 'spaces: {}\n');
    const [change] = (await json()).changes;
    expect(change).toMatchObject({ held: 'deleting spaces needs approval', impact: '"Guides"' });
  });

  test('are read for the first twenty', async () => {
    const names = Array.from({ length: 23 }, (_, index) => `s${index}: { title: S${index} }`);
    await applied(`spaces: { ${names.join(', ')} }\n`);
    work.repository.write('spaces.yaml', 'spaces: {}\n');
    const { changes } = await json();
    expect(changes).toHaveLength(23);
    expect(work.emulator.requests.count('getSpacePages')).toBe(20);
    expect(changes.filter((change: { deletes: object }) => 'pages' in change.deletes)).toHaveLength(20);
  });
});
