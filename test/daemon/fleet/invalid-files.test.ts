/** One invalid organization file: the other organizations start, run and change. */
import { expect, test } from 'vitest';
import { fleetStatusCommand } from '../../../src/commands/daemon/views.ts';
import { eventually } from '../../support/octavo-process.ts';
import { type DirectoryDaemon, DirectoryWorld } from './directory-daemon.ts';

const MESSAGE =
  'organization files cannot be used; their organizations keep their last valid settings; those that have none do not run';
const errors = ({ log }: DirectoryDaemon) => log.filter(({ level }) => level === 50);
const running = ({ daemon }: DirectoryDaemon) => daemon.organizations.map(({ id }) => id);

test.each([
  ['an invalid setting', 'id: org_b\nprune: some\n', 'organizations/org_b.yaml:2:8: prune: "some" is not valid'],
  ['invalid YAML', 'id: org_b\nsource: [', 'organizations/org_b.yaml:2:10: is not valid YAML'],
  ['nothing to do', 'id: org_b\n', 'organizations/org_b.yaml:1:1: organization org_b has nothing to do'],
])(
  'a daemon starts with the other files, and uses the file once it is corrected: %s',
  async (_name, content, problem) => {
    await using world = await DirectoryWorld.open(['org_a', 'org_b', 'org_c']);
    world.write('organizations/org_b.yaml', content);
    const started = await world.start();
    await eventually('the others', () => ['org_a done', 'org_c done'].every((each) => started.ended.includes(each)));
    expect(started.openings).toEqual(['org_a', 'org_c']);
    expect(errors(started)).toMatchObject([{ msg: MESSAGE, problems: [expect.stringContaining(problem)] }]);
    let text = '';
    const context = world.context((printed) => {
      text += printed;
    });
    expect(await fleetStatusCommand({ config: 'config.yaml', format: 'text' }, context)).toBe(1);
    expect(text).toContain('The files of some organizations cannot be used');
    expect(text).toContain(problem);
    world.addOrganization('org_b');
    await eventually('the corrected one', () => started.ended.includes('org_b done'));
    await eventually('the end of the problem', () =>
      started.log.some(({ msg }) => msg === 'the configuration can be used again'),
    );
    expect(started.openings).toEqual(['org_a', 'org_c', 'org_b']);
  },
);

test('a file that becomes invalid keeps its organization running, and blocks no change of others', async () => {
  await using world = await DirectoryWorld.open(['org_a', 'org_b', 'org_c'], ['org_d']);
  const started = await world.start();
  await eventually('all', () => started.ended.length >= 3);
  world.write('organizations/org_b.yaml', 'id: [');
  world.addOrganization('org_a', 'selfHeal: false\n');
  world.addOrganization('org_d');
  world.remove('organizations/org_c.yaml');
  await started.daemon.reload();
  await eventually('the changes', () => running(started).join() === 'org_a,org_b,org_d');
  expect(started.openings.filter((id) => id === 'org_b')).toHaveLength(1);
  await eventually('the new one', () => started.ended.includes('org_d done'));
  expect(errors(started)).toMatchObject([{ msg: MESSAGE }]);
  // The organization is removed only when its file is.
  world.remove('organizations/org_b.yaml');
  await started.daemon.reload();
  await eventually('the removal', () => running(started).join() === 'org_a,org_d');
});

test('a second file with an id leaves the organization running with the settings that it had', async () => {
  await using world = await DirectoryWorld.open(['org_a', 'org_b']);
  const started = await world.start();
  await eventually('both', () => started.ended.length >= 2);
  world.write('organizations/copy.yaml', 'id: org_a\nsource: { directory: manifests/org_b }\n');
  await started.daemon.reload();
  expect(errors(started)).toMatchObject([
    { problems: [expect.stringMatching(/copy\.yaml:1:5: id/), expect.stringMatching(/org_a\.yaml:1:5: id/)] },
  ]);
  expect(started.openings.toSorted()).toEqual(['org_a', 'org_b']);
  expect(running(started)).toEqual(['org_a', 'org_b']);
});
