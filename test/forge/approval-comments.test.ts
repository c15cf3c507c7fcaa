/** Judging comments at forges whose answers are not what they should be: nothing is approved. */
import { describe, expect, test } from 'vitest';
import { openApprovalReader } from '../../src/forge/approval-comments.ts';
import { writeMarker } from '../../src/forge/comment.ts';
import { FakeForge, FakeGitHubPull, FakeGitLabPull } from '../support/fake-forge.ts';
import type { Answer } from '../support/fake-status-forge.ts';
import { createInstantClock } from './samples.ts';

const CHECKSUM = '1cefed34'.padEnd(64, '0');
const START = Date.parse('2026-03-01T12:00:00Z');
const BOSS = 50;

/** Pull request 12 with a plan and the command of somebody who may approve it. */
async function openComment(make: () => FakeForge, repository: string) {
  const fake = await make().listen();
  fake.people.set(BOSS, { login: 'boss', permission: 'maintain' });
  fake.now = START;
  const marker = writeMarker({ organization: 'org_1', scope: '.', run: [1, 1] });
  fake.comment(
    fake.self,
    `${marker}\n<!-- octavo:approve commit=${fake.pull.head} checksums=${CHECKSUM} -->\n### Plan`,
  );
  fake.now += 60_000;
  const { id: comment } = fake.comment(BOSS, 'octavo approve');
  const type = make === GITHUB ? 'github' : 'gitlab';
  const { signal } = new AbortController();
  const access = {
    type,
    apiUrl: fake.apiUrl,
    repository,
    token: FakeForge.token,
    signal,
    userAgent: 'octavo/0',
  } as const;
  const rules = { organization: 'org_1', scope: '.', permission: 'maintain', users: undefined, ref: 'main' } as const;
  const clock = { ...createInstantClock(), now: () => fake.now };
  const reader = openApprovalReader(access, rules, clock);
  return { fake, judge: (isNew = true) => reader?.judge({ pull: 12, comment, text: 'octavo approve' }, isNew) };
}

const GITHUB = (): FakeForge => new FakeGitHubPull();
const GITLAB = (): FakeForge => new FakeGitLabPull();

describe.each([
  ['github', GITHUB, 'acme/docs', [/comments$/, /permission$/, /pulls\/12$/, /commits$/]],
  ['gitlab', GITLAB, '5', [/notes$/, /members\/all/, /users/, /merge_requests\/12$/, /commits$/]],
] as const)('at %s', (_name, make, repository, requests) => {
  const BODIES = [
    '',
    null,
    [],
    [null],
    {},
    'text',
    7,
    { permission: 'admin', role_name: 'admin' },
    { access_level: 50 },
  ];
  const bad: Answer[] = [
    ...BODIES.map((body) => ({ status: 200, body })),
    { status: 403 },
    { status: 404 },
    { status: 500 },
  ];

  test('only complete answers approve', async () => {
    const { fake, judge } = await openComment(make, repository);
    await using _ = fake;
    expect(await judge()).toMatchObject({ kind: 'approved', login: 'boss', checksum: `sha256:${CHECKSUM}` });
    for (const request of requests) {
      for (const answer of bad) {
        fake.fault = (asked) => (request.test(asked) ? answer : null);
        const kind = await judge()?.then(
          (verdict) => verdict.kind,
          () => 'failed',
        );
        // An account without its flag counts as a person.
        const isHarmless = request.source === 'users' && answer.status === 200;
        expect([request.source, answer, isHarmless || kind !== 'approved']).toEqual([request.source, answer, true]);
      }
    }
  });
});

test('an approval ends a day after the merge, and a new comment begins another one', async () => {
  const { fake, judge } = await openComment(GITHUB, 'acme/docs');
  await using _ = fake;
  const HOUR = 3_600_000;
  fake.now += 20 * 24 * HOUR;
  expect(await judge(false)).toMatchObject({ kind: 'approved', isMerged: false });
  Object.assign(fake.pull, { state: 'merged', mergedAt: fake.now });
  fake.now += 23 * HOUR;
  expect(await judge(false)).toMatchObject({ kind: 'approved', isMerged: true });
  fake.now += 2 * HOUR;
  const over = 'more than a day has passed since the merge; write a new one';
  expect(await judge(false)).toMatchObject({ kind: 'refused', reasons: [over] });
  expect(await judge()).toMatchObject({
    kind: 'refused',
    reasons: ['the comment is more than a day old; write a new one'],
  });
});
