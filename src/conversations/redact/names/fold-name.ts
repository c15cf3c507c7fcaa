/** Compares names without regard to case and accents: `Müller`, `MULLER`. */

import { isAscii } from '../model/fold.ts';

/** Removes case, accents and ligatures, and maps each character to its origin. */
export function fold(text: string): { readonly text: string; from(at: number): number; to(end: number): number } {
  if (isAscii(text)) {
    return { text: text.toLowerCase(), from: (at) => at, to: (end) => end };
  }
  const origins: number[] = [];
  const ends: number[] = [];
  let folded = '';
  let at = 0;
  for (const character of text) {
    const plain = foldCharacter(character);
    for (const _unit of plain.split('')) {
      origins.push(at);
      ends.push(at + character.length);
    }
    if (plain === '' && ends.length > 0) {
      ends[ends.length - 1] = at + character.length;
    }
    folded += plain;
    at += character.length;
  }
  return { text: folded, from: (start) => origins[start] ?? text.length, to: (end) => ends[end - 1] ?? text.length };
}

const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ı: 'i',
};

/** Maximum number of characters whose folding is cached. */
const REMEMBERED = 4096;
const remembered = new Map<string, string>();

function foldCharacter(character: string): string {
  if (character < '\u0080') {
    return character.toLowerCase();
  }
  const known = remembered.get(character);
  if (known !== undefined) {
    return known;
  }
  const folded = foldNew(character);
  if (remembered.size < REMEMBERED) {
    remembered.set(character, folded);
  }
  return folded;
}

function foldNew(character: string): string {
  const plain = character.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll(/\p{M}/gu, '');
  return LETTERS[plain] ?? plain;
}
