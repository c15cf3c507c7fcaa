import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findKeys, KEY_FORMATS } from '../../../src/conversations/redact/credentials/keys.ts';
import { workOf } from './pattern-work.ts';

const RUNS = { numRuns: 12, endOnFailure: true, unbiased: true };
const PREFIX_RULES = KEY_FORMATS.flatMap(({ starts: prefixes = [], pattern: body, ...rest }) =>
  prefixes.length === 0 ? [] : [{ prefixes, body, exact: false, ...rest }],
);
const VENDOR_RULES = KEY_FORMATS.flatMap(({ near: vendors = [], pattern, name }) =>
  (vendors.length === 0 ? [] : pattern.split(/\|(?![^[]*\])(?![^(]*\))/)).map((value) => ({ name, vendors, value })),
);
const MARK_RULES = KEY_FORMATS.filter(({ contains }) => contains !== undefined);
/** Words that a scanner treats as sample values, and a digit where rules require one. */
const isReal = (value: string) =>
  /\d/.test(value) && !value.startsWith('=') && !/EXAMPLE|example|x{6}|X{6}|0{12}|your[_-]/i.test(value);
const matching = (shape: string) => fc.stringMatching(new RegExp(`^(?:${shape})$`)).filter(isReal);
const isFound = (text: string, value: string) => {
  const start = text.indexOf(value);
  return findKeys(text).some((found) => found.start <= start && found.end >= start + value.length);
};

describe('keys with a prefix', () => {
  it.each(PREFIX_RULES.filter(({ name }) => name !== 'private key base64'))(
    'finds $name completely',
    ({ prefixes, body }) => {
      fc.assert(
        fc.property(fc.constantFrom(...prefixes), matching(body), (prefix, rest) => {
          for (const text of [
            `${prefix}${rest}`,
            `the key "${prefix}${rest}" fails`,
            `(${prefix}${rest})`,
            `KEY=${prefix}${rest}\n`,
          ]) {
            expect(isFound(text, `${prefix}${rest}`), text).toBe(true);
          }
        }),
        RUNS,
      );
    },
  );

  it.each(PREFIX_RULES)(
    'ignores $name as a prefix alone, with a short value and within a word',
    ({ prefixes, body }) => {
      fc.assert(
        fc.property(fc.constantFrom(...prefixes), matching(body), (prefix, rest) => {
          const near = [
            `${prefix}`,
            `${prefix}${rest.slice(0, 3)}`,
            `the ${prefix} prefix`,
            `${prefix}<your key>`,
            `${prefix}xxxxxxxxxxxxxxxx`,
          ];
          for (const text of near) {
            expect(findKeys(text), text).toEqual([]);
          }
        }),
        RUNS,
      );
    },
  );

  it.each(PREFIX_RULES.filter(({ exact }) => exact))(
    'ignores $name with another letter or digit at its end',
    ({ prefixes, body }) => {
      fc.assert(
        fc.property(fc.constantFrom(...prefixes), matching(body), (prefix, rest) => {
          const longer = `${prefix}${rest}${'Zz9'.repeat(40)}`;
          expect(findKeys(longer).some(({ start, end }) => start === 0 && end === prefix.length + rest.length)).toBe(
            false,
          );
        }),
        RUNS,
      );
    },
  );
});

describe('keys recognized by a vendor name', () => {
  it.each(VENDOR_RULES)('finds $name only near the vendor name', ({ vendors, value }) => {
    fc.assert(
      fc.property(fc.constantFrom(...vendors), matching(value), (vendor, key) => {
        for (const text of [
          `${vendor}_KEY=${key}`,
          `${vendor.toUpperCase()} secret: "${key}"`,
          `my-${vendor}.id => '${key}',`,
        ]) {
          expect(isFound(text, key), text).toBe(true);
        }
        expect(findKeys(`checksum = ${key.slice(0, 8)}`)).toEqual([]);
        expect(findKeys(`${vendor} is a service with ${key.slice(0, 7)} plans`)).toEqual([]);
      }),
      RUNS,
    );
  });
});

describe('keys recognized by their middle or end', () => {
  it.each(MARK_RULES)('finds $name completely', ({ pattern: shape }) => {
    fc.assert(
      fc.property(matching(shape), (key) => {
        expect(isFound(`see ${key} here`, key), key).toBe(true);
        expect(findKeys(`see ${key.slice(0, 9)} here`), key).toEqual([]);
      }),
      RUNS,
    );
  });

  it('finds a private key in base64, and ignores a certificate', () => {
    const encoded = (label: string) =>
      Buffer.from(`-----BEGIN ${label}-----\n${'MIIEpAIBAAKC'.repeat(8)}\n-----END ${label}-----\n`).toString('base64');
    expect(isFound(`tls.key: ${encoded('RSA PRIVATE KEY')}`, encoded('RSA PRIVATE KEY'))).toBe(true);
    expect(isFound(`tls.key: ${encoded('PRIVATE KEY')}`, encoded('PRIVATE KEY'))).toBe(true);
    expect(findKeys(`tls.crt: ${encoded('CERTIFICATE')}`)).toEqual([]);
  });
});

it.each(PREFIX_RULES)('takes linear time for repeated prefixes of $name', ({ prefixes }) => {
  for (const prefix of prefixes) {
    const short = workOf(() => findKeys(prefix.repeat(400))).characters;
    const long = workOf(() => findKeys(prefix.repeat(1600))).characters;
    expect(long, prefix).toBeLessThan(4.5 * short + 10_000);
  }
});
