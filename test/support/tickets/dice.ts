/** Seeded random choices, shared by every locale of faker, so that one seed gives one text. */
import { allLocales, Faker, generateMersenne32Randomizer } from '@faker-js/faker';
import { LOCALES, type LocaleName } from './locales.ts';

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const ALPHABETS = {
  digit: '0123456789',
  hex: '0123456789abcdef',
  HEX: '0123456789ABCDEF',
  lower: LOWER,
  upper: LOWER.toUpperCase(),
  lowerDigit: `${LOWER}0123456789`,
  upperDigit: `${LOWER.toUpperCase()}0123456789`,
  base32: `${LOWER.toUpperCase()}234567`,
  alnum: `${LOWER}${LOWER.toUpperCase()}0123456789`,
  base64: `${LOWER}${LOWER.toUpperCase()}0123456789+/`,
  base64url: `${LOWER}${LOWER.toUpperCase()}0123456789-_`,
  BECH32: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
};
export type Alphabet = keyof typeof ALPHABETS;
export const isAlphabet = (name: string): name is Alphabet => Object.hasOwn(ALPHABETS, name);

export class Dice {
  readonly #randomizer = generateMersenne32Randomizer();
  readonly #fakers = new Map<LocaleName, Faker>();

  /** Starts the sequence of one text. */
  seed(...parts: readonly number[]): void {
    this.#randomizer.seed([...parts]);
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.#randomizer.next() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.#randomizer.next() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const chosen = choices[this.int(0, choices.length - 1)];
    if (chosen === undefined) {
      throw new RangeError('nothing to choose from');
    }
    return chosen;
  }

  /** `count` different choices, or all of them. */
  sample<T>(choices: readonly T[], count: number): T[] {
    return this.shuffle(choices).slice(0, count);
  }

  shuffle<T>(choices: readonly T[]): T[] {
    return choices
      .map((choice) => [this.#randomizer.next(), choice] as const)
      .sort(([a], [b]) => a - b)
      .map(([, choice]) => choice);
  }

  /** Characters of the alphabet; a mixed one of 16 characters or more always has a digit and each case it has. */
  chars(alphabet: Alphabet, length: number): string {
    const letters = ALPHABETS[alphabet];
    for (;;) {
      const text = Array.from({ length }, () => letters[this.int(0, letters.length - 1)]).join('');
      const complete = [/\d/, /[a-z]/, /[A-Z]/].every((kind) => !kind.test(letters) || kind.test(text));
      if (length < 16 || complete) {
        return text;
      }
    }
  }

  times<T>(min: number, max: number, make: (index: number) => T): T[] {
    return Array.from({ length: this.int(min, max) }, (_, index) => make(index));
  }

  faker(name: LocaleName): Faker {
    const names = [...LOCALES[name].definitions, 'en', 'base'] as (keyof typeof allLocales)[];
    const known =
      this.#fakers.get(name) ??
      new Faker({ locale: names.map((each) => allLocales[each]), randomizer: this.#randomizer });
    this.#fakers.set(name, known);
    return known;
  }
}
