import { expect, test } from 'vitest';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace } from '../support/workspace.ts';
import { startInside } from './inside.ts';

const space = (key: string, title: string) => ({
  type: 'space',
  key,
  title,
  path: key,
  default: true,
  content: { directory: `./${key}` },
});

const docs = (title: string) => ({
  site: {
    title: 'Help',
    structure: [
      { type: 'section', key: 'guides', title, path: 'guides', default: true, children: [space('en', 'Guides')] },
    ],
  },
});

const manifest = (title: string) =>
  `spaces: { guides: { title: Guides } }\nsites: { help: { title: Help, structure: [{ section: guides, title: ${title}, path: guides, spaces: [{ key: en, space: guides, path: en }] }] } }\n`;

test('a daemon leaves a section that docs.yaml changes for an hour alone, and reports the conflict once', async () => {
  await using work = await openWorkspace({ platform: '0.202' });
  work.repository.commit('Start', { 'site.yaml': manifest('Start') });
  await using daemon = await startInside(work);
  const site = work.emulator.state().sites?.[0]?.id ?? '';
  work.emulator.installGitSync({ site, repository: 'acme/docs', branch: 'main', priority: 'git' });
  work.emulator.requests.reset();
  const options = ['--config', 'config.yaml', '--format', 'json'];
  const reports = async () => JSON.parse((await work.inside(['conditions', ...options], {}, '..')).stdout).firing;
  let first: unknown;
  for (let minute = 0; minute < 60; minute += 10) {
    const title = minute % 20 === 0 ? 'Handbook' : 'Manual';
    work.emulator.syncSite(site, docs(title));
    work.repository.commit(`Minute ${minute}`, { 'site.yaml': manifest(`Minute ${minute}`) });
    expect((await daemon.pass())?.outcome).toBe('done');
    expect(work.emulator.state().sections?.map((section) => section.title)).toEqual([title]);
    first ??= await eventually('a report', async () => (await reports())[0] ?? null);
    expect(await reports()).toMatchObject([first]);
  }
  expect(first).toMatchObject({
    code: 'manifests-invalid',
    summary: expect.stringContaining('site.yaml:2 and docs.yaml of acme/docs, branch main both declare the structure'),
  });
  expect(await work.inside(['plan'])).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/^Problem +site\/help: site\.yaml:2 and docs\.yaml of acme\/docs/m),
  });
  expect(work.emulator.requests.byOperation.updateSection).toBeUndefined();
});
