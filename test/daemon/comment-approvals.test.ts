/** Approvals by comment on a pull request: from the plan of a job over the command of a person to the deletion. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FORGES, jobAt } from '../forge/samples.ts';
import { FakeForge, type KeptComment } from '../support/fake-forge.ts';
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
        await work.inside(['plan', '.', '--comment'], {
          ...jobAt(fake, name, { base, head: at, event, run }),
          OCTAVO_APPROVE_BY_COMMENT: 'true',
        }),
      ).toMatchObject({
        code: 0,
      });
      fake.now += MINUTE;
    },
    /** Checksums that the comment of the job has. */
    checksums: () => /checksums=([0-9a-f]{64})(?:,([0-9a-f]{64}))?/.exec(fake.own[0]?.body ?? '')?.slice(1) ?? [],
    deliver: (options: Omit<CommentOptions, 'secret'> & { secret?: string }) =>
      send(daemon.address, COMMENTS[name]({ secret: SECRET, repository: 'acme/docs', ...options })),
    /** Has an account comment, and returns the answer to it. */
    async say(account: number, text: string, change: (comment: KeptComment) => void = () => {}) {
      const before = fake.own.length;
      const comment = fake.comment(account, text);
      change(comment);
      expect(await pull.deliver({ comment: comment.id, text })).toMatchObject({ status: 202 });
      await eventually('an answer', () => fake.own.length > before);
      fake.now += MINUTE;
      return fake.own[before]?.body ?? '';
    },
    async merge() {
      work.repository.git('checkout', '--quiet', 'main');
      work.repository.git('merge', '--quiet', '--no-ff', '-m', 'Merge', 'change');
      Object.assign(fake.pull, { state: 'merged', mergedAt: fake.now });
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
    expect(pull.fake.own[0]?.body).toContain(`comment that is only \`octavo approve ${held.slice(0, 8)}\``);
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

  test('every reason against a comment is answered, and none of them approves', async () => {
    await using pull = await openPull(name);
    const { fake } = pull;
    const reasons = async (...comment: Parameters<typeof pull.say>) => {
      const [head, blank, ...lines] = (await pull.say(...comment)).split('\n');
      expect([head?.startsWith('Not approved'), blank]).toEqual([true, '']);
      return lines.map((line) => line.slice(2));
    };
    const permission = 'approving needs the permission `maintain` in this repository';
    const own = 'people who opened a change or wrote a commit of it cannot approve it';
    const edited = 'the comment was edited; write a new one';
    const outdated = 'the plan is not of the newest commit; wait until the job has shown the new one';
    const again = 'the plan was shown again since; read it, and write the command again';
    const [held = '', whole = ''] = pull.checksums().map((each) => each.slice(0, 8));
    expect(await reasons(WRITER, 'octavo approve')).toEqual([permission]);
    expect(await reasons(666, 'octavo approve')).toEqual([permission]);
    expect(await reasons(AUTHOR, 'octavo approve')).toEqual([own]);
    fake.pull.authors.push(OTHER_BOSS);
    expect(await reasons(OTHER_BOSS, 'octavo approve')).toEqual([own]);
    const edit = (comment: KeptComment) => {
      comment.updatedAt += MINUTE;
    };
    expect(await reasons(BOSS, 'octavo approve', edit)).toEqual([edited]);
    const replace = (comment: KeptComment) => {
      comment.body = 'octavo approve 00000000';
    };
    expect(await reasons(BOSS, 'octavo approve', replace)).toEqual([edited]);
    const both = held === whole ? `\`${held}\`` : `\`${held}\` or \`${whole}\``;
    const unknown = `the plan does not have this checksum, but ${both}`;
    expect(await reasons(BOSS, 'octavo approve 00000000')).toEqual([unknown]);
    const { head } = fake.pull;
    fake.pull.head = 'c'.repeat(40);
    expect(await reasons(BOSS, 'octavo approve')).toEqual([outdated]);
    fake.pull.head = head;
    const showAgain = () => {
      (fake.own[0] as KeptComment).updatedAt = fake.now;
    };
    expect(await reasons(BOSS, 'octavo approve', showAgain)).toEqual([again]);
    fake.pull.into = 'release';
    fake.pull.state = 'closed';
    const all = [
      permission,
      'this was closed without being merged',
      'this does not go to the branch that Octavo follows',
    ];
    expect(await reasons(WRITER, 'octavo approve 00000000')).toEqual([...all, unknown]);
    fake.pull.into = 'main';
    fake.pull.state = 'open';
    const late = (comment: KeptComment) => Object.assign(comment, { createdAt: 0, updatedAt: 0 });
    expect(await reasons(BOSS, 'octavo approve', late)).toEqual([
      'the comment is more than a day old; write a new one',
      again,
    ]);
    const label = name === 'github' ? 'GitHub' : 'GitLab';
    const silent = `${label} does not tell now whether this is allowed; the log of Octavo says why`;
    fake.fault = (request) => (/collaborators|members/.test(request) ? 403 : null);
    expect(await reasons(BOSS, 'octavo approve')).toEqual([silent]);
    fake.fault = (request) => (/collaborators|members/.test(request) ? 404 : null);
    expect(await reasons(BOSS, 'octavo approve')).toContain(permission);
    fake.fault = () => null;
    await pull.merge();
    await eventually('the held plan', () => pull.daemon.log.some(({ msg }) => msg === 'changes held'));
    expect([pull.deletions(), pull.audit()]).toEqual([0, []]);
  });

  test('what is not a new command of a person by webhook has no effect and no answer', async () => {
    await using pull = await openPull(name);
    const { fake, daemon } = pull;
    const ignored = { status: 200, outcome: 'ignored' };
    const { id: comment } = fake.comment(BOSS, 'octavo approve');
    const texts = [
      ...['> octavo approve', 'octavo approve\n\noctavo approve', 'LGTM\noctavo approve', '`octavo approve`'],
      ...['octavo approve 1cef', 'octavo approve 1cefed34; rm -rf /', '/octavo approve', '<b>octavo approve</b>'],
      ...['octavo reject', '', 'octavo approve '.repeat(70_000), '```\noctavo approve\n```', 'octavo  approve'],
    ];
    for (const text of texts) {
      expect(await pull.deliver({ comment, text })).toEqual(ignored);
    }
    const text = 'octavo approve';
    for (const action of ['edited', 'update', 'deleted']) {
      expect(await pull.deliver({ comment, text, action })).toEqual(ignored);
    }
    expect(await pull.deliver({ comment, text, isPull: false })).toEqual(ignored);
    expect(await pull.deliver({ comment, text, repository: 'eve/docs' })).toEqual(ignored);
    expect(await pull.deliver({ comment, text, event: 'pull_request_review' })).toEqual(ignored);
    expect(await pull.deliver({ comment, text, secret: 'another secret of many characters' })).toEqual({
      status: 401,
      error: 'the signature is missing, wrong or too old',
    });
    // Somebody else's signed comment with the id of one that does not exist, and a bot's.
    fake.people.set(60, { login: 'helper[bot]', permission: 'admin', isBot: true });
    expect(await pull.deliver({ comment: 4_000_000, text })).toMatchObject({ status: 202 });
    expect(await pull.deliver({ comment: fake.comment(60, text).id, text })).toMatchObject({ status: 202 });
    expect(await pull.say(BOSS, text)).toMatch(/^Approved by `boss`/);
    expect(fake.own).toHaveLength(2);
    // Pages show whether pushes arrive: a comment, and what looks like an event of another kind, say nothing about it.
    const last = daemon.database.prepare("SELECT value FROM note WHERE topic = 'push-webhook/last/org_acme'").get();
    expect(JSON.parse(String(last?.value))).toMatchObject({ outcome: 'ignored', mismatch: 'event' });
  });
});

test('a comment approves once, never with what was shown to somebody else, and only as long as its author may', async () => {
  await using pull = await openPull('github');
  const { fake, work, daemon } = pull;
  // Two comments look like the plan: of an outsider, which nobody reads, and of somebody who may write.
  const forged = `${fake.own[0]?.body.replaceAll(/checksums=\S+/g, `checksums=${'0'.repeat(64)}`)}`;
  fake.comment(666, forged);
  fake.now += MINUTE;
  expect(await pull.say(BOSS, `octavo approve ${pull.checksums()[0]}`)).toMatch(/^Approved by `boss`/);
  const second = fake.comment(WRITER, forged);
  fake.now += MINUTE;
  expect(await pull.say(OTHER_BOSS, 'octavo approve')).toContain('several comments show a plan of org_acme');
  fake.comments.splice(fake.comments.indexOf(second), 1);
  // The author of the approval leaves before the merge.
  const boss = fake.people.get(BOSS);
  fake.people.delete(BOSS);
  const before = fake.own.length;
  await pull.merge();
  await eventually('the refusal', () => fake.own.length > before);
  expect(fake.own.at(-1)?.body).toContain('approving needs the permission');
  expect(pull.deletions()).toBe(0);
  fake.people.set(BOSS, boss ?? { login: 'boss', permission: 'maintain' });
  fake.now += MINUTE;
  const used = fake.comment(OTHER_BOSS, 'octavo approve');
  await pull.deliver({ comment: used.id, text: used.body, id: 'one' });
  await eventually('the deletion', () => pull.deletions() === 1);
  await daemon.idle();
  expect(pull.audit()).toMatchObject([{ actor: 'github:other-boss', outcome: 'done' }]);
  // The same change waits again, and recorded deliveries are sent again.
  work.repository.commit('Two again', { 'a.yaml': TWO });
  await daemon.pass();
  work.repository.commit('One again', { 'a.yaml': ONE });
  const answers = fake.own.length;
  const repeated = { status: 200, outcome: 'repeated' };
  expect(await pull.deliver({ comment: used.id, text: used.body, id: 'one' })).toEqual(repeated);
  expect(await pull.deliver({ comment: used.id, text: used.body, id: 'two' })).toMatchObject({ status: 202 });
  await daemon.pass();
  await daemon.pass();
  expect([pull.deletions(), fake.own.length, pull.audit().length]).toEqual([1, answers, 1]);
});

test('where two people have to approve, two accounts do, whose names the configuration may list', async () => {
  await using pull = await openPull(
    'github',
    { approvals: { count: 2 } },
    { permission: 'write', users: ['Boss', 'writer'] },
  );
  expect(await pull.say(OTHER_BOSS, 'octavo approve')).toContain('does not name this account');
  expect(await pull.say(BOSS, 'octavo approve')).toMatch(/ 2 people have to approve it\.$/);
  await pull.merge();
  await eventually('the first approval', () => pull.audit().length === 1);
  await pull.daemon.idle();
  expect(pull.deletions()).toBe(0);
  const [held = ''] = pull.checksums();
  await pull.say(WRITER, `  Octavo approve ${held.slice(0, 8)}\r\n`);
  await eventually('the deletion', () => pull.deletions() === 1);
});

test('a comment does not approve what was rejected since, and those that were not needed approve nothing later', async () => {
  await using pull = await openPull('github');
  const { fake, daemon } = pull;
  await pull.say(BOSS, 'octavo approve');
  fake.fault = (request) => (/collaborators/.test(request) ? 403 : null);
  await pull.merge();
  await eventually('a failure', () => daemon.log.some(({ msg }) => /^cannot look at comments/.test(String(msg))));
  expect([pull.deletions(), pull.audit()]).toEqual([0, []]);
  const [held = ''] = pull.checksums();
  const decide =
    'INSERT INTO decision (organization, checksum, method, actor, verdict, reason, at) VALUES (?, ?, ?, ?, ?, ?, ?)';
  const rejection = ['org_acme', `sha256:${held}`, 'oidc', 'cy@acme.example', 'rejected', '', Date.now()] as const;
  daemon.database.prepare(decide).run(...rejection);
  fake.fault = () => null;
  const answers = fake.own.length;
  await daemon.pass();
  await eventually('the refusal', () => fake.own.length > answers);
  expect(fake.own.at(-1)?.body).toContain('the plan was rejected after the comment');
  expect([pull.deletions(), pull.audit().length]).toEqual([0, 1]);
  // Two people write the command at the same time; one is enough.
  const [one, two] = [fake.comment(BOSS, 'octavo approve'), fake.comment(OTHER_BOSS, 'octavo approve')];
  await Promise.all([one, two].map(({ id }) => pull.deliver({ comment: id, text: 'octavo approve' })));
  await eventually('the deletion', () => pull.deletions() === 1);
  await daemon.idle();
  expect(await pull.say(OTHER_BOSS, 'octavo approve')).toContain('it was approved by comment before');
  const note = daemon.database.prepare("SELECT value FROM note WHERE topic = 'comment-approvals/org_acme'").get();
  const { kept } = JSON.parse(String(note?.value)) as { kept: { isDone: boolean }[] };
  expect(kept.filter(({ isDone }) => !isDone)).toEqual([]);
});
