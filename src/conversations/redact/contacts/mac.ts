// Finder for hardware addresses of network devices.

import type { Finder, PrivateValue } from '../model/found.ts';

const PAIRS = /(?<![\w:.-])[0-9A-F]{2}([:-])(?:[0-9A-F]{2}\1){4}[0-9A-F]{2}(?![\w:-]|\.\d)/gi;
/** Address as network devices print it: `0011.2233.4455`. */
const QUADS = /(?<![\w:.-])[0-9A-F]{4}\.[0-9A-F]{4}\.[0-9A-F]{4}(?![\w:-]|\.\w)/gi;
/** Broadcast and documentation addresses, which are kept. */
const SAMPLES = new Set(
  '000000000000 ffffffffffff aabbccddeeff 112233445566 001122334455 0123456789ab 123456789abc 010203040506 deadbeefcafe'.split(
    ' ',
  ),
);

/** Finds hardware addresses of network interfaces (MAC, EUI-48). */
export const findMacs: Finder = (text) => (MAY_BE.test(text) ? macsOf(text) : []);

const MAY_BE = /[:-][0-9A-F]{2}[:-][0-9A-F]{2}[:-][0-9A-F]{2}[:-]|\.[0-9A-F]{4}\.[0-9A-F]{4}/i;

const macsOf: Finder = (text) => [
  ...[...text.matchAll(PAIRS)].flatMap((match) => mac(match)),
  ...[...text.matchAll(QUADS)].filter(([value]) => /[a-f]/i.test(value)).flatMap((match) => mac(match)),
];

function mac({ index, 0: value }: RegExpExecArray): readonly PrivateValue[] {
  const key = value.replaceAll(/[:.-]/g, '').toLowerCase();
  const isSample = SAMPLES.has(key) || /^(.)\1+$/.test(key);
  return isSample ? [] : [{ type: 'mac', label: 'MAC', start: index, end: index + value.length, key }];
}
