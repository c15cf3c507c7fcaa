import { join } from 'node:path';
import { expect, test } from 'vitest';
import { csvCell } from '../../src/commands/access/report.ts';
import { startInside } from '../daemon/inside.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const PEOPLE = 'members: { ana@acme.example: { role: admin }, bo@acme.example: { role: read } }\n';
const manifest = (team: string, roles: string) => `${PEOPLE}teams: { writers: { title: Writers, members: ${team} } }
spaces: { handbook: { title: Handbook, defaultLevel: read, permissions: ${roles} } }
sites: { help: { title: Help } }
`;
const FIRST = manifest(
  '{ bo@acme.example: member }',
  '{ teams: { writers: edit }, members: { ana@acme.example: admin } }',
);

let first: string;

async function opened(platform: '0.146' | '0.202' = '0.202'): Promise<Workspace> {
  const work = await openWorkspace({ platform });
  first = work.repository.commit('First roles', { 'octavo.yaml': FIRST });
  expect((await work.inside(['apply', '.', '--yes'])).code).toBe(0);
  return work;
}

const access = (work: Workspace, ...args: string[]) => work.inside(['access', ...args]);

test('lists the role of every person in the organization, its teams and its content, and what gives it', async () => {
  await using work = await opened();
  work.emulator.requests.reset();
  const { stdout, stderr, code } = await access(work);
  expect(stdout).toMatchInlineSnapshot(`
    "PERSON            IN ORGANIZATION  RESOURCE        ROLE    THROUGH       IN MANIFESTS
    ana@acme.example  admin            organization    admin   direct
    bo@acme.example   read             organization    read    direct
    cy@acme.example   read             organization    read    direct        not declared
    ana@acme.example  admin            site/help       admin   default
    bo@acme.example   read             site/help       read    default
    cy@acme.example   read             site/help       read    default
    ana@acme.example  admin            space/handbook  admin   direct
    bo@acme.example   read             space/handbook  edit    team/writers
    cy@acme.example   read             space/handbook  read    default
    bo@acme.example   read             team/writers    member  direct
    "
  `);
  expect(stderr).toBe('warning: the organization has 1 administrator (ana@acme.example); make it at least 2\n');
  expect(code).toBe(0);
  expect(work.emulator.requests.byMethod).toEqual({ GET: work.emulator.requests.total });
});

test('reads the source of a role at a site where the platform does not name it', async () => {
  await using work = await opened('0.146');
  const { stdout } = await access(work, '--format', 'json');
  const { rows } = JSON.parse(stdout);
  expect(rows.filter(({ resource }: { resource: string }) => resource === 'site/help')).toMatchObject([
    { email: 'ana@acme.example', role: 'admin', through: 'default' },
    { email: 'bo@acme.example', role: 'read', through: 'default' },
    { email: 'cy@acme.example', role: 'read', through: 'default' },
  ]);
});

test('shows what is not declared, and what was not read', async () => {
  await using work = await opened();
  const { items } = await work.call('GET', '/members?limit=100');
  const bo = items.find(({ user }: { user: { email: string } }) => user.email === 'bo@acme.example').id;
  const { items: spaces } = await work.call('GET', '/spaces');
  await work.call('POST', `/v1/spaces/${spaces[0].id}/permissions`, { users: [bo], role: 'comment' });
  await work.call('POST', '/spaces', { title: '=HYPERLINK("http://evil.example")' });
  work.emulator.setFaults([
    { match: { operation: 'listPermissionsAggregateInSite' }, fault: { kind: 'status', status: 403 } },
  ]);
  const { stdout, stderr, code } = await access(work, '--format', 'csv');
  expect(stdout).toMatchInlineSnapshot(`
    "person,email,organization role,resource,title,role,through,declared,last seen,since commit,changed at,author,role before,declared role,approved by
    Ana,ana@acme.example,admin,organization,,admin,direct,yes,,,,,,,
    Bo,bo@acme.example,read,organization,,read,direct,yes,,,,,,,
    Cy,cy@acme.example,read,organization,,read,direct,no,,,,,,,
    Ana,ana@acme.example,admin,space #spc_000d,"'=HYPERLINK(""http://evil.example"")",admin,default,,,,,,,,
    Ana,ana@acme.example,admin,space/handbook,Handbook,admin,direct,yes,,,,,,,
    Bo,bo@acme.example,read,space/handbook,Handbook,comment,direct,no,,,,,,,
    Cy,cy@acme.example,read,space/handbook,Handbook,read,default,,,,,,,,
    Bo,bo@acme.example,read,team/writers,Writers,member,direct,yes,,,,,,,
    "
  `);
  expect(stderr).toContain('site/help is missing, because it could not be read');
  expect(code).toBe(1);
});

test('--since shows what commits changed, with commit, author and the role before', async () => {
  await using work = await opened();
  work.repository.commit('Broken', { 'octavo.yaml': 'teams: { writers: [] }\n' });
  work.repository.commit('Bo leaves the writers, and comments', {
    'octavo.yaml': manifest('{}', '{ teams: { writers: edit }, members: { bo@acme.example: comment } }'),
  });
  work.repository.commit('Cy comes', {
    'octavo.yaml': manifest(
      '{ cy@acme.example: member }',
      '{ teams: { writers: edit }, members: { bo@acme.example: comment } }',
    ),
  });
  const { stdout, stderr } = await access(work, '--since', first);
  expect(
    stdout.replaceAll(/\b[0-9a-f]{7}\b/g, 'COMMIT ').replaceAll(/\d{4}-\d\d-\d\d/g, 'DATE      '),
  ).toMatchInlineSnapshot(`
    "PERSON            IN ORGANIZATION  RESOURCE        ROLE    THROUGH       IN MANIFESTS  CHANGE          COMMIT   DATE        AUTHOR
    ana@acme.example  admin            space/handbook  admin   direct        not declared  admin → none    COMMIT   DATE        Ana <ana@acme.example>
    bo@acme.example   read             space/handbook  none    direct        not applied   none → comment  COMMIT   DATE        Ana <ana@acme.example>
    bo@acme.example   read             space/handbook  edit    team/writers  not declared  edit → none     COMMIT   DATE        Ana <ana@acme.example>
    cy@acme.example   read             space/handbook  none    team/writers  not applied   none → edit     COMMIT   DATE        Ana <ana@acme.example>
    bo@acme.example   read             team/writers    member  direct        not declared  member → none   COMMIT   DATE        Ana <ana@acme.example>
    cy@acme.example   read             team/writers    none    direct        not applied   none → member   COMMIT   DATE        Ana <ana@acme.example>
    "
  `);
  expect(stderr).toContain('have errors; their changes count for the next commit');
  const unchanged = await access(work, '--since', 'HEAD');
  expect(unchanged.stdout).toBe('no commit changed who has access\n');
  const wrong = await access(work, '--since', 'nowhere');
  expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining('--since nowhere is not a commit') });
});

test('--since names who approved the plan of a commit, if the daemon has a record of it', async () => {
  await using work = await opened();
  await using daemon = await startInside(work, {
    organization: { requireApproval: ['space'] },
    name: 'config.yaml',
  });
  work.repository.commit('No last admin', {
    'octavo.yaml': FIRST.replace(', members: { ana@acme.example: admin }', ', members: {}'),
  });
  await daemon.pass();
  const config = ['--config', join(work.folder, 'config.yaml')];
  const { stdout: status } = await work.inside(['status', ...config]);
  const checksum = /octavo approve (\S+)/.exec(status)?.[1] ?? '';
  expect(await work.inside(['approve', checksum, ...config])).toMatchObject({ code: 0 });
  await daemon.idle();
  const { stdout, stderr } = await access(work, '--since', first, '--format', 'json', ...config);
  expect(stderr).not.toContain('daemon');
  const { rows } = JSON.parse(stdout);
  expect(rows).toMatchObject([
    { email: 'ana@acme.example', since: { before: 'admin', approvedBy: [expect.stringMatching(/\(socket\)$/)] } },
  ]);
});

test.each([
  ['plain', 'plain'],
  ['=1+1', "'=1+1"],
  ['+49 30', "'+49 30"],
  ['-2', "'-2"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\uff1d1+1', "'\uff1d1+1"],
  ['  =1', '"  \'=1"'],
  ['a;=1', '"a;\'=1"'],
  ['a,"=1', '"a,""\'=1"'],
  ['a\n=1', 'a\\u000a=1'],
  ['\t=1', '\\u0009=1'],
  ['ana@acme.example', 'ana@acme.example'],
])('a cell of CSV is never a formula: %j', (value, cell) => {
  expect(csvCell(value)).toBe(cell);
});
