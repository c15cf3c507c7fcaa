import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createIdPseudonymizer, loadIdPseudonymizer, writableKey } from '../../src/conversations/private-ids.ts';
import { createConversationRedactor } from '../../src/conversations/redact/redactor.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';

const makeKey = (bytes: number) => Buffer.alloc(bytes, 7);
const options = { patterns: [{ name: 'customer', pattern: 'CUST-\\d+' }] };
const redactor = createConversationRedactor(options, createIdPseudonymizer(makeKey(32)));

test.each([
  'webhook/forms/kim@shop.example',
  'webhook/forms/thread of kim@shop.example, 2',
  'file/drop/+1 415 555 0132',
  'file/drop/4155550132',
  'file/push/CUST-17',
])('replaces the id in %s with a stable hash', (key) => {
  const written = writableKey(key, redactor);
  expect(written).toMatch(/^(?:webhook|file)\/\w+\/hidden-[0-9a-f]{24}$/);
  expect(writableKey(key, redactor)).toBe(written);
  expect(writableKey(written, redactor)).toBe(written);
});

test.each(['a\0b', 'a\ud800b'])('replaces an id that PostgreSQL would store as another one: %j', (id) => {
  expect(writableKey(`webhook/forms/${id}`, redactor)).toMatch(/^webhook\/forms\/hidden-[0-9a-f]{24}$/);
});

test('replaces an id that contains the name of a person', () => {
  const people = [{ names: ['Cora Zellweger'], emails: ['cz@shop.example'] }];
  for (const id of ['Cora Zellweger', 'zellweger-17', 'cz@shop.example']) {
    expect(writableKey(`file/drop/${id}`, redactor, people)).toMatch(/^file\/drop\/hidden-[0-9a-f]{24}$/);
  }
  expect(writableKey('file/drop/4711', redactor, people)).toBe('file/drop/4711');
  // A helpdesk's own numbers and names are unchanged.
  expect(writableKey('zendesk/zellweger/4711', redactor, people)).toBe('zendesk/zellweger/4711');
});

test.each([
  'webhook/forms/order-1234',
  'webhook/forms/9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d',
  'file/drop/10032345',
  // Its own number, whatever it looks like.
  'zendesk/acme/4155550132',
  'github/I_kwDOabc',
  'mail/0123456789abcdef0123456789abcdef01234567',
])('keeps the id in %s', (key) => {
  expect(writableKey(key, redactor)).toBe(key);
});

test('prevents tests of guessed ids without the key of the state file', () => {
  const address = 'kim@shop.example';
  const written = (key: Uint8Array) =>
    writableKey(`file/drop/${address}`, createConversationRedactor({}, createIdPseudonymizer(key)));
  expect(written(makeKey(32))).not.toContain(createHash('sha256').update(address).digest('hex').slice(0, 24));
  expect(written(randomBytes(32))).not.toBe(written(randomBytes(32)));
});

test('creates the key once per organization and state file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-ids-'));
  try {
    const pseudonyms = new Set<string>();
    for (let restart = 0; restart < 3; restart += 1) {
      const store = openSqliteStore(join(folder, 'octavo.db'));
      pseudonyms.add((await loadIdPseudonymizer(store, 'org_1', randomBytes))('kim@shop.example'));
      await store.close();
    }
    expect(pseudonyms.size).toBe(1);
    const store = openSqliteStore(join(folder, 'octavo.db'));
    pseudonyms.add((await loadIdPseudonymizer(store, 'org_2', randomBytes))('kim@shop.example'));
    await store.close();
    expect(pseudonyms.size).toBe(2);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([null, 'x', {}, { key: 7 }, { key: 'short' }])('replaces an invalid key note: %j', async (kept) => {
  const store = openMemoryStore();
  await store.note('conversation-ids/org_1').write(kept);
  const pseudonymize = await loadIdPseudonymizer(store, 'org_1', makeKey);
  expect(pseudonymize('a')).toBe(createIdPseudonymizer(makeKey(32))('a'));
  expect((await loadIdPseudonymizer(store, 'org_1', randomBytes))('a')).toBe(pseudonymize('a'));
});
