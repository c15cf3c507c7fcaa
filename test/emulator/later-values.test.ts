import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Emulator, type PlatformVersion, startEmulator } from '../../src/emulator/emulator.ts';

const TOKEN = 'tok-later-values';
const VERSIONS = ['0.146', '0.167', '0.181', '0.201'] as const satisfies readonly PlatformVersion[];

const rule = (name: string) => ({ mergeRules: { type: 'rules', rules: [{ rule: name }] } });
const integration = (scope: string) => ({
  title: 'Helper',
  description: '',
  script: '',
  scopes: [scope],
  organization: 'org_acme',
});

/** A request with a value, and the first version that accepts it. */
const LATER: readonly (readonly [method: string, path: string, body: object, since: PlatformVersion])[] = [
  ['POST', '/orgs/org_acme/spaces', { language: 'zh-tw' }, '0.181'],
  ['POST', '/orgs/org_acme/spaces', { language: 'zh' }, '0.146'],
  ['PATCH', '/spaces/SPACE', { language: 'zh-tw' }, '0.181'],
  ['POST', '/orgs/org_acme/translations', { source: { space: 'SPACE', language: 'en' }, language: 'zh-tw' }, '0.181'],
  ['PATCH', '/spaces/SPACE', rule('require_author_to_merge'), '0.167'],
  ['PATCH', '/orgs/org_acme', rule('require_at_least_one_approved_review'), '0.167'],
  ['PATCH', '/orgs/org_acme', rule('require_at_least_one_review'), '0.146'],
  ['POST', '/integrations/helper', integration('site:visitor:claims'), '0.201'],
  ['POST', '/integrations/helper', { ...integration('openapi:read'), runtime: 'v2' }, '0.146'],
];

/** Requests that every version rejects, with the status. */
const REFUSED: readonly (readonly [method: string, path: string, body: object, status: number])[] = [
  ['PATCH', '/orgs/org_acme', { mergeRules: { type: 'inherit' } }, 400],
  ['POST', '/orgs/org_acme/openapi', { slug: 'empty', source: { text: '' } }, 400],
  ['PATCH', '/spaces/SPACE', { emoji: 'zzz' }, 400],
  ['PATCH', '/spaces/SPACE', { emoji: '' }, 400],
  ['POST', '/orgs/org_acme/spaces', { emoji: '61' }, 400],
  ['PATCH', '/spaces/SPACE', { emoji: '📘📘' }, 400],
  ['POST', '/integrations/helper', { ...integration('openapi:read'), runtime: 'v3' }, 400],
  ['POST', '/collections/COLLECTION/transfer', { organization: 'org_unknown' }, 404],
  ['POST', '/collections/COLLECTION/transfer', { organization: 'org_acme' }, 409],
];

describe.each(VERSIONS)('the embedded platform as %s', (version) => {
  let emulator: Emulator;
  let ids: Readonly<Record<'SPACE' | 'COLLECTION', string>>;

  async function call(method: string, path: string, body: object) {
    const text = (given: string) => given.replaceAll(/SPACE|COLLECTION/g, (name) => ids[name as keyof typeof ids]);
    const answer = await fetch(`${emulator.url}/v1${text(path)}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: text(JSON.stringify(body)),
    });
    return { status: answer.status, body: (await answer.json()) as { readonly id: string } };
  }

  beforeAll(async () => {
    emulator = await startEmulator({ token: TOKEN, platform: version });
    ids = { SPACE: '', COLLECTION: '' };
    const space = await call('POST', '/orgs/org_acme/spaces', { title: 'Guides', language: 'en' });
    const collection = await call('POST', '/orgs/org_acme/collections', { title: 'All' });
    ids = { SPACE: space.body.id, COLLECTION: collection.body.id };
  });
  afterAll(() => emulator.close());

  test.each(LATER)('%s %s %j is accepted from %s on', async (method, path, body, since) => {
    const { status } = await call(method, path, body);
    const isTaken = VERSIONS.indexOf(version) >= VERSIONS.indexOf(since);
    expect(status >= 200 && status < 300 ? 'taken' : status).toBe(isTaken ? 'taken' : 400);
  });

  test.each(REFUSED)('%s %s %j is answered with %i', async (method, path, body, status) => {
    expect((await call(method, path, body)).status).toBe(status);
  });

  test.each([
    '1f4d8',
    '📘',
    '1f469-200d-1f4bb',
    '👩‍💻',
    '1f1eb-1f1f7',
    '🇫🇷',
    '2764',
    '❤️',
    '0031-fe0f-20e3',
    '1faf1-1f3fb',
  ])('accepts the emoji %s', async (emoji) => {
    expect(await call('PATCH', '/spaces/SPACE', { emoji })).toMatchObject({ status: 200, body: { emoji } });
  });
});
