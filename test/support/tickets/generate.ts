/** The generated corpus: labelled tickets with private data, disguised ones, and technical ones without any. */
import type { CountryCode } from 'libphonenumber-js';
import type { Person } from '../../../src/conversations/model/ticket.ts';
import { Dice } from './dice.ts';
import { disguisedTicket } from './disguises.ts';
import { SIXTEEN_REGIONS } from './locales.ts';
import { assemble, type GeneratedTicket, type MarkedText } from './marked-text.ts';
import { privateTicket } from './private-texts.ts';
import { technicalTicket } from './technical-texts.ts';

export interface Sample extends MarkedText {
  readonly id: string;
  readonly people: readonly Person[];
  readonly phoneRegions: readonly CountryCode[];
  /** Kind of disguise; null: none. */
  readonly disguise: string | null;
}

export interface Counts {
  readonly private: number;
  readonly disguised: number;
  readonly technical: number;
}
export const FULL_SIZE: Counts = { private: 3200, disguised: 640, technical: 2000 };

/** Returns the same texts for the same seed, whatever the counts: a smaller corpus is the beginning of a larger one. */
export function generateCorpus(seed: number, counts: Counts) {
  const dice = new Dice();
  const many = (count: number, make: (index: number) => Sample) =>
    Array.from({ length: count }, (_, index) => make(index));
  return {
    private: many(counts.private, (index) => sampleOf(`private/${index}`, privateTicket(dice, seed, index))),
    disguised: many(counts.disguised, (index) => {
      const ticket = disguisedTicket(dice, seed, index);
      return { ...sampleOf(`disguised/${index}`, ticket), disguise: ticket.disguise };
    }),
    technical: many(counts.technical, (index) => sampleOf(`technical/${index}`, technicalTicket(dice, seed, index))),
  };
}

function sampleOf(id: string, { fragment, people, region, manyRegions }: GeneratedTicket): Sample {
  const others = SIXTEEN_REGIONS.filter((other) => other !== region).slice(0, 15);
  return {
    id,
    ...assemble(fragment),
    people,
    phoneRegions: manyRegions ? [...others, region] : [region],
    disguise: null,
  };
}
