/** Checks that the example tickets name nobody who exists; the demonstration shows that they are ingested. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './pruned.ts';

const FILES = ['mailbox.mbox', 'zendesk-export.json'] as const;

describe.each(FILES)('examples/tickets/%s', (file) => {
  // Quoted-printable may break lines anywhere.
  const text = readFileSync(join(ROOT, 'examples/tickets', file), 'utf8').replace(/=\n/g, '');

  test('every domain is reserved (RFC 2606)', () => {
    const withoutNames = text.replace(/[\w.+-]+@/g, '@');
    const domains = withoutNames.match(/(?<![\w-])[a-z0-9](?:[\w-]*\.)+[a-z][\w-]*/gi) ?? [];
    expect(domains.length).toBeGreaterThan(20);
    expect(domains.filter((domain) => !/(?:^|\.)example$/i.test(domain))).toEqual([]);
    expect(text).not.toMatch(/@(?![\w.-]*\.example\b)/);
  });

  test('every phone number is reserved for fiction and every IP address for documentation or tests (RFC 5737, RFC 2544)', () => {
    const numbers = text.match(/\+\d[\d -]{7,}/g) ?? [];
    expect(numbers.length).toBeGreaterThan(1);
    expect(numbers.filter((number) => !/^\+(?:1 202-555-01\d\d|44 20 7946 0\d{3})$/.test(number.trim()))).toEqual([]);
    const addresses = text.match(/\b\d{1,3}(?:\.\d{1,3}){3}\b/g) ?? [];
    expect(
      addresses.filter((address) => !/^(?:192\.0\.2|198\.51\.100|203\.0\.113|198\.1[89]\.\d+)\./.test(address)),
    ).toEqual([]);
  });
});
