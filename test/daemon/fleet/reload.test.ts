/** Changes of the configuration while the daemon runs. */
import { expect, test } from 'vitest';
import { eventually } from '../../support/octavo-process.ts';
import { DirectoryWorld } from './directory-daemon.ts';

const count = (list: readonly string[], id: string) => list.filter((each) => each === id).length;

test('an organization is added, changed and removed, and the others go on', async () => {
  await using world = await DirectoryWorld.open(['org_a'], ['org_b']);
  const { daemon, openings, ended, log } = await world.start();
  await eventually('the first pass', () => ended.includes('org_a done'));
  world.addOrganization('org_b');
  await eventually('the pass of the new one', () => ended.includes('org_b done'));
  expect(await world.teams('org_b')).toEqual(['Team of org_b']);
  world.addOrganization('org_b', 'selfHeal: false\n');
  await eventually('a restart', () => count(openings, 'org_b') === 2 && count(ended, 'org_b done') > 1);
  world.remove('organizations/org_b.yaml');
  await eventually('the end', () => daemon.organizations.every(({ id }) => id !== 'org_b'));
  expect(openings).toEqual(['org_a', 'org_b', 'org_b']);
  expect(daemon.organizations.map(({ id }) => id)).toEqual(['org_a']);
  // What a removed organization has on the platform stays there.
  expect(await world.teams('org_b')).toEqual(['Team of org_b']);
  expect(log.filter(({ level }) => level >= 40)).toEqual([]);
});

test('an invalid configuration file is reported with its position, and the earlier configuration stays', async () => {
  await using world = await DirectoryWorld.open(['org_a'], ['org_b']);
  const { daemon, openings, ended, log } = await world.start();
  await eventually('the first pass', () => ended.length > 0);
  world.configure({ queue: { deadline: 'soon' } });
  world.addOrganization('org_b');
  await eventually('an error', () => log.some(({ level }) => level === 50));
  expect(log.filter(({ level }) => level === 50)).toMatchObject([
    {
      msg: 'the new configuration cannot be used; the earlier one stays in use',
      problems: [expect.stringMatching(/^config\.yaml:1:\d+: queue\.deadline: "soon" is not valid/)],
    },
  ]);
  await daemon.reload();
  expect(log.filter(({ level }) => level === 50)).toHaveLength(1);
  world.configure();
  await eventually('the corrected one', () => ended.includes('org_b done'));
  expect(openings).toEqual(['org_a', 'org_b']);
});

test('a token in a file is used when the file changes, and appears in no log line', async () => {
  await using world = await DirectoryWorld.open([], ['org_a']);
  world.write('token', 'the-first-secret-token\n');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
  world.addOrganization('org_a', 'token: "${file:token}"\n');
  const { openings, log } = await world.start();
  world.write('token', 'the-second-secret-token\n');
  await eventually('a restart', () => openings.length === 2);
  expect(JSON.stringify(log)).not.toMatch(/secret-token/);
});

test('settings that need a restart are named, without their values', async () => {
  await using world = await DirectoryWorld.open(['org_a']);
  const { daemon, log } = await world.start();
  world.configure({ queue: { deadline: '7m' }, ui: { publicUrl: 'https://octavo.acme.example' } });
  await daemon.reload();
  await daemon.reload();
  const warnings = log.filter(({ level }) => level === 40);
  expect(warnings).toMatchObject([
    { msg: 'changed settings are used after a restart', settings: ['queue.deadline', 'ui.publicUrl'] },
  ]);
});

test('300 organizations of a directory run, and one more', { timeout: 120_000 }, async () => {
  const ids = Array.from({ length: 301 }, (_, index) => `org_${index}`);
  const [last, ...others] = ids.toReversed() as [string, ...string[]];
  await using world = await DirectoryWorld.open(others, [last]);
  const { daemon, ended, openings } = await world.start();
  await eventually('all first passes', () => new Set(ended).size === 300, 100);
  expect(new Set(ended)).toEqual(new Set(others.map((id) => `${id} done`)));
  world.addOrganization(last);
  await eventually('one more', () => ended.includes(`${last} done`));
  expect(openings).toHaveLength(301);
  expect(daemon.organizations).toHaveLength(301);
});
