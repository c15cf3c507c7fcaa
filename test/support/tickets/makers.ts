/** Private values that templates cannot write: those with a check digit, of a country, or of faker's words. */
import { isValidIBAN } from 'ibantools';
import { getCountryCallingCode, type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { Dice } from './dice.ts';
import { CREDENTIAL_WORDS, type Language } from './languages.ts';
import { LOCALES, type LocaleName } from './locales.ts';
import { assemble, type Fragment, fill } from './marked-text.ts';

/** Source of the values of a ticket. */
export interface Voice {
  readonly dice: Dice;
  readonly locale: LocaleName;
  readonly language: Language;
}

/** Values that a template can use, by name. */
export type Names = Map<string, Fragment>;
type Write = (template: string, names?: Names) => Fragment;
type Maker = (voice: Voice, write: Write) => Fragment;

const ORDINARY = new Set(['MOBILE', 'FIXED_LINE', 'FIXED_LINE_OR_MOBILE']);
const string = (fragment: Fragment) => assemble(fragment).text;

function validNumber(dice: Dice, locale: LocaleName): PhoneNumber {
  const { region, digits: length, prefixes } = LOCALES[locale];
  for (let tries = 0; tries < 3000; tries += 1) {
    const mobile = tries > 200 || dice.chance(0.6);
    const prefix = mobile ? dice.pick(prefixes) : String(dice.int(1, 9));
    const digits = prefix + dice.chars('digit', length - prefix.length - (mobile || dice.chance(0.7) ? 0 : 1));
    const parsed = parsePhoneNumberFromString(`+${getCountryCallingCode(region)}${digits}`, region);
    if (parsed?.isValid() && parsed.country === region && ORDINARY.has(parsed.getType() ?? '')) {
      return parsed;
    }
  }
  throw new Error(`no valid number found for ${region}`);
}

/** A valid number of the region with its country code, as people write it. */
function phoneAbroad({ dice, locale }: Voice): string {
  const number = validNumber(dice, locale);
  const spaced = number.formatInternational();
  const code = number.countryCallingCode;
  const national = spaced.slice(code.length + 2);
  const size = dice.pick([2, 3, 4]);
  const grouped = number.nationalNumber.replaceAll(new RegExp(`(\\d{${size}})(?=\\d{2})`, 'g'), '$1 ');
  return dice.pick([
    spaced,
    spaced,
    number.number,
    spaced.replaceAll(' ', '-'),
    spaced.replaceAll(' ', '.'),
    `00${code} ${national}`,
    `00${number.number.slice(1)}`,
    `(+${code}) ${national}`,
    `+${code}-${national}`,
    `+${code} ${national.replaceAll(/[ -]/g, '')}`,
    `+${code} ${grouped}`,
    ...(['GB', 'DE', 'NL', 'AT', 'CH'].includes(LOCALES[locale].region)
      ? [`+${code} (0)${national}`, `+${code} (0) ${national}`]
      : []),
  ]);
}

/** A valid number of the region as its people write it, in a few cases with its country code. */
function phone(voice: Voice, write: Write): string {
  const { dice, locale } = voice;
  if (dice.chance(0.4)) {
    return phoneAbroad(voice);
  }
  const { region, styles } = LOCALES[locale];
  const number = validNumber(dice, locale);
  const national = number.formatNational();
  const open = national.replaceAll(/[()]/g, '');
  const digits = national.replaceAll(/\D/g, '');
  const styled = styles.flatMap((style) => {
    const places = style.split('#').length - 1;
    const left = [digits, number.nationalNumber].filter(({ length }) => length === places).flatMap((text) => [...text]);
    return left.length === 0 ? [] : [string(write(style.replaceAll('#', () => left.shift() ?? '')))];
  });
  return dice.pick([
    national,
    national,
    national,
    national.replaceAll(/[ -]+/g, '-'),
    open.replaceAll(/[ -]+/g, '.'),
    open.replaceAll(/[ -]+/g, ' '),
    digits,
    ...(['DE', 'AT', 'CH', 'BE', 'SK', 'IL'].includes(region)
      ? [national.replace(/[ -]/, '/'), national.replace(/[ -]/, ' / ')]
      : []),
    ...styled,
  ]);
}

/** A postal address on one line, or on several where `lines` says so. */
function postalAddress({ dice, locale }: Voice, lines: boolean): string {
  const { location } = dice.faker(locale);
  const { region, language } = LOCALES[locale];
  const street = location.streetAddress({ useFullAddress: dice.chance(0.25) });
  const [zip, city, state] = [location.zipCode(), location.city(), location.state()];
  if (language === 'ja') {
    return `${dice.pick(['〒', '〒 ', ''])}${zip} ${state}${city}${dice.int(1, 9)}-${dice.int(1, 30)}-${dice.int(1, 20)}${dice.pick(['', ` ${street.split(' ').at(-1)}`])}`;
  }
  if (language === 'zh' || language === 'zhTw') {
    return `${state}${city}${street}${dice.pick(['', `${dice.int(1, 20)}单元${dice.int(101, 2099)}室`])}${dice.pick(['', ` ${zip}`])}`;
  }
  if (language === 'ko') {
    return `${state} ${city} ${street}${dice.pick(['', ` (${zip})`])}`;
  }
  const parts = ['US', 'CA', 'AU', 'IN', 'ZA'].includes(region)
    ? [street, `${city}, ${state} ${zip}`]
    : ['GB', 'IE'].includes(region)
      ? [street, city, zip]
      : ['RU', 'UA'].includes(region)
        ? [zip, city, street]
        : [street, `${zip} ${city}`];
  const all = dice.chance(0.3) ? [...parts, location.country()] : parts;
  return all.join(lines ? '\n' : ', ');
}

function birthDate({ locale }: Voice, write: Write): Fragment {
  const { language, region } = LOCALES[locale];
  if (language === 'ja' || language === 'zh' || language === 'zhTw') {
    return write('«dateChinese»');
  }
  return write(language === 'ko' ? '«dateKorean»' : region === 'US' ? '«dateAmerican»' : '«datePadded»');
}

function spelledDate({ dice, locale }: Voice): string {
  const { language, region } = LOCALES[locale];
  const date = new Date(Date.UTC(dice.int(1942, 2006), dice.int(0, 11), dice.int(1, 28)));
  const dateStyle = dice.pick(['long', 'medium'] as const);
  return new Intl.DateTimeFormat(`${language}-${region}-u-ca-gregory-nu-latn`, { dateStyle, timeZone: 'UTC' }).format(
    date,
  );
}

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

const english = ({ dice }: Voice) => dice.faker('en_US');
const noun = (voice: Voice) => slug(english(voice).word.noun({ length: { min: 4, max: 9 } })) || 'cloud';

/** An email address that is plausible for the locale, of a person with these names if there are any. */
export function emailAddress(voice: Voice, write: Write, given = '', family = ''): string {
  const { dice, language } = voice;
  const { person } = english(voice);
  const first = slug(given) || slug(person.firstName());
  const names: Names = new Map([
    ['first', first],
    ['initial', first.charAt(0)],
    ['last', slug(family) || slug(person.lastName())],
    ['provider', dice.pick(language.providers.length > 0 ? language.providers : ['gmail.com', 'outlook.com'])],
  ]);
  const address = string(write('«mailbox»@«mailDomain»', names));
  const capitalized = () => address.replace(/^[a-z]|(?<=[._-])[a-z](?=.*@)/g, (letter) => letter.toUpperCase());
  return dice.chance(0.05) ? address.toUpperCase() : dice.chance(0.05) ? capitalized() : address;
}

function iban(voice: Voice): string {
  for (;;) {
    const account = english(voice).finance.iban({ formatted: voice.dice.chance(0.65) });
    if (isValidIBAN(account.replaceAll(' ', ''))) {
      return account;
    }
  }
}

function ipv4({ dice }: Voice): string {
  for (;;) {
    const [first, ...others] = [dice.int(1, 223), dice.int(0, 255), dice.int(0, 255), dice.int(1, 254)] as const;
    // Networks that begin with these numbers are private, for examples, or the same everywhere.
    if (![10, 100, 127, 169, 172, 192, 198, 203].includes(first) && others.some((octet) => octet > 29)) {
      return [first, ...others].join('.');
    }
  }
}

function jsonWebToken({ dice }: Voice): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = encode({ alg: dice.pick(['HS256', 'RS256', 'ES256']), typ: 'JWT' });
  const payload = encode({ sub: dice.chars('digit', 10), scope: dice.pick(['read', 'admin', 'docs:write']) });
  return `${header}.${payload}.${dice.chars('base64url', dice.pick([43, 86, 342]))}`;
}

/** A value that needs no escaping in any language. */
const plain = (value: Fragment) => string(value).replaceAll(/[^\w.-]/g, 'x');
const SIMILAR: Readonly<Record<string, string>> = { o: '0', e: '3', a: '@', i: '1' };

export const MAKERS: Readonly<Record<string, Maker>> = {
  phone,
  phoneAbroad,
  dialled: (voice) => phoneAbroad(voice).replaceAll(/[^\d+]/g, ''),
  digitsAbroad: (voice) => phoneAbroad(voice).replaceAll(/\D/g, '').replace(/^00/, ''),
  postalAddress: (voice) => postalAddress(voice, false),
  addressLines: (voice) => postalAddress(voice, true),
  birthDate,
  spelledDate,
  noun,
  company: (voice) => slug(english(voice).company.name().split(/[ ,]/)[0] ?? '') || 'acme',
  leet: (voice) => noun(voice).replaceAll(/[oeai]/g, (letter) => SIMILAR[letter] ?? letter),
  emailAddress: (voice, write) => emailAddress(voice, write),
  escapedEmail: (voice, write) => emailAddress(voice, write).replace('@', '%40'),
  mailSentence: (voice, write) => fill(voice.dice.pick(voice.language.mail), write('<<email:«emailAddress»>>')),
  card: (voice, write) =>
    english(voice)
      .finance.creditCardNumber(string(write('«cardFormat»')))
      .replaceAll('-', voice.dice.pick(['', ' ', ' ', '-', '-'])),
  iban,
  ipv4,
  jsonWebToken,
  basic: (_, write) => Buffer.from(string(write('«user»:«shellPassword»'))).toString('base64'),
  plainPassword: (_, write) => plain(write('«password»')),
  plainToken: (_, write) => plain(write('«token»')),
  harmless: ({ dice }) => {
    const { en, ...others } = CREDENTIAL_WORDS;
    const words = dice.chance(0.5) ? en : dice.pick(Object.values(others));
    return dice.pick(words?.harmless ?? []);
  },
  labelledCredential: ({ dice }, write) => {
    const words = dice.pick(Object.values(CREDENTIAL_WORDS));
    const isPassword = dice.chance(0.7);
    const value = write(isPassword ? '<<password:«password»>>' : '<<token:«token»>>');
    if (isPassword && dice.chance(0.35)) {
      return fill(dice.pick(words.sentences), write('«quoted»', new Map([['value', value]])));
    }
    const label = dice.pick(isPassword ? words.password : words.token);
    return write(
      '«labelledValue»',
      new Map([
        ['label', label],
        ['value', value],
      ]),
    );
  },
};
