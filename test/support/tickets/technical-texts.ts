/** Technical tickets without private data: commands, code, configuration, dumps, output of tools, tables and notes. */
import type { Dice } from './dice.ts';
import { LANGUAGES } from './languages.ts';
import { LOCALE_NAMES, LOCALES } from './locales.ts';
import type { Voice } from './makers.ts';
import type { GeneratedTicket } from './marked-text.ts';
import { makeCharacter, recordOf } from './people.ts';
import { type TechnicalKind, textOf } from './templates.ts';

const KINDS: readonly TechnicalKind[] = [
  ...(['shell', 'shell', 'code', 'code', 'structured', 'structured', 'dump', 'dump'] as const),
  ...(['table', 'note', 'note', 'labelled'] as const),
];
const OUTPUTS: readonly TechnicalKind[] = ['listing', 'dataFile', 'document'];
const LANGUAGES_OF_FENCES = ['', 'bash', 'ts', 'json', 'yaml', 'text', 'http', 'sh', 'python'];

/** A piece of technical text: plain, inline or in a fence. */
export function technicalSnippet(voice: Voice): string {
  const { dice } = voice;
  const kind = dice.pick(dice.chance(0.2) ? OUTPUTS : KINDS);
  const text = textOf(voice, `«${kind}»`);
  if (kind === 'note' || kind === 'table') {
    return text;
  }
  if (dice.chance(0.12)) {
    return text.replaceAll(/^/gm, kind === 'shell' ? '$ ' : '    ');
  }
  return dice.chance(0.6) ? `\`\`\`${dice.pick(LANGUAGES_OF_FENCES)}\n${text}\n\`\`\`` : text;
}

const OPENINGS = 'Hi team,|Hello,|Hi there!|Hi,||||Hey,|## Description|### Steps to reproduce|Hi support,'.split('|');
const CLOSINGS = 'Thanks!|Thank you|Cheers||||Best regards|Any help is appreciated.|/cc @docs-team'.split('|');

/** The ticket `index` of the seed's sequence. Its people are known to the helpdesk and not named in the text. */
export function technicalTicket(dice: Dice, seed: number, index: number): GeneratedTicket {
  dice.seed(seed, 3, index);
  const locale = dice.pick(LOCALE_NAMES);
  const language = LANGUAGES[LOCALES[dice.chance(0.6) ? 'en_US' : locale].language];
  const parts = dice.times(1, 3, () => technicalSnippet({ dice, locale, language }));
  const sentences = dice.sample(language.filler, dice.int(0, 2));
  const text = [dice.pick(OPENINGS), ...dice.shuffle([...parts, ...sentences]), dice.pick(CLOSINGS)]
    .filter((part) => part !== '')
    .join('\n\n');
  const people = [locale, dice.pick(LOCALE_NAMES)].map((each) => recordOf(dice, makeCharacter(dice, each)));
  return { fragment: text, people, region: 'US', manyRegions: false };
}
