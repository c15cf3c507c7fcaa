/** Values that are written so that a simple pattern does not match them. */
import type { Dice } from './dice.ts';
import { framedPlain, paragraph, type Scene, sceneOf } from './frames.ts';
import { LOCALE_NAMES, LOCALES } from './locales.ts';
import { disguised, type Fragment, fill, type GeneratedTicket, join, mapText, mark, t } from './marked-text.ts';
import { makeCharacter, recordOf } from './people.ts';
import { expandOne, textOf } from './templates.ts';

type Rewrite = (text: string) => string;
interface Disguise {
  readonly name: string;
  /** A sentence with a disguised value. */
  readonly body: (scene: Scene) => Fragment;
}

const each = (text: string, rewrite: (character: string) => string) => [...text].map(rewrite).join('');
const hex = (character: string) => (character.codePointAt(0) ?? 0).toString(16);
const fullWidth: Rewrite = (text) =>
  each(text, (character) =>
    /[!-~]/.test(character) ? String.fromCodePoint((character.codePointAt(0) ?? 0) + 0xfee0) : character,
  );

function quotedPrintable(dice: Dice, text: string): string {
  const encoded = [...text].map((character) => {
    if (character === '=' || character === '@' || (character.codePointAt(0) as number) > 126) {
      return [...Buffer.from(character)].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
    }
    return character;
  });
  const cut = dice.chance(0.5) && encoded.length > 6 ? dice.int(2, encoded.length - 2) : -1;
  return encoded.map((piece, index) => (index === cut ? `=\n${piece}` : piece)).join('');
}

const address = (scene: Scene) => textOf(scene, '«emailAddress»').toLowerCase();

/** Words for `@` and `.`; both are put into the same brackets. */
const WORDED = [
  ['at', 'dot'],
  ['at', 'dot'],
  ['AT', 'DOT'],
  ['at', 'dot'],
  ['arroba', 'punto'],
  ['arobase', 'point'],
  ['ät', 'punkt'],
] as const;
const BRACKETS = ['()', '[]', '{}', '--', '<>', '__'] as const;

function wordedEmail(scene: Scene): string {
  const { dice } = scene;
  const [local = '', domain = ''] = address(scene).split('@');
  const [at, dot] = dice.pick(WORDED);
  if (dice.chance(0.4)) {
    return `${local} ${at} ${domain.replaceAll('.', ` ${dot} `)}`;
  }
  const [open, close] = [...dice.pick(BRACKETS)];
  const space = dice.pick(['', ' ']);
  const bracketed = (text: string) => `${space}${open}${text}${close}${space}`;
  const [spokenLocal, spokenDomain] = dice.pick([
    [local, domain],
    [local, domain],
    [local, domain.replaceAll('.', bracketed(dot))],
    [local, domain.replaceAll('.', ` ${dot} `)],
    [local.replaceAll('.', bracketed(dot)), domain.replaceAll('.', bracketed(dot))],
  ]) as [string, string];
  return `${spokenLocal}${bracketed(at)}${spokenDomain}`;
}

/** A sentence of the ticket's language around an e-mail address. */
const sentenceWith = (scene: Scene, text: string) => fill(scene.dice.pick(scene.language.mail), mark('email', text));

const ENCODED = [
  '«mailSentence»',
  '«mailSentence»',
  '«label.phone»: <<phone:«phoneAbroad»>>',
  'IBAN: <<iban:«iban»>>',
  'Card: <<card:«card»>>',
  'IP: <<ip:«ip»>>',
  'Password: <<password:«password»>>',
  'key: «vendorKey»',
];

/** Rewrites any of the values in a form that a program may have encoded. */
function encoded(rewrite: (dice: Dice, text: string) => string): (scene: Scene) => Fragment {
  return (scene) =>
    mapText(expandOne(scene, ENCODED), (text, label) =>
      label === null || label === 'neutral' ? text : rewrite(scene.dice, text),
    );
}

const ZERO_WIDTH = ['\u200B', '\u200C', '\u200D', '\u2060', '\uFEFF', '\u00AD'];
const punctuation = /[@.:/+=_-]/;

const DISGUISES: readonly Disguise[] = [
  { name: 'words', body: (scene) => sentenceWith(scene, wordedEmail(scene)) },
  { name: 'words', body: (scene) => sentenceWith(scene, wordedEmail(scene)) },
  { name: 'words', body: (scene) => sentenceWith(scene, wordedEmail(scene)) },
  {
    name: 'spaced',
    body: (scene) => sentenceWith(scene, address(scene).replace('@', scene.dice.pick([' @ ', '@ ', ' @']))),
  },
  {
    name: 'markdown',
    body: (scene) =>
      sentenceWith(
        scene,
        address(scene).replaceAll(/[._@+-]/g, (character) =>
          character === '@' ? scene.dice.pick(['@', '\\@']) : `\\${character}`,
        ),
      ),
  },
  {
    name: 'json',
    body: encoded((dice, text) =>
      each(text, (character) =>
        punctuation.test(character) || dice.chance(0.05) ? `\\u${hex(character).padStart(4, '0')}` : character,
      ),
    ),
  },
  {
    name: 'entities',
    body: encoded((dice, text) =>
      each(text, (character) =>
        punctuation.test(character) || dice.chance(0.2)
          ? dice.pick([`&#${character.codePointAt(0)};`, `&#x${hex(character)};`])
          : character,
      ),
    ),
  },
  {
    name: 'named entities',
    body: (scene) =>
      sentenceWith(
        scene,
        address(scene)
          .replaceAll('@', '&commat;')
          .replaceAll('.', scene.dice.pick(['&period;', '.'])),
      ),
  },
  {
    name: 'percent',
    body: (scene) =>
      sentenceWith(
        scene,
        address(scene)
          .replaceAll('@', scene.dice.pick(['%40', '%2540']))
          .replaceAll('.', scene.dice.pick(['.', '%2E'])),
      ),
  },
  {
    name: 'zero width',
    body: encoded((dice, text) =>
      each(text, (character) => character + (dice.chance(0.25) ? dice.pick(ZERO_WIDTH) : '')),
    ),
  },
  { name: 'full width', body: encoded((_, text) => fullWidth(text)) },
  { name: 'quoted-printable', body: encoded(quotedPrintable) },
  {
    name: 'fullwidth at',
    body: (scene) => sentenceWith(scene, address(scene).replace('@', scene.dice.pick(['＠', '﹫']))),
  },
  {
    name: 'wbr',
    body: (scene) =>
      sentenceWith(
        scene,
        address(scene).replace('@', scene.dice.pick(['<wbr>@', '@<wbr>', '<span>@</span>', '<!-- -->@'])),
      ),
  },
  {
    name: 'emphasis',
    body: (scene) => {
      const around = scene.dice.pick(['**', '_', '`', '~~']);
      return t`${scene.dice.pick(scene.language.email)}: ${around}${mark('email', address(scene))}${around}`;
    },
  },
  {
    name: 'spelled phone',
    body: (scene) => {
      const space = scene.dice.pick(['\u00A0', '\u202F', '  ', ' - ', '\u2011']);
      const number = textOf(scene, '«phoneAbroad»').replaceAll(' ', space);
      return t`${scene.dice.pick(scene.language.phone)}: ${mark('phone', number)}`;
    },
  },
];

/** The disguised ticket `index` of the seed's sequence, and the kind of its disguise. */
export function disguisedTicket(
  dice: Dice,
  seed: number,
  index: number,
): GeneratedTicket & { readonly disguise: string } {
  dice.seed(seed, 2, index);
  const locale = dice.pick(LOCALE_NAMES);
  const requester = makeCharacter(dice, locale);
  const agent = makeCharacter(dice, locale);
  const scene = sceneOf(dice, requester, agent);
  const disguise = dice.pick(DISGUISES);
  const body = disguised(disguise.body(scene));
  const simple = dice.chance(0.6) || disguise.name === 'quoted-printable';
  const fragment = simple
    ? join([paragraph(scene), body, dice.pick(scene.language.filler)], '\n\n')
    : framedPlain(scene, [body]);
  return {
    fragment,
    people: [recordOf(dice, requester), recordOf(dice, agent)],
    region: LOCALES[locale].region,
    manyRegions: dice.chance(0.5),
    disguise: disguise.name,
  };
}
