import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { getFeatures } from '../../src/emulator/model/features.ts';
import type { Drift } from '../../src/import/drift.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { send } from '../contract/send.ts';
import { ADDRESSES, NAMES } from '../support/certificates.ts';
import { type Sample, samples } from '../support/kind-samples.ts';
import { filesNamedIn } from '../support/model.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { openWorld, UNLIMITED } from '../support/world.ts';
import { driftOf } from './importing.ts';

const world = await openWorld();
afterAll(() => world.close());
beforeEach(() => world.begin());

// With the record, which identifies resources by their ids, whatever their titles are.
const options = { policy: UNLIMITED };

/** The drift of a platform from manifests, and the remaining changes once it is written. */
async function driftFrom(text: string): Promise<{ drift: Drift; after: string; open: readonly string[] }> {
  const files: Record<string, string> = { ...filesNamedIn(text), 'octavo.yaml': text };
  const drift = await driftOf(world, files, options, null);
  const after = { ...files, ...Object.fromEntries(drift.texts) };
  const { changes } = (await world.plan(after, options)).plan;
  return {
    drift,
    after: after['octavo.yaml'] ?? '',
    open: changes.flatMap(({ address, fields }) => fields.map(({ path }) => `${address} ${path}`)),
  };
}

describe('every kind', () => {
  // An item in another place of a structure, and a redirect that is gone, are reported, for a person to move or remove.
  const elsewhere = ['external-link', 'section', 'section-group', 'site-space', 'site', 'redirect'];

  /** The first steps of a sample, on a platform that has its kind. */
  function start({ version, steps: { created = '', updated = '' } }: Sample) {
    world.emulator.setFeatures(getFeatures(version));
    return { created, updated };
  }

  test.each(samples)('writes the changed fields of $kind', async (each) => {
    const { created } = start(each);
    await world.settle(created, { policy: UNLIMITED });
    await send(
      world,
      each.drift,
      (await world.record.read()).entries.find(({ address }) => address === each.address)?.id ?? '',
    );
    const { drift, open } = await driftFrom(created);
    expect(drift.omitted).toEqual([]);
    expect(drift.fields.map(({ address }) => address)).toContain(each.address);
    expect(open).toEqual([]);
  });

  test.each(samples)('writes or reports every change of $kind', async (each) => {
    const { created, updated } = start(each);
    await world.settle(created, { policy: UNLIMITED });
    await world.settle(updated, { policy: UNLIMITED });
    const { drift, open } = await driftFrom(created);
    const left = drift.omitted.map(({ address }) => address);
    // Drift is not detectable in fields that the platform does not return.
    const fields = kinds.find(({ name }) => name === each.kind)?.fields;
    const isReadable = ([, name = '']: readonly string[]) => fields?.[name]?.compare !== 'base';
    const still = open.map((field) => field.split(' ')).filter(isReadable);
    expect(still.filter(([address = '']) => !left.includes(address))).toEqual([]);
    if (!elsewhere.includes(each.kind) && each.kind !== 'translation') {
      expect(left).toEqual([]);
    }
  });
});

describe('one field', () => {
  const cases: readonly (readonly [name: string, before: string, after: string])[] = [
    [
      'plain',
      'teams:\n  a:\n    # its name\n    title: A # short\n',
      'teams:\n  a:\n    # its name\n    title: B # short\n',
    ],
    ['in quotes', 'teams:\n  a:\n    title: "A"\n', 'teams:\n  a:\n    title: "B"\n'],
    ['in braces', 'teams: { a: { title: A, members: {} } } # all\n', 'teams: { a: { title: B, members: {} } } # all\n'],
    [
      'behind another document',
      'saml: {}\n---\nteams:\n  a:\n    title: A',
      'saml: {}\n---\nteams:\n  a:\n    title: B',
    ],
    ['behind a byte order mark', '\ufeffteams:\n  a: { title: A }\n', '\ufeffteams:\n  a: { title: B }\n'],
    ['with Windows line ends', 'teams:\r\n  a:\r\n    title: A\r\n', 'teams:\r\n  a:\r\n    title: B\r\n'],
    ['folded', 'teams:\n  a:\n    title: >-\n      A\n', 'teams:\n  a:\n    title: B\n'],
  ];

  test.each(cases)('writes a change of a field: %s', async (_name, before, after) => {
    await world.settle('teams: { a: { title: A } }', { policy: UNLIMITED });
    await world.settle('teams: { a: { title: B } }', { policy: UNLIMITED });
    expect(await driftFrom(before)).toMatchObject({ after, open: [] });
  });
});

function read(work: Workspace, path: string): string {
  return readFileSync(join(work.repository.directory, path), 'utf8');
}

test('writes people who joined and left a team as lines, and leaves changes of a commit alone', async () => {
  await using work = await openWorkspace();
  const teams = `teams:
  writers:
    title: Writers
    members:
      # writes everything
      ana@acme.example: owner # since 2020
      bo@acme.example: member
      # joins in summer
      dana@acme.example: member
  readers: { title: Readers, members: {} }
`;
  work.repository.commit('Teams', { 'teams.yaml': teams });
  expect(await work.inside(['apply', '--yes'])).toMatchObject({ code: 0 });
  const [writers, readers] = ((await work.call('GET', '/teams')).items as { id: string; title: string }[]).sort(
    (a, b) => (a.title < b.title ? 1 : -1),
  );
  const people = (await work.call('GET', '/members')).items as { id: string; user: { email: string } }[];
  const person = (name: string) => people.find(({ user }) => user.email.startsWith(name))?.id;
  await work.call('PUT', `/teams/${writers?.id}/members`, { remove: [person('bo')], add: [person('cy')] });
  await work.call('PATCH', `/teams/${readers?.id}`, { title: 'By hand' });
  work.repository.write(
    'teams.yaml',
    teams.replace('title: Readers', 'id: ID, title: All readers').replace('ID', readers?.id ?? ''),
  );
  const dry = await work.inside(['import', '--drift', '--base', 'HEAD', '--dry-run']);
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('~ teams.yaml:2  team/writers  members') });
  expect(read(work, 'teams.yaml')).toContain('bo@acme.example');
  const { code, stdout } = await work.inside(['import', '--drift', '--base', 'HEAD']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: dry.stdout });
  expect(read(work, 'teams.yaml')).toBe(
    teams
      .replace('      bo@acme.example: member\n', '')
      .replace('dana@acme.example: member\n', 'dana@acme.example: member\n      cy@acme.example: member\n')
      .replace('title: Readers', `id: ${readers?.id}, title: All readers`),
  );
  expect(await work.inside(['import', '--drift', '--base', 'HEAD'])).toMatchObject({ stdout: '' });
});

test('writes the file that a field names', async () => {
  await using work = await openWorkspace();
  const saml = 'saml:\n  okta:\n    label: Okta\n    certificate: { file: certs/okta.pem } # renewed yearly\n';
  work.repository.commit('Okta', { 'saml.yaml': saml, 'certs/okta.pem': NAMES.cert });
  expect(await work.inside(['apply', '--yes'])).toMatchObject({ code: 0 });
  const [okta] = (await work.call('GET', '/saml')).items as { id: string }[];
  await work.call('PATCH', `/saml/${okta?.id}`, { certificate: ADDRESSES.cert.trim() });
  const { stdout } = await work.inside(['import', '--drift']);
  expect(stdout).not.toContain('BEGIN');
  expect(read(work, 'certs/okta.pem')).toBe(ADDRESSES.cert);
  expect(read(work, 'saml.yaml')).toBe(saml);
  expect(await work.inside(['plan', '--detailed-exitcode'])).toMatchObject({ code: 0 });
});

test.each([
  [['--drift', '--unmanaged'], /--drift cannot be combined with --site or --unmanaged/],
  [['--base', 'HEAD'], /--base requires --drift/],
])('rejects %j', async (args, message) => {
  await using work = await openWorkspace();
  expect(await work.inside(['import', ...args])).toEqual({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(message),
  });
});
