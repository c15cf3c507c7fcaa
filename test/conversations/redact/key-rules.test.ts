import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PREFIX_RULES } from '../../../src/conversations/redact/credentials/key-prefix-rules.ts';
import { findKeys } from '../../../src/conversations/redact/credentials/key-shapes.ts';
import { ANCHOR_RULES, VENDOR_RULES } from '../../../src/conversations/redact/credentials/key-vendor-rules.ts';

const RUNS = { numRuns: 12, endOnFailure: true, unbiased: true };
/** Words that a scanner treats as sample values, and a digit where rules require one. */
const isReal = (value: string) =>
  /\d/.test(value) && !value.startsWith('=') && !/EXAMPLE|example|x{6}|X{6}|0{12}|your[_-]/i.test(value);
const matching = (shape: string) => fc.stringMatching(new RegExp(`^(?:${shape})$`)).filter(isReal);
const isFound = (text: string, value: string) => {
  const start = text.indexOf(value);
  return findKeys(text).some((found) => found.start <= start && found.end >= start + value.length);
};

describe('keys with a prefix', () => {
  it.each(PREFIX_RULES)('finds $id completely', ({ prefixes, body }) => {
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
  });

  it.each(PREFIX_RULES)('ignores $id as a prefix alone, with a short value and within a word', ({ prefixes, body }) => {
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
  });

  it.each(PREFIX_RULES.filter(({ exact }) => exact))(
    'ignores $id with another letter or digit at its end',
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
  it.each(VENDOR_RULES)('finds $id only near the vendor name', ({ vendors, value }) => {
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
  it.each(ANCHOR_RULES.filter(({ id }) => id !== 'private-key-base64'))('finds $id completely', ({ shape }) => {
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

describe('the rules', () => {
  it('have distinct ids and a source each', () => {
    const rules = [...PREFIX_RULES, ...VENDOR_RULES, ...ANCHOR_RULES];
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    expect(rules.length).toBeGreaterThan(220);
    expect(rules.every(({ source }) => source.length > 0)).toBe(true);
  });

  it('contain only bounded repetitions', () => {
    const shapes = [
      ...PREFIX_RULES.map(({ body }) => body),
      ...VENDOR_RULES.map(({ value }) => value),
      ...ANCHOR_RULES.map(({ shape }) => shape),
    ];
    for (const shape of shapes) {
      expect(shape.replaceAll(/\\.|\[[^\]]*\]/g, ''), shape).not.toMatch(/[*+]|\{\d+,\}/);
    }
  });

  it.each(PREFIX_RULES)('take linear time for repeated prefixes of $id', ({ prefixes }) => {
    for (const prefix of prefixes) {
      const short = charactersRead(() => findKeys(prefix.repeat(400)));
      const long = charactersRead(() => findKeys(prefix.repeat(1600)));
      expect(long, prefix).toBeLessThan(4.5 * short + 10_000);
    }
  });
});

afterEach(() => vi.restoreAllMocks());

/** Characters that patterns read: up to the end of a match, or to the end of the text without a match. */
function charactersRead(action: () => void): number {
  let characters = 0;
  // biome-ignore lint/suspicious/noExplicitAny: the original function accepts and returns any type
  const exec = RegExp.prototype.exec as any;
  vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, text: string) {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const answer = exec.call(this, text) as RegExpExecArray | null;
    characters += answer === null ? (this.sticky ? 1 : text.length - from) : answer.index + answer[0].length - from;
    return answer;
  });
  action();
  vi.restoreAllMocks();
  return characters;
}
