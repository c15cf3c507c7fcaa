import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { timeLeft } from '../../src/commands/plan/progress.ts';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const TEAMS = 'teams:\n  writers: { title: Writers }\n  editors: { title: Editors }\n';

async function withTeams(): Promise<Workspace> {
  const work = await openWorkspace();
  work.repository.commit('Two teams', { 'teams.yaml': TEAMS });
  return work;
}

test('plan, apply and plan print results to standard output and everything else to standard error', async () => {
  await using work = await withTeams();
  const plan = await work.inside(['plan', '--detailed-exitcode']);
  expect(plan).toMatchObject({ code: 2, stderr: '' });
  expect(plan.stdout).toMatch(/^Creates 2 teams\nPlan for .*org_acme.*: commit [0-9a-f]{7}\n/);
  expect(plan.stdout).toContain('there is no base, so nothing is deleted and renames are not recognized');
  expect(plan.stdout).toMatch(/\n2 to create, 0 unchanged\n$/);
  const withoutTerminal = await work.inside(['apply']);
  expect(withoutTerminal).toMatchObject({ code: 3, stdout: '' });
  expect(withoutTerminal.stderr).toContain('no terminal to ask for confirmation; pass --yes to apply');
  expect(work.writes()).toBe(0);
  const apply = await work.inside(['apply', '--yes']);
  expect(apply).toMatchObject({ code: 0, stdout: '2 applied; 2 writes\n' });
  expect(apply.stderr).toMatch(/^created {2}team\/editors$/m);
  const after = await work.inside(['plan', '--detailed-exitcode']);
  expect(after.code).toBe(0);
  expect(after.stdout).toMatch(/\nNo changes, 2 unchanged\n$/);
  expect(work.writes()).toBe(2);
});

test('prints plans and results as JSON in the documented format', async () => {
  await using work = await withTeams();
  const commit = work.repository.git('rev-parse', 'HEAD');
  await work.call('PUT', '/teams', { title: 'Old writers' });
  await work.call('PUT', '/teams', { title: 'By hand' });
  work.repository.write('teams.yaml', 'teams:\n  writers: { title: Writers, renamedFrom: Old writers }\n');
  const { code, stdout } = await work.inside(['plan', '--format', 'json']);
  const plan = JSON.parse(stdout) as Record<string, unknown>;
  expect(plan).toEqual({
    format: 'octavo.plan/2',
    organization: 'org_acme',
    scope: '.',
    commit: null,
    baseCommit: null,
    hasBase: false,
    checksum: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    heldChecksum: null,
    changes: [
      {
        action: 'update',
        address: 'team/writers',
        kind: 'team',
        id: expect.any(String),
        fields: [{ path: 'title', from: 'Old writers', to: 'Writers' }],
        source: { file: 'teams.yaml', line: 2, column: 3 },
        dependsOn: [],
        held: null,
        paused: null,
        isReplacement: false,
      },
    ],
    adopted: [{ address: 'team/writers', id: expect.any(String) }],
    unmanaged: [{ kind: 'team', id: expect.any(String), title: 'By hand' }],
    pending: [],
    access: [],
    summary: {
      create: 0,
      update: 1,
      move: 0,
      delete: 0,
      held: 0,
      heldDeletions: 0,
      unchanged: 0,
      paused: 0,
      unmanaged: 1,
    },
    verdict: { state: 'ready', reasons: [] },
    notes: [],
    requests: { reads: expect.any(Number), writes: 1 },
    estimatedSeconds: expect.any(Number),
  });
  expect(code).toBe(0);
  work.repository.write('teams.yaml', TEAMS);
  expect(JSON.parse((await work.inside(['plan', '--format', 'json'])).stdout)).toMatchObject({ commit });
  const applied = await work.inside(['apply', '--yes', '--format', 'json']);
  expect(JSON.parse(applied.stdout)).toMatchObject({
    format: 'octavo.result/2',
    organization: 'org_acme',
    commit,
    baseCommit: null,
    checksum: expect.any(String),
    results: [
      { address: 'team/editors', action: 'create', status: 'applied', id: expect.any(String), error: null },
      { address: 'team/writers', action: 'create', status: 'applied', id: expect.any(String), error: null },
    ],
    summary: expect.any(Object),
    requests: { reads: expect.any(Number), writes: 2 },
  });
});

test('reports failed changes, also as JSON, and applies the rest', async () => {
  await using work = await withTeams();
  work.emulator.setFaults([{ match: { method: 'PUT', nth: 1 }, fault: { kind: 'status', status: 422 } }]);
  const { code, stdout, stderr } = await work.inside(['apply', '--yes', '--format', 'json']);
  const { results } = JSON.parse(stdout) as { results: { status: string; error: string | null }[] };
  expect(results.map(({ status }) => status).toSorted()).toEqual(['applied', 'failed']);
  expect(results.find(({ status }) => status === 'failed')?.error).toContain('(422)');
  expect(stderr).toMatch(/^failed {3}team\/\w+: .*\(422\)/m);
  expect(code).toBe(1);
  expect((await work.inside(['apply', '--yes'])).code).toBe(0);
  expect(work.teams()).toEqual(['Editors', 'Writers']);
});

test('applies a plan file that still matches the plan', async () => {
  await using work = await withTeams();
  const path = join(work.folder, 'plan.json');
  const plan = await work.inside(['plan', '--out', path]);
  expect(plan.stderr).toContain(`apply it with:\n  octavo apply ${path}`);
  // The saved plan is applied, whatever the directory contains now.
  work.repository.write('teams.yaml', 'teams: { others: { title: Others } }\n');
  expect((await work.inside(['apply', path, '--yes'])).code).toBe(0);
  expect(work.teams()).toEqual(['Editors', 'Writers']);
});

test.each([
  [
    'stale',
    async (work: Workspace) => {
      await work.call('PUT', '/teams', { title: 'Editors' });
    },
    ['the plan file is stale', 'no longer needed: create team/editors'],
  ],
  [
    'altered',
    async (_work: Workspace, path: string) => {
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll('Editors', 'Creditors'));
    },
    ['was altered after it was created; create a new plan'],
  ],
])('refuses a plan file that is %s, and writes nothing', async (_how, spoil, words) => {
  await using work = await withTeams();
  const path = join(work.folder, 'plan.json');
  await work.inside(['plan', '--out', path]);
  await spoil(work, path);
  const before = work.writes();
  const { code, stdout, stderr } = await work.inside(['apply', path, '--yes']);
  for (const word of words) {
    expect(stderr).toContain(word);
  }
  expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
  expect(work.writes()).toBe(before);
});

test('refuses a file that is not a plan file, and one of another organization', async () => {
  await using work = await withTeams();
  const none = await work.inside(['apply', 'teams.yaml', '--yes']);
  expect(none.code).toBe(3);
  expect(none.stderr).toContain('teams.yaml is not a plan file');
  const gone = await work.inside(['apply', 'nowhere', '--yes']);
  expect(gone.code).toBe(3);
  expect(gone.stderr).toContain('nowhere does not exist; pass the manifest directory or a plan file');
  const path = join(work.folder, 'plan.json');
  await work.inside(['plan', '--out', path]);
  const other = await work.inside(['apply', path, '--yes'], { OCTAVO_ORGANIZATION: 'org_other' });
  expect(other).toMatchObject({ code: expect.any(Number), stdout: '' });
  expect([3, 4]).toContain(other.code);
  expect(work.writes()).toBe(0);
});

describe('--approve', () => {
  /** A plan with a held deletion of a collection, and then one that also renames a team. */
  async function openHeld(): Promise<Workspace> {
    const work = await openWorkspace();
    work.repository.write('a.yaml', 'collections:\n  a: { title: A }\n  b: { title: B }\nteams: { t: { title: T } }\n');
    work.repository.commit('Two collections');
    expect((await work.inside(['apply', '--yes', '--record'])).code).toBe(0);
    work.repository.write('a.yaml', 'collections:\n  a: { title: A }\nteams: { t: { title: T } }\n');
    work.repository.commit('One collection');
    return work;
  }
  const rename = (work: Workspace) => {
    work.repository.write('a.yaml', 'collections:\n  a: { title: A }\nteams: { t: { title: Renamed } }\n');
    work.repository.commit('Rename a team');
  };
  const checksums = async (work: Workspace) =>
    JSON.parse((await work.inside(['plan', '--base', 'applied', '--format', 'json'])).stdout) as {
      checksum: string;
      heldChecksum: string;
    };
  const short = (checksum: string) => checksum.slice('sha256:'.length, 'sha256:'.length + 8);
  const apply = (work: Workspace, ...more: string[]) => work.inside(['apply', '--base', 'applied', ...more]);

  test('does not approve a larger plan than that of the checksum, which is applied except for what is held', async () => {
    await using work = await openHeld();
    const { checksum } = await checksums(work);
    rename(work);
    const writes = work.writes();
    const { code, stderr } = await apply(work, '--yes', '--approve', checksum);
    expect(stderr).toMatch(
      /no plan has the checksum "sha256:.*choose from .*\(only what is held\), .*\(the whole plan\)/,
    );
    expect([code, work.writes()]).toEqual([4, writes]);
    const command = expect.stringMatching(/octavo apply .*--approve [0-9a-f]{8}$/m);
    expect(await apply(work, '--yes')).toEqual({ code: 4, stdout: '1 applied, 1 held; 1 write\n', stderr: command });
  });

  test('approves only held changes with their checksum; other changes need a confirmation or --yes', async () => {
    await using work = await openHeld();
    const { heldChecksum } = await checksums(work);
    rename(work);
    expect((await checksums(work)).heldChecksum).toBe(heldChecksum);
    const writes = work.writes();
    const silent = await apply(work, '--approve', heldChecksum);
    expect(silent.stderr).toContain(
      'covers only the held changes, but 1 change is not held; pass --yes to apply it too',
    );
    expect(silent.code).toBe(3);
    const questions: string[] = [];
    const ask = async (question: string) => {
      questions.push(question);
      return 'no';
    };
    const refused = await work.inside(['apply', '--base', 'applied', '--approve', heldChecksum], {}, '.', { ask });
    expect([refused.code, questions, work.writes()]).toEqual([
      1,
      ['\nType yes to apply 1 change, and 1 approved change, to org_acme: '],
      writes,
    ]);
    expect(await apply(work, '--yes', '--approve', heldChecksum)).toMatchObject({
      code: 0,
      stdout: '2 applied; 2 writes\n',
    });
  });

  test('approves a plan of only held changes with either checksum, without a question', async () => {
    for (const name of ['checksum', 'heldChecksum'] as const) {
      await using work = await openHeld();
      const { [name]: approved } = await checksums(work);
      expect(await apply(work, '--approve', approved)).toMatchObject({ code: 0, stdout: '1 applied; 1 write\n' });
    }
  });

  test('approves by eight digits of either checksum, compared only with the plan that is present now', async () => {
    await using work = await openHeld();
    const { checksum, heldChecksum } = await checksums(work);
    const writes = work.writes();
    for (const typed of [short(checksum).slice(1), 'sha256:', `${short(checksum)}zz`, '00000000', `${checksum}0`]) {
      const { code, stderr } = await apply(work, '--yes', '--approve', typed);
      expect(stderr).toMatch(/is too short|no plan has the checksum/);
      expect(stderr).toContain(`${short(heldChecksum)} (only what is held), ${short(checksum)} (the whole plan)`);
      expect([code, work.writes()]).toEqual([4, writes]);
    }
    const shown = await work.inside(['plan', '--base', 'applied', '--approve', short(heldChecksum)]);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n1 to delete, /) });
    expect((await work.inside(['plan', '--base', 'applied', '--approve', '00000000'])).code).toBe(4);
    rename(work);
    expect(await apply(work, '--yes', '--approve', short(checksum))).toMatchObject({ code: 4 });
    expect(work.writes()).toBe(writes);
    const upper = `SHA256:${short(heldChecksum).toUpperCase()}`;
    expect(await apply(work, '--yes', '--approve', upper)).toMatchObject({ code: 0, stdout: '2 applied; 2 writes\n' });
  });

  test('approves a whole plan with its checksum; text and Markdown print both short checksums', async () => {
    await using work = await openHeld();
    rename(work);
    const { checksum, heldChecksum } = await checksums(work);
    const text = await work.inside(['plan', '--base', 'applied', '--format', 'text']);
    expect(text.stdout).toMatch(new RegExp(`Approve only what is held:\\n.*--approve ${short(heldChecksum)}\\n`));
    expect(text.stdout).toMatch(new RegExp(`Approve the whole plan:\\n.*--approve ${short(checksum)}\\n`));
    const { stdout } = await work.inside(['plan', '--base', 'applied', '--format', 'markdown']);
    const [held = '', whole = ''] = stdout.split('The whole plan:');
    expect(held).toContain(`--approve ${short(heldChecksum)}\n`);
    expect(whole).toContain(`--approve ${short(checksum)}\n`);
    expect(await apply(work, '--approve', checksum)).toMatchObject({ code: 0, stdout: '2 applied; 2 writes\n' });
  });
});

test('holds the whole plan above the deletion limit, until --allow-deletes raises it', async () => {
  await using work = await openWorkspace();
  const teams = (count: number) =>
    `teams:\n${Array.from({ length: count }, (_, index) => `  t${index}: { title: T${index} }\n`).join('')}`;
  work.repository.commit('Seven', { 'a.yaml': teams(7) });
  expect((await work.inside(['apply', '--yes', '--record'])).code).toBe(0);
  work.repository.commit('One, and a new one', { 'a.yaml': `${teams(1)}  new: { title: New }\n` });
  const before = work.writes();
  const held = await work.inside(['apply', '--yes', '--base', 'applied']);
  expect(held.code).toBe(4);
  expect(held.stderr).toMatch(/6 deletions.*5/);
  expect(work.writes()).toBe(before);
  expect((await work.inside(['apply', '--yes', '--base', 'applied', '--allow-deletes', '5'])).code).toBe(4);
  expect((await work.inside(['apply', '--yes', '--base', 'applied', '--allow-deletes', '6'])).code).toBe(0);
  expect(work.teams()).toEqual(['New', 'T0']);
});

test('refuses a plan that would leave no admin, regardless of approvals', async () => {
  await using work = await openWorkspace();
  work.repository.write('a.yaml', 'members:\n  ana@acme.example: { role: read }\nteams:\n  new: { title: New }\n');
  const plan = await work.inside(['plan', '--format', 'json']);
  const { checksum } = JSON.parse(plan.stdout) as { checksum: string };
  const refused = await work.inside(['apply', '--approve', checksum]);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain('admin');
  expect(work.writes()).toBe(0);
});

test('sends no request for validate, and only reads for plan and a dry run', async () => {
  await using work = await withTeams();
  expect((await work.inside(['validate'])).stdout).toBe('Valid: 2 resources in 1 manifest\n');
  expect(work.emulator.requests.total).toBe(0);
  const config = work.configure();
  expect((await work.inside(['plan', '--config', config])).code).toBe(0);
  const dry = await work.inside(['run', '--dry-run', '--once', '--config', config]);
  expect(dry.code).toBe(0);
  expect(dry.stderr).toContain('dry run: nothing is written');
  expect(work.emulator.requests.total).toBeGreaterThan(0);
  expect(work.writes()).toBe(0);
  expect(work.teams()).toEqual([]);
});

test('fails and records nothing when an apply is interrupted', async () => {
  await using work = await openWorkspace({ latency: 150 });
  const titles = Array.from({ length: 60 }, (_, index) => `  t${index}: { title: T${index} }\n`);
  work.repository.commit('Many', { 'a.yaml': `teams:\n${titles.join('')}` });
  const applying = work.beginInside('apply', 'repository', '--yes', '--record');
  work.emulator.setFaults([
    {
      match: { method: 'PUT', nth: 3 },
      fault: { kind: 'hook', when: 'after', run: () => void applying.stop() },
    },
  ]);
  const { code, stderr } = await applying.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/Stopped: \d+ changes not started; run it again to continue/);
  expect(stderr).not.toContain('stopped before it was started');
  expect(work.repository.git('for-each-ref', 'refs/octavo')).toBe('');
  expect(work.teams().length).toBeLessThan(60);
  work.emulator.setLatency(0);
  expect((await work.inside(['apply', '--yes'])).code).toBe(0);
  expect(new Set(work.teams()).size).toBe(60);
  expect(work.teams().length).toBe(60);
});

test('plan --compact prints one line a change, as text only', async () => {
  await using work = await withTeams();
  const { code, stdout } = await work.inside(['plan', '--compact']);
  expect(stdout).toMatch(
    /^Creates 2 teams\nPlan for .*\n\n {2}\+ Editors {2}team\/editors\n {2}\+ Writers {2}team\/writers\n\n/,
  );
  expect(stdout).toMatch(/\n2 to create, 0 unchanged\n$/);
  expect(code).toBe(0);
  const refused = await work.inside(['plan', '--compact', '--format', 'json']);
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('--compact is for text')]);
});

describe('--target', () => {
  const MANIFESTS = [
    'collections: { shelf: { title: Shelf } }',
    'teams: { writers: { title: Writers }, editors: { title: Editors } }',
    'spaces: { guides: { title: Guides, collection: shelf }, other: { title: Other } }',
    'sites: { help: { title: Help, structure: [{ section: main, title: Main, spaces: [{ key: en, space: guides, path: en }] }] } }',
  ].join('\n');

  async function withSite(): Promise<Workspace> {
    const work = await openWorkspace();
    work.repository.commit('A site', { 'octavo.yaml': `${MANIFESTS}\n` });
    return work;
  }

  test('limits a plan to resources, what is in them and what that requires, and an apply to that plan', async () => {
    await using work = await withSite();
    const whole = await work.inside(['plan', '--compact', '--target', 'site/help']);
    expect(whole.stdout.match(/\S+\/\S+$/gm)).toEqual(
      expect.arrayContaining(['collection/shelf', 'space/guides', 'site/help', 'section/help/main']),
    );
    expect(whole.stdout).toContain(
      'Targets   site/help, with what is in it and what that requires; 3 other changes are left out',
    );
    expect(whole.stdout).toMatch(/\n5 to create, 0 unchanged\n$/);
    const part = await work.inside(['plan', '--format', 'json', '--target', 'section/help/main']);
    const { targets, changes } = JSON.parse(part.stdout) as Record<string, readonly unknown[]>;
    expect(targets).toEqual({ addresses: ['site/help'], leftOut: ['team/editors', 'team/writers', 'space/other'] });
    expect(changes).toHaveLength(5);
    await work.inside(['plan', '--out', '../plan.json', '--target', 'team/writers']);
    expect((await work.inside(['apply', '../plan.json'])).stderr).toContain('pass --yes');
    expect(await work.inside(['apply', '../plan.json', '--yes'])).toMatchObject({
      code: 0,
      stdout: '1 applied; 1 write\n',
    });
    expect(work.teams()).toEqual(['Writers']);
    const applied = await work.inside(['apply', '--yes', '--target', 'space/guides', 'team/editors']);
    expect(applied.stdout).toMatch(/^3 applied; /);
    const rest = await work.inside(['plan', '--compact']);
    expect(rest.stdout).toMatch(/\n4 to create, 4 unchanged\n$/);
  });

  test('names the whole command in what approves, refuses unknown addresses, and never records a part', async () => {
    await using work = await withSite();
    expect((await work.inside(['apply', '--yes', '--record'])).code).toBe(0);
    work.repository.commit('Fewer', { 'octavo.yaml': 'teams: { writers: { title: Writers } }\n' });
    const flags = ['--base', 'applied', '--target', 'space/other', 'team/editors'];
    const { stdout } = await work.inside(['plan', ...flags]);
    expect(stdout).toMatch(
      /octavo apply \. --base applied --target space\/other team\/editors --approve [0-9a-f]{8}$/m,
    );
    expect(stdout).not.toContain('site/help  ');
    const wrong = await work.inside(['plan', '--target', 'team/writer', 'space/none']);
    expect(wrong).toMatchObject({ code: 3, stdout: '' });
    expect(wrong.stderr).toContain(
      '--target "team/writer": no resource has this address; did you mean "team/writers"?\n',
    );
    expect(wrong.stderr).toContain('--target "space/none": no resource has this address');
    const before = work.writes();
    const recorded = await work.inside(['apply', '--yes', '--record', ...flags]);
    expect(recorded).toMatchObject({ code: 3, stderr: expect.stringContaining('--record needs the whole plan') });
    await work.inside(['plan', '--out', '../plan.json', ...flags]);
    const fromFile = await work.inside(['apply', '../plan.json', '--yes', '--record']);
    expect(fromFile.stderr).toContain('--record needs the whole plan');
    expect((await work.inside(['apply', '../plan.json', '--target', 'team/editors'])).stderr).toContain(
      '--target cannot be combined with a plan file',
    );
    expect(work.writes()).toBe(before);
  });
});

test('says that the platform limits an apply, and folds what was not started when it is stopped', async () => {
  await using work = await openWorkspace({ limits: { write: { kind: 'first-call', limit: 2, window: 60_000 } } });
  const titles = Array.from({ length: 60 }, (_, index) => `  t${index}: { title: T${index} }\n`);
  work.repository.write('a.yaml', `teams:\n${titles.join('')}`);
  const applying = work.beginInside('apply', 'repository', '--yes');
  await eventually('the wait', () => applying.stderr.includes('limited by the platform, continues in '));
  const { code, stderr } = await applying.stop();
  expect(code).toBe(1);
  expect(stderr).toMatch(/^\d of 60, \d+ s, about \d+ (s|min) left; limited by the platform, continues in \d+ s$/m);
  expect(stderr.match(/^skipped .*$/gm) ?? []).toHaveLength(0);
  expect(stderr).toMatch(/^Stopped: 5\d changes not started; run it again to continue$/m);
});

test('on a terminal, says how far an apply is, how long it took, what is left, and the limit, in one line', async () => {
  await using work = await openWorkspace({ limits: { write: { kind: 'first-call', limit: 2, window: 5000 } } });
  const titles = Array.from({ length: 3 }, (_, index) => `  t${index}: { title: T${index} }\n`);
  work.repository.write('a.yaml', `teams:\n${titles.join('')}`);
  const { code, stderr } = await work.inside(['apply', '--yes'], {}, '.', { isErrTerminal: true, columns: 80 });
  expect(code).toBe(0);
  const lines = stderr
    .split('\u001b[2K')
    .slice(1)
    .map((line) => stripVTControlCharacters(line).trim());
  expect(lines).toContainEqual(
    expect.stringMatching(/^\d of 3, \d s, about \d+ s left; limited by the platform, continues in \d s$/),
  );
  expect(Math.max(...lines.filter((line) => line.includes(' of 3, ')).map(({ length }) => length))).toBeLessThan(80);
});

test.each([
  [0, 100, 0, 60_000, 60_000],
  [0, 100, 90_000, 60_000, 0],
  [5, 100, 10_000, 60_000, 120_000],
  [50, 100, 100_000, 60_000, 100_000],
  [100, 100, 99_000, 60_000, 0],
  [0, 0, 0, 0, 0],
])('after %i of %i changes and %i ms, %i ms planned leave %i ms', (ended, total, passed, planned, left) => {
  expect(timeLeft(ended, total, passed, planned)).toBeCloseTo(left);
});
