/** Contract of all stores for values that could break a statement, a text or a number. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { storeCases } from '../support/store-cases.ts';
import { auditEntry, content, recordEntry } from './samples.ts';

/** Texts that every store returns as they are, also as keys. */
const TEXTS = [
  ...HOSTILE_TEXTS,
  `'; DROP TABLE note; --`,
  '$1 $2 ? ?',
  "E'\\x00'",
  '"quoted"',
  '{"a":1}',
  'null',
  '',
].filter((text) => !text.includes('\0') && text.isWellFormed());
const MEGABYTE = 'x😀'.repeat(220_000);
/** Text that is stored as part of JSON, which can hold what PostgreSQL's texts cannot. */
const ANY_TEXT = [...TEXTS, 'a\0b', '\ud800', '\udc00\ud800', MEGABYTE];
const NUMBERS = [2 ** 53, -(2 ** 60), 1e300, 5e-324, 0.1 + 0.2, -0, Number.MAX_SAFE_INTEGER];

describe.each(storeCases())('a store in %s', (_name, open) => {
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());

  test('returns every text in a note as it was', async () => {
    const value = { list: ANY_TEXT, ...Object.fromEntries(TEXTS.map((text) => [text, text])) };
    await store.note('a').write(value);
    expect(await store.note('a').read()).toEqual(value);
  });

  test('returns every number in the fields of an entry as it was', async () => {
    const fields = { numbers: NUMBERS };
    await store.organization('o').put([recordEntry('team/a', { metadata: fields, fields })]);
    const { entries } = await store.organization('o').read();
    // JSON has no negative zero.
    expect(entries[0]?.fields).toEqual({ numbers: NUMBERS.map((number) => number + 0) });
  });

  test('keeps topics, organizations and addresses apart that differ in any character', async () => {
    for (const text of TEXTS) {
      await store.note(text).write(`note ${text}`);
      await store.organization(text).moveHead({ commit: text, at: 1 }, []);
      await store.organization('all').put([recordEntry(text, { id: text, fields: { title: text } })]);
    }
    for (const text of TEXTS) {
      expect(await store.note(text).read()).toBe(`note ${text}`);
      expect((await store.organization(text).read()).head).toEqual({ commit: text, at: 1 });
    }
    const { entries } = await store.organization('all').read();
    expect(entries.map(({ address }) => address)).toEqual(
      [...new Set(TEXTS)].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    expect(entries.every(({ address, id, fields }) => id === address && fields.title === address)).toBe(true);
  });

  test('stores and sends conversations with every key and payload', async () => {
    const outbox = store.outbox('o', { items: 1000, bytes: 10_000_000 });
    const entries = TEXTS.filter((text) => text !== '').map((text) => content(text));
    await outbox.put({ source: `so'ur?ce`, at: 1, entries, counts: { "fo'und": 2 } });
    const batch = await outbox.next({ items: 1000, bytes: 10_000_000, open: 4 }, 10);
    const expected = new Set(entries.map(({ payload }) => payload));
    expect(new Set(batch?.items.map(({ payload }) => payload))).toEqual(expected);
    await outbox.sent(batch?.id ?? 0, 11);
    expect(await outbox.next({ items: 1000, bytes: 10_000_000, open: 4 }, 12)).toBeNull();
  });

  test('accepts texts outside of JSON that have NUL or halves of surrogate pairs', async () => {
    for (const text of ['a\0b', '\ud800', 'x\udc00']) {
      const actor = { name: text, method: 'oidc' } as const;
      await store.history('o').addAudit(auditEntry({ actor, subject: text, reason: text, detail: text }));
    }
    const entries = await store.history('o').audit({ limit: 10 });
    expect(entries.map(({ number }) => number)).toEqual([3, 2, 1]);
    expect(entries.at(-1)?.subject).toMatch(/^a/);
  });
});
