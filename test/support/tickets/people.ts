/** Invented people: their names in the order of their language, and the forms in which tickets mention them. */
import type { Person } from '../../../src/conversations/model/ticket.ts';
import type { Dice } from './dice.ts';
import type { LanguageCode } from './languages.ts';
import { LANGUAGES } from './languages.ts';
import { LOCALES, type LocaleName } from './locales.ts';
import { emailAddress, type Names } from './makers.ts';
import { type Fragment, mark, neutral, t } from './marked-text.ts';
import { expand } from './templates.ts';

export interface Character {
  readonly locale: LocaleName;
  readonly given: string;
  readonly family: string;
  readonly full: string;
  readonly email: string;
}

const FAMILY_FIRST: ReadonlySet<LanguageCode> = new Set(['hu', 'ja', 'ko', 'zh', 'zhTw', 'vi']);
const CJK: ReadonlySet<LanguageCode> = new Set(['ja', 'ko', 'zh', 'zhTw']);
const BY_GIVEN_NAME: ReadonlySet<LanguageCode> = new Set(['tr', 'th', 'vi', 'id', 'ar']);

export function makeCharacter(dice: Dice, locale: LocaleName): Character {
  const { language } = LOCALES[locale];
  const faker = dice.faker(locale);
  const given = faker.person.firstName();
  const { particles } = LANGUAGES[language];
  const plain = faker.person.lastName();
  const family =
    particles.length > 0 && !plain.includes(' ') && dice.chance(0.15)
      ? dice.pick(particles).replace('{}', plain)
      : plain;
  const space = language === 'zh' || language === 'zhTw' ? '' : CJK.has(language) ? dice.pick(['', ' ', ' ']) : ' ';
  const full = FAMILY_FIRST.has(language) ? `${family}${space}${given}` : `${given} ${family}`;
  const voice = { dice, locale, language: LANGUAGES[language] };
  const write = (template: string, names?: Names) => expand(voice, template, names);
  return { locale, given, family, full, email: emailAddress(voice, write, given, family) };
}

/** A person's data in a helpdesk. */
export function recordOf(dice: Dice, { full, given, family, email, locale }: Character): Person {
  const cjk = CJK.has(LOCALES[locale].language);
  return { names: [!cjk && dice.chance(0.08) ? `${family}, ${given}` : full], emails: dice.chance(0.9) ? [email] : [] };
}

/** A reference to a person within a sentence. */
export function reference(dice: Dice, character: Character): Fragment {
  const { given, family, full, locale } = character;
  const { language } = LOCALES[locale];
  if (CJK.has(language)) {
    return cjkReference(dice, character);
  }
  const whole = [mark('person', full)];
  const [firstWord = given] = given.split(' ');
  return dice.pick<Fragment>([
    whole,
    whole,
    mark('person', given),
    mark('person', firstWord),
    titled(dice, character),
    language === 'en' ? t`${neutral(`${given[0]}. `)}${mark('person', family)}` : whole,
    ['en', 'de', 'fr', 'nl'].includes(language) && !family.includes(' ')
      ? mark('person', `${family}, ${given}`)
      : whole,
    ['fr', 'en', 'es'].includes(language) ? mark('person', `${given} ${family.toUpperCase()}`) : whole,
  ]);
}

function titled(dice: Dice, { given, family, locale }: Character): Fragment {
  const { language } = LOCALES[locale];
  const name = BY_GIVEN_NAME.has(language) ? given : family;
  return honoured(dice.pick(LANGUAGES[language].title), mark('person', name));
}

/** A name with its form of address, which may be removed with it. */
function honoured(form: string, name: Fragment): Fragment {
  const [before = '', after = ''] = form.split('{}');
  return t`${neutral(before)}${name}${neutral(after)}`;
}

function cjkReference(dice: Dice, { given, family, full, locale }: Character): Fragment {
  const { language, title } = { ...LOCALES[locale], ...LANGUAGES[LOCALES[locale].language] };
  const joined = full.replace(' ', '');
  const honorific = dice.pick(title);
  const references: Fragment[] = [
    mark('person', joined),
    mark('person', full),
    honoured(honorific, mark('person', family)),
  ];
  if (language === 'ja') {
    references.push(
      honoured(dice.pick(['{}さん', '{}くん', '{}ちゃん', '{}様']), mark('person', given)),
      mark('person', `${family}\u3000${given}`),
      honoured(honorific, mark('person', full)),
    );
  } else if (language === 'ko') {
    references.push(
      honoured(dice.pick(['{}님', '{} 님', '{}씨', '{} 씨']), mark('person', given)),
      honoured(honorific, mark('person', full)),
    );
  } else {
    references.push(
      honoured(honorific, mark('person', full)),
      honoured(dice.pick(['老{}', '小{}']), mark('person', family)),
    );
    if (given.length > 1) {
      references.push(mark('person', given));
    }
  }
  return dice.pick(references);
}

/** A name in the greeting or signature of a message. */
export function salutation(dice: Dice, character: Character): Fragment {
  const { given, full, locale } = character;
  const { language } = LOCALES[locale];
  if (CJK.has(language)) {
    return mark('person', dice.pick([full, character.family, full.replace(' ', '')]));
  }
  return dice.pick<Fragment>([mark('person', given), mark('person', full), titled(dice, character)]);
}
