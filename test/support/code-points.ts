/** Characters for generated strings. */
import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

/**
 * Every code point that is not a surrogate: the same characters as `unit: 'binary'` of fast-check, which builds a table of
 * all of them and so costs each process a second and 100 MB.
 */
export const codePoint = fc.nat({ max: 0x10ffff - SURROGATES.count }).map(
  (index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
  (text) => {
    const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (code === undefined || text !== String.fromCodePoint(code)) {
      throw new Error('not one code point');
    }
    return code < SURROGATES.first ? code : code - SURROGATES.count;
  },
);
