import { describe, expect, test } from 'vitest';
import { FakeHooks } from '../support/fake-hooks.ts';
import { openWorkspace } from '../support/workspace.ts';

const SECRET = 'a-secret-of-more-than-16-characters';
const server = { publicUrl: 'https://octavo.acme.example/' };

function forge(over: Record<string, unknown> = {}) {
  return { organization: { forge: { type: 'github', repository: 'acme/docs', webhookSecret: SECRET, ...over } } };
}

async function run(settings: object, ...flags: string[]) {
  await using work = await openWorkspace();
  return await work.inside(['webhook', 'org_acme', ...flags, '--config', work.configure(settings)]);
}

describe('octavo webhook', () => {
  test('shows what to enter at the forge, without the secret', async () => {
    const { code, stdout: out } = await run({ ...forge(), top: { server: { ...server, listen: '127.0.0.1:0' } } });
    expect(code).toBe(0);
    expect(out).toMatch(/acme\/docs at GitHub, open Settings > Webhooks > Add webhook/);
    expect(out).toMatch(/^ {2}Payload URL +https:\/\/octavo\.acme\.example\/hooks\/org_acme$/m);
    expect(out).toMatch(/^ {2}Content type +application\/json$/m);
    expect(out).toMatch(/^ {2}Secret +the value of forge\.webhookSecret$/m);
    expect(out).not.toContain(SECRET);
  });

  test('warns that the forge cannot reach the address of the machine', async () => {
    const { stdout: out } = await run({ ...forge(), top: { server: { listen: '127.0.0.1:8080' } } });
    expect(out).toContain('http://127.0.0.1:8080/hooks/org_acme');
    expect(out).toContain('server.publicUrl is not set: replace the address');
  });

  test.each([
    ['gitlab', /Secret token .*\n {2}Trigger +Push events and Tag push events/],
    ['gitea', /Trigger on +Push events/],
    ['bitbucket', /Triggers +Repository push/],
  ])('names the fields of %s', async (type, fields) => {
    expect((await run(forge({ type }))).stdout).toMatch(fields);
  });

  test('says what is missing', async () => {
    expect((await run({})).stderr).toContain('has no webhook; set forge.webhookSecret');
    const { code, stderr: err } = await run(forge(), '--create');
    expect(code).toBe(3);
    expect(err).toContain('set server.publicUrl');
    expect(err).toContain('forge.token');
    expect(err).toContain('forge.apiUrl');
  });

  test('--create creates the webhook once, and prints no secret', async () => {
    await using fake = await new FakeHooks('github').listen();
    const settings = {
      ...forge({ apiUrl: fake.apiUrl, token: FakeHooks.token }),
      top: { server: { ...server, listen: '127.0.0.1:0' } },
    };
    const first = await run(settings, '--create');
    expect([first.stderr, first.stdout]).toEqual([
      '',
      'created the webhook of acme/docs at GitHub: https://octavo.acme.example/hooks/org_acme\n',
    ]);
    expect((await run(settings, '--create')).stdout).toMatch(/^updated the webhook/);
    expect(fake.hooks).toMatchObject([{ secret: SECRET, events: ['push'] }]);
  });

  test('asks for comments where they approve plans', async () => {
    await using fake = await new FakeHooks('github').listen();
    const access = { apiUrl: fake.apiUrl, token: FakeHooks.token, approveByComment: {} };
    const settings = { ...forge(access), top: { server: { ...server, listen: '127.0.0.1:0' } } };
    expect((await run(settings)).stdout).toMatch(/^ {2}Events +Pushes and Issue comments$/m);
    await run(settings, '--create');
    expect(fake.hooks).toMatchObject([{ events: ['push', 'issue_comment'] }]);
    const gitlab = forge({ type: 'gitlab', token: FakeHooks.token, apiUrl: fake.apiUrl, approveByComment: {} });
    expect((await run(gitlab)).stdout).toMatch(/Trigger +Push events and Tag push events, and Comments$/m);
  });

  test('--create names the permission that the token lacks', async () => {
    await using fake = await new FakeHooks('github').listen();
    const settings = { ...forge({ apiUrl: fake.apiUrl, token: 'another-token' }), top: { server } };
    const { code, stderr: err } = await run(settings, '--create');
    expect(code).toBe(1);
    expect(err).toContain('Webhooks: read and write');
    expect(err).not.toContain('another-token');
  });
});
