import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findDifferences, readPlanFile, writePlanFile } from '../../src/commands/plan/plan-file.ts';
import { canonicalJson, type Json } from '../../src/core/json.ts';
import { actual, type PlanCase, planOf } from '../support/planning.ts';
import { openWorkspace } from '../support/workspace.ts';
import { declare } from '../support/world.ts';

const at = (day: string) => ({ now: Date.parse(`${day}T12:00:00Z`) });

/** Fields that differ when the plan is created again with another date or another configuration. */
async function differencesOf(before: PlanCase, after: Partial<PlanCase>): Promise<readonly string[]> {
  const declared = await declare(before.manifests);
  const { plan } = await planOf(before);
  const file = readPlanFile(writePlanFile({ declared, base: null } as never, plan), 'plan.json');
  const { plan: now } = await planOf({ ...before, ...after });
  return findDifferences(file, now, { approved: [], allowDeletes: 0, ...after.policy });
}

describe('reports changes that waited when the plan file was created and would not wait now', () => {
  test('for a pause that has ended', async () => {
    const manifests = 'teams:\n  a: { title: A, paused: { reason: wait, until: 2026-06-02 } }\n  b: { title: B }\n';
    const before = { manifests, policy: at('2026-06-01') };
    expect(await differencesOf(before, {})).toEqual([]);
    expect(await differencesOf(before, { policy: at('2026-06-03') })).toEqual(['no longer paused: create team/a']);
    // Changes that now require approval are not applied: the plan marks them, and the rest is unchanged.
    expect(await differencesOf({ ...before, policy: at('2026-06-03') }, { policy: at('2026-06-01') })).toEqual([]);
  });

  const gone = {
    manifests: 'teams: { a: { title: A } }\n',
    base: 'teams: { a: { title: A } }\ncollections: { old: { title: Old } }\n',
    actuals: [actual('team', 'tem_1', { title: 'A', members: {} }), actual('collection', 'col_1', { title: 'Old' })],
  };

  test('for a plan that was held as a whole', async () => {
    const before = { ...gone, policy: { limits: { maxDeletions: 0, maxChangedPercent: 100 } } };
    expect(await differencesOf(before, { policy: { limits: { maxDeletions: 1, maxChangedPercent: 100 } } })).toEqual([
      'the plan is no longer held as a whole',
    ]);
  });

  test('except for changes that were approved', async () => {
    const { plan } = await planOf({ ...gone, policy: { requireApproval: ['collection'] } });
    const before = { ...gone, policy: { requireApproval: ['collection'] } };
    const policy = { requireApproval: ['collection'], approved: [plan.checksum] };
    expect(await differencesOf(before, { policy })).toEqual([]);
    const limited = { ...gone, policy: { limits: { maxDeletions: 0, maxChangedPercent: 100 } } };
    expect(await differencesOf(limited, { policy: { ...limited.policy, allowDeletes: 1 } })).toEqual([]);
  });
});

test('refuses a plan file with held changes that would no longer be held, and writes nothing', async () => {
  await using work = await openWorkspace();
  work.repository.commit('Two collections', { 'a.yaml': 'collections:\n  a: { title: A }\n  b: { title: B }\n' });
  expect((await work.inside(['apply', '--yes', '--record'])).code).toBe(0);
  work.repository.commit('One collection', { 'a.yaml': 'collections:\n  a: { title: A }\n' });
  await work.inside(['plan', '--base', 'applied', '--out', '../plan.json']);
  const config = {
    platform: { baseUrl: work.emulator.url, token: work.env.OCTAVO_TOKEN },
    organizations: [{ id: 'org_acme', source: { directory: '.' }, requireApproval: [] }],
  };
  writeFileSync(join(work.folder, 'other.yaml'), JSON.stringify(config));
  const before = work.writes();
  const { code, stderr } = await work.inside(['apply', '../plan.json', '--yes', '--config', '../other.yaml']);
  expect({ code, stderr }).toEqual({
    code: 4,
    stderr: expect.stringContaining('no longer held'),
  });
  expect(work.writes()).toBe(before);
});

test('refuses --base with a plan file', async () => {
  await using work = await openWorkspace();
  work.repository.commit('A team', { 'teams.yaml': 'teams: { a: { title: A } }\n' });
  await work.inside(['plan', '--out', '../plan.json']);
  const { code, stderr } = await work.inside(['apply', '../plan.json', '--yes', '--base', 'HEAD']);
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringMatching(/--base cannot be combined with a plan file/),
  });
});

test('refuses an old plan file whose record would drop ownership that was recorded later', async () => {
  await using work = await openWorkspace();
  const applied = () => work.repository.git('rev-parse', 'refs/octavo/org_acme/applied^');
  const first = work.repository.commit('A team', { 'teams.yaml': 'teams: { a: { title: A } }\n' });
  expect((await work.inside(['apply', '--yes', '--record'])).code).toBe(0);
  await work.inside(['plan', '--base', 'applied', '--out', '../over-base.json']);
  await work.inside(['plan', '--out', '../over-nothing.json']);
  for (const file of ['../over-base.json', '../over-nothing.json']) {
    expect((await work.inside(['apply', file, '--yes', '--record'])).code).toBe(0);
    expect(applied()).toBe(first);
  }
  work.repository.write('teams.yaml', 'teams: { a: { title: A }, b: { title: B } }\n');
  const second = work.repository.commit('Another team');
  await work.inside(['plan', '--base', 'applied', '--out', '../next.json']);
  expect((await work.inside(['apply', '../next.json', '--yes', '--record'])).code).toBe(0);
  expect(applied()).toBe(second);
  for (const file of ['../over-base.json', '../over-nothing.json']) {
    const { code, stderr } = await work.inside(['apply', file, '--yes', '--record']);
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringContaining(`stale: ${second.slice(0, 7)} has been recorded as applied since`),
    });
    expect(applied()).toBe(second);
  }
});

/** A file with a valid digest, which anyone who can write the file can compute. */
function withDigest(parts: { plan: Json; declared: Json; base: Json }): string {
  const content = { directory: null, ...parts };
  const sha256 = createHash('sha256').update(canonicalJson(content)).digest('hex');
  return JSON.stringify({ format: 'octavo.plan-file/3', sha256, ...content });
}

const HEAD = {
  organization: 'org_acme',
  scope: '.',
  commit: null,
  baseCommit: null,
  checksum: 'sha256:0',
  verdict: { state: 'ready' },
};
test.each<[string, Json, Json, Json]>([
  ['no header', {}, [], null],
  ['no declared resources', { ...HEAD, changes: [] }, null, null],
  ['no changes', HEAD, [], null],
  ['empty changes', { ...HEAD, changes: [{}] }, [], null],
  ['an empty declaration', { ...HEAD, changes: [] }, [{}], null],
  ['an invalid base', { ...HEAD, changes: [] }, [], {}],
])('refuses a file with a valid digest and %s', (_what, plan, declared, base) => {
  expect(() => readPlanFile(withDigest({ plan, declared, base }), 'plan.json')).toThrow(
    'plan.json is not a plan file of this version',
  );
});
