/** Technical tickets without private data. */
import type { Dice } from './dice.ts';
import { LANGUAGES } from './languages.ts';
import { LOCALE_NAMES, LOCALES } from './locales.ts';
import { makeCharacter, recordOf } from './people.ts';
import { technicalSnippet } from './technical-snippets.ts';
import type { GeneratedTicket } from './ticket.ts';

const OPENINGS = [
  'Hi team,',
  'Hello,',
  'Hi there!',
  'Hi,',
  '',
  '',
  '',
  'Hey,',
  '## Description',
  '### Steps to reproduce',
  'Hi support,',
];
const CLOSINGS = [
  'Thanks!',
  'Thank you',
  'Cheers',
  '',
  '',
  '',
  'Best regards',
  'Any help is appreciated.',
  '/cc @docs-team',
];

/** The ticket `index` of the seed's sequence. Its people are known to the helpdesk and not named in the text. */
export function technicalTicket(dice: Dice, seed: number, index: number): GeneratedTicket {
  dice.seed(seed, 3, index);
  const locale = dice.pick(LOCALE_NAMES);
  const language = LANGUAGES[LOCALES[dice.chance(0.6) ? 'en_US' : locale].language];
  const parts = dice.times(1, 3, () => technicalSnippet(dice));
  const sentences = dice.sample(language.filler, dice.int(0, 2));
  const text = [dice.pick(OPENINGS), ...dice.shuffle([...parts, ...sentences]), dice.pick(CLOSINGS)]
    .filter((part) => part !== '')
    .join('\n\n');
  const people = [makeCharacter(dice, locale), makeCharacter(dice, dice.pick(LOCALE_NAMES))].map((one) =>
    recordOf(dice, one),
  );
  return { fragment: text, people, region: 'US', manyRegions: false };
}
