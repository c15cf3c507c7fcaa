import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addForeign } from '../support/foreign.ts';
import { TOKEN } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

/** Environment of a pull request from a stranger: no token, no address, no organization. */
const NOTHING = { OCTAVO_BASE_URL: '', OCTAVO_TOKEN: '', OCTAVO_ORGANIZATION: '' };

const MANIFESTS = `teams:
  writers: { title: Foreign team, members: { ana@acme.example: owner } }
  readers: { title: Readers }
sites:
  help: { title: Foreign site, structure: [] }
`;

async function openOrganization(): Promise<Workspace> {
  const work = await openWorkspace();
  await addForeign(work);
  work.repository.write('manifests/a.yaml', MANIFESTS);
  work.repository.write('manifests/b.yaml', 'collections: { shelf: { title: Foreign shelf } }\n');
  work.repository.commit('first');
  return work;
}

test.each(['text', 'markdown', 'json'])(
  'plan --snapshot --format %s equals the plan from the platform, with and without a base, and sends no request',
  async (format) => {
    await using work = await openOrganization();
    const { code } = await work.inside(['snapshot', '--out', '../snapshot.json']);
    expect(code).toBe(0);
    work.repository.commit('second', { 'manifests/b.yaml': 'spaces: { one: { title: One } }\n' });
    for (const base of [[], ['--base', 'HEAD~1']]) {
      const args = ['plan', 'manifests', ...base, '--format', format, '--detailed-exitcode'];
      const live = await work.inside(args);
      const before = work.emulator.requests.total;
      const over = await work.inside([...args, '--snapshot', '../snapshot.json'], NOTHING);
      expect(work.emulator.requests.total).toBe(before);
      // The duration of an answer is in `seconds`, and differs each time.
      const timeless = (text: string) =>
        text
          .replace(/"estimatedSeconds": [\d.]+/, '"estimatedSeconds": 0')
          .replace(/(?:under|about) [\d.]+ \w+/, 'soon');
      expect(timeless(over.stdout)).toBe(timeless(live.stdout));
      expect([over.code, live.code]).toEqual([2, 2]);
    }
  },
);

test('applies a plan file that was created from a snapshot', async () => {
  await using work = await openOrganization();
  await work.inside(['snapshot', '--out', '../snapshot.json']);
  const planned = await work.inside(
    ['plan', 'manifests', '--snapshot', '../snapshot.json', '--out', '../plan.json'],
    NOTHING,
  );
  expect(planned.code).toBe(0);
  const applied = await work.inside(['apply', '../plan.json', '--yes']);
  expect(applied.code).toBe(0);
  expect(work.teams()).toContain('Readers');
  // The planned changes are applied; with the old snapshot they are still planned.
  expect((await work.inside(['plan', 'manifests', '--detailed-exitcode'])).code).toBe(0);
});

test('saves no secret, in a file that only its owner can read', async () => {
  await using work = await openOrganization();
  await work.call('POST', '/saml', { label: 'Okta', certificate: 'MIIC-certificate' });
  await work.call('PUT', '/teams', { title: `a team called ${TOKEN}` });
  await work.inside(['snapshot', '--out', '../snapshot.json']);
  const path = join(work.folder, 'snapshot.json');
  const text = readFileSync(path, 'utf8');
  expect(text).toContain('"Okta"');
  expect(text).not.toContain('MIIC-certificate');
  expect(text).not.toContain(TOKEN);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const printed = await work.inside(['snapshot']);
  expect(JSON.parse(printed.stdout)).toMatchObject({
    format: 'octavo.snapshot/2',
    organization: work.emulator.organization,
  });
});

test('keeps text that only resembles a secret', async () => {
  await using work = await openOrganization();
  for (const title of ['Basic concepts', 'Bearer tokens', 'https://a:b@c.example']) {
    await work.call('PUT', '/teams', { title });
  }
  const teams = {
    a: { title: 'Basic concepts' },
    b: { title: 'Bearer tokens' },
    c: { title: 'https://a:b@c.example' },
  };
  work.repository.write('manifests/a.yaml', JSON.stringify({ teams }));
  await work.inside(['snapshot', '--out', '../snapshot.json']);
  const args = ['plan', 'manifests', '--snapshot', '../snapshot.json', '--detailed-exitcode'];
  expect((await work.inside(args, NOTHING)).code).toBe(0);
});

test('reads no variable and no file of the configuration for a plan from a snapshot', async () => {
  await using work = await openOrganization();
  await work.inside(['snapshot', '--out', '../snapshot.json']);
  mkdirSync(join(work.folder, 'secrets'));
  writeFileSync(join(work.folder, 'secrets', 'token'), 'read-from-a-file');
  const settings = (id: string) => ({
    // biome-ignore lint/suspicious/noTemplateCurlyInString: syntax of a variable in the configuration
    platform: { baseUrl: '${env:SOME_URL}', token: '${file:../secrets/token}', user: 'ana@acme.example' },
    organizations: [{ id, source: { directory: 'manifests' }, requireApproval: ['team'] }],
  });
  const plan = ['plan', 'manifests', '--snapshot', '../snapshot.json', '--format', 'json'];
  work.repository.write('config.yaml', JSON.stringify(settings(work.emulator.organization)));
  expect((await work.inside(plan, NOTHING)).code).toBe(0);
  // The author of a pull request could name any variable or file in its configuration to have it printed.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own way to name a variable
  for (const id of ['${env:SECRET}', '${file:../secrets/token}']) {
    work.repository.write('config.yaml', JSON.stringify(settings(id)));
    const { code, stdout, stderr } = await work.inside(plan, { ...NOTHING, SECRET: 'read-from-a-variable' });
    expect(code).toBe(3);
    expect(stdout + stderr).not.toContain('read-from');
  }
});

test('exits 3 with the reason for a snapshot of another organization, an invalid one and a missing one', async () => {
  await using work = await openOrganization();
  await work.inside(['snapshot', '--out', '../snapshot.json']);
  const other = await work.inside(['plan', 'manifests', '--snapshot', '../snapshot.json'], {
    OCTAVO_ORGANIZATION: 'org_other',
  });
  expect(other.stderr).toMatch(/--snapshot is of organization .*, but the plan is for "org_other"/);
  const none = await work.inside(['plan', 'manifests', '--snapshot', 'manifests/a.yaml'], NOTHING);
  expect(none.stderr).toContain('manifests/a.yaml cannot be used as a snapshot: it is not JSON');
  const absent = await work.inside(['plan', 'manifests', '--snapshot', 'nowhere.json'], NOTHING);
  expect(absent.stderr).toContain('cannot read --snapshot nowhere.json');
  expect([other.code, none.code, absent.code]).toEqual([3, 3, 3]);
});
