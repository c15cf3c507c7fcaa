/** Approvals by comment on a pull request: from the plan of a job over the command of a person to the deletion. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FORGES, jobAt } from '../forge/samples.ts';
import { FakeForge } from '../support/fake-forge.ts';
import { eventually } from '../support/octavo-process.ts';
import { COMMENTS, type CommentOptions, PUSHES } from '../support/push-deliveries.ts';
import { openWorkspace } from '../support/workspace.ts';
import { startInside } from './inside.ts';

const SECRET = 'a secret of more than 16 characters';
const TWO = 'collections:\n  a: { title: A }\n  b: { title: B }\n';
const ONE = 'collections:\n  a: { title: A }\n';
const MINUTE = 60_000;

/** Accounts at the forge. */
const [BOSS, OTHER_BOSS, WRITER, AUTHOR] = [50, 51, 52, 7] as const;

/** A daemon that has applied two collections, and pull request 12, which deletes one and shows its plan. */
async function openPull(name: 'github' | 'gitlab', organization: Readonly<Record<string, unknown>> = {}, rules = {}) {
  const found = FORGES.find((each) => each.name === name);
  const fake = (await found?.open()) as FakeForge;
  const work = await openWorkspace();
  const base = work.repository.commit('Two', { 'a.yaml': TWO });
  const forge = {
    ...{ type: name, apiUrl: fake.apiUrl, repository: found?.repository, token: FakeForge.token },
    ...{ webhookSecret: SECRET, approveByComment: rules },
  };
  const daemon = await startInside(work, { organization: { forge, ...organization } });
  work.repository.git('checkout', '--quiet', '-b', 'change');
  const head = work.repository.commit('One', { 'a.yaml': ONE });
  fake.people.set(BOSS, { login: 'boss', permission: 'maintain' });
  fake.people.set(OTHER_BOSS, { login: 'other-boss', permission: 'admin' });
  fake.people.set(WRITER, { login: 'writer', permission: 'write' });
  fake.people.set(AUTHOR, { login: 'author', permission: 'admin' });
  fake.pull.head = head;
  let run = 0;
  const pull = {
    work,
    fake,
    daemon,
    /** Runs the job of the pull request. */
    async plan() {
      run += 1;
      const event = join(work.folder, 'event.json');
      const at = fake.pull.head;
      expect(
        await work.inside(['plan', '.', '--comment'], jobAt(fake, name, { base, head: at, event, run })),
      ).toMatchObject({
        code: 0,
      });
      fake.now += MINUTE;
    },
    /** Checksums that the comment of the job has. */
    checksums: () => /checksums=([0-9a-f]{64})(?:,([0-9a-f]{64}))?/.exec(fake.own[0]?.body ?? '')?.slice(1) ?? [],
    deliver: (options: Omit<CommentOptions, 'secret'> & { secret?: string }) =>
      send(daemon.address, COMMENTS[name]({ secret: SECRET, repository: 'acme/docs', ...options })),
    /** Has an account comment, and returns the answer to it; null if there is none before that of a later command. */
    async say(account: number, text: string, { isAnswered = true, change = () => {} } = {}) {
      const before = fake.own.length;
      const comment = fake.comment(account, text);
      change();
      const delivered = await pull.deliver({ comment: comment.id, text });
      expect(delivered.status).toBe(202);
      await eventually('an answer', () => !isAnswered || fake.own.length > before);
      fake.now += MINUTE;
      return fake.own[before]?.body ?? null;
    },
    async merge() {
      work.repository.git('checkout', '--quiet', 'main');
      work.repository.git('merge', '--quiet', '--no-ff', '-m', 'Merge', 'change');
      fake.pull.state = 'merged';
      await send(daemon.address, PUSHES[name]({ secret: SECRET, repository: name === 'github' ? 'acme/docs' : '5' }));
    },
    deletions: () => work.emulator.requests.count('deleteCollection'),
    audit: () =>
      daemon.database
        .prepare("SELECT actor, method, reason, outcome, detail FROM audit WHERE action = 'approve'")
        .all(),
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await fake[Symbol.asyncDispose]();
      await work[Symbol.asyncDispose]();
    },
  };
  await pull.plan();
  return pull;
}

async function send(address: string, { headers, body }: ReturnType<(typeof COMMENTS)['github']>) {
  const response = await fetch(`${address}/hooks/org_acme`, { method: 'POST', headers, body: new Uint8Array(body) });
  return { status: response.status, ...((await response.json()) as object) };
}

describe.each(['github', 'gitlab'] as const)('at %s', (name) => {
  test('a comment approves the deletion of a pull request, which is applied once it is merged', async () => {
    await using pull = await openPull(name);
    const [held = ''] = pull.checksums();
    const answer = await pull.say(BOSS, 'octavo approve');
    expect(answer).toBe(
      `Approved by \`boss\`: \`${held.slice(0, 8)}\`. It counts once this is merged, if the plan is still the same.`,
    );
    expect(pull.audit()).toEqual([]);
    await pull.merge();
    await eventually('the deletion', () => pull.deletions() === 1);
    await eventually(
      'the answer',
      () => pull.fake.own.at(-1)?.body === 'Approved by `boss`: `Deletes the collection B`.',
    );
    const anchor = name === 'github' ? 'pull/12#issuecomment-' : '-/merge_requests/12#note_';
    expect(pull.audit()).toEqual([
      {
        ...{ actor: `${name}:boss`, method: 'comment', outcome: 'done', detail: '' },
        reason: expect.stringContaining(`/acme/docs/${anchor}`),
      },
    ]);
    expect(JSON.stringify([pull.daemon.log, pull.fake.comments])).not.toMatch(
      new RegExp(`${FakeForge.token}|${SECRET}`),
    );
  });
});
