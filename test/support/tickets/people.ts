/** Invented people: their names in the order of their language, and the forms in which tickets mention them. */
import type { Person } from '../../../src/conversations/model/ticket.ts';
import type { Dice } from './dice.ts';
import type { LanguageCode } from './languages.ts';
import { LANGUAGES } from './languages.ts';
import { LOCALES, type LocaleName } from './locales.ts';
import { type Fragment, mark, neutral, t } from './marked-text.ts';

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

const PARTICLES: Partial<Record<LanguageCode, readonly string[]>> = {
  nl: ['van der {}', 'van {}', 'de {}', 'van den {}', 'ter {}', "van 't {}", 'Van der {}'],
  de: ['von {}', 'von der {}', 'zu {}', 'von und zu {}'],
  fr: ['de {}', "d'{}", 'de la {}', 'du {}', 'Le {}', 'D’{}'],
  es: ['de la {}', 'de los {}', 'de {}', 'del {}'],
  pt: ['da {}', 'dos {}', 'de {}'],
  it: ['Di {}', 'De {}', "D'{}", 'Della {}', 'Lo {}'],
  en: ["O'{}", 'Mc{}', 'Mac{}', 'St. {}', 'de {}'],
  ar: ['بن {}', 'أبو {}', 'آل {}'],
  he: ['בן {}', 'בר {}'],
  da: ['von {}', 'af {}'],
  sv: ['af {}', 'von {}'],
};

const PROVIDERS: Partial<Record<LanguageCode, readonly string[]>> = {
  de: ['web.de', 'gmx.de', 't-online.de', 'gmx.net', 'posteo.de', 'bluewin.ch', 'freenet.de'],
  fr: ['orange.fr', 'wanadoo.fr', 'free.fr', 'laposte.net', 'sfr.fr', 'videotron.ca'],
  es: ['hotmail.es', 'yahoo.es', 'telefonica.net', 'prodigy.net.mx', 'fibertel.com.ar'],
  pt: ['uol.com.br', 'bol.com.br', 'terra.com.br', 'sapo.pt', 'hotmail.com.br'],
  it: ['libero.it', 'tiscali.it', 'alice.it', 'pec.it', 'virgilio.it'],
  nl: ['ziggo.nl', 'kpnmail.nl', 'xs4all.nl', 'telenet.be', 'skynet.be'],
  pl: ['wp.pl', 'onet.pl', 'interia.pl', 'o2.pl'],
  cs: ['seznam.cz', 'email.cz', 'centrum.cz'],
  ru: ['mail.ru', 'yandex.ru', 'bk.ru', 'inbox.ru', 'rambler.ru'],
  uk: ['ukr.net', 'i.ua', 'meta.ua'],
  ja: ['yahoo.co.jp', 'docomo.ne.jp', 'softbank.ne.jp', 'ezweb.ne.jp'],
  ko: ['naver.com', 'daum.net', 'hanmail.net', 'kakao.com', 'nate.com'],
  zh: ['qq.com', '163.com', '126.com', 'sina.com.cn', 'foxmail.com', 'aliyun.com'],
  zhTw: ['yahoo.com.tw', 'pchome.com.tw', 'hinet.net'],
  en: ['btinternet.com', 'sky.com', 'comcast.net', 'bigpond.com', 'rogers.com', 'rediffmail.com', 'aol.com'],
};
const WORLDWIDE = 'gmail.com|outlook.com|hotmail.com|icloud.com|yahoo.com|proton.me|live.com|me.com'.split('|');
const SUFFIXES =
  'com com com net org io dev app co.uk de fr nl es it com.br pt pl cz se dk no fi hu ro com.tr ru ua gr co.il ae ir co.jp jp co.kr com.cn cn com.tw vn co.th co.id hr eu ch at be ca com.au co.nz in co.in ie mx com.mx com.ar com.co pe cl us biz info tech cloud ai agency software systems consulting tv me xyz online shop'.split(
    ' ',
  );

/** The ASCII letters of a name; empty if there are none. */
function slug(text: string): string {
  return text
    .normalize('NFD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ø', 'o')
    .replaceAll('ł', 'l')
    .replaceAll('ı', 'i')
    .replaceAll(/[^a-z]/g, '');
}

export function makeCharacter(dice: Dice, locale: LocaleName): Character {
  const { language } = LOCALES[locale];
  const faker = dice.faker(locale);
  const given = faker.person.firstName();
  const particles = PARTICLES[language];
  const plain = faker.person.lastName();
  const family =
    particles !== undefined && !plain.includes(' ') && dice.chance(0.15)
      ? dice.pick(particles).replace('{}', plain)
      : plain;
  const space = language === 'zh' || language === 'zhTw' ? '' : CJK.has(language) ? dice.pick(['', ' ', ' ']) : ' ';
  const full = FAMILY_FIRST.has(language) ? `${family}${space}${given}` : `${given} ${family}`;
  return { locale, given, family, full, email: emailAddress(dice, locale, given, family) };
}

/** An email address that is plausible for the locale. */
export function emailAddress(dice: Dice, locale: LocaleName, given?: string, family?: string): string {
  const { language } = LOCALES[locale];
  const english = dice.faker('en_US');
  const first = slug(given ?? '') || slug(english.person.firstName());
  const last = slug(family ?? '') || slug(english.person.lastName());
  const digits = dice.pick(['', '', String(dice.int(1, 99)), String(dice.int(1955, 2006))]);
  const local = dice.pick([
    `${first}.${last}`,
    `${first}.${last}${digits}`,
    `${first}${last}${digits}`,
    `${first}_${last}`,
    `${first[0]}${last}${digits}`,
    `${first[0]}.${last}`,
    `${first}${digits}`,
    `${last}.${first}`,
    `${first}-${last}`,
    `${first}.${last}+${dice.pick(['docs', 'test', 'support', 'news'])}`,
    dice.pick(['info', 'office', 'billing', 'it', 'docs', 'kontakt', 'contact', 'hr', 'accounts']),
    dice.chars('digit', dice.int(6, 10)),
  ]);
  const company = slug(english.company.name().split(/[ ,]/)[0] ?? '') || 'acme';
  const word = slug(english.word.noun()) || 'cloud';
  const domain = dice.pick([
    dice.pick(WORLDWIDE),
    dice.pick(PROVIDERS[language] ?? WORLDWIDE),
    `${company}.${dice.pick(SUFFIXES)}`,
    `${company}-${word}.${dice.pick(SUFFIXES)}`,
    `${dice.pick(['mail', 'corp', 'it', 'eu', 'support'])}.${word}${dice.pick(['', '24', 'hub', 'labs'])}.${dice.pick(SUFFIXES)}`,
  ]);
  const address = `${local}@${domain}`;
  return dice.chance(0.05) ? address.toUpperCase() : dice.chance(0.05) ? capitalized(address) : address;
}

function capitalized(address: string): string {
  return address.replace(/^[a-z]|(?<=[._-])[a-z](?=.*@)/g, (letter) => letter.toUpperCase());
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
