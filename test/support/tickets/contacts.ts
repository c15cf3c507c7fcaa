/** Phone numbers, postal addresses and dates of birth in the forms of their country. */
import { type CountryCode, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { Dice } from './dice.ts';
import { LOCALES, type LocaleName } from './locales.ts';

/** Ordinary national numbers: their number of digits, and the prefixes of mobile numbers. */
const MOBILE: Partial<Record<CountryCode, readonly [length: number, prefixes: readonly string[]]>> = {
  US: [10, ['212', '415', '312', '646', '713', '206']],
  GB: [10, ['7']],
  IN: [10, ['9', '8', '7']],
  AU: [9, ['4']],
  CA: [10, ['416', '604', '514']],
  IE: [9, ['8']],
  ZA: [9, ['7', '8', '6']],
  DE: [11, ['15', '16', '17']],
  AT: [10, ['66', '67']],
  CH: [9, ['7']],
  FR: [9, ['6', '7']],
  BE: [9, ['4']],
  ES: [9, ['6', '7']],
  MX: [10, ['55', '33', '81']],
  AR: [10, ['11', '351', '341']],
  CO: [10, ['3']],
  PE: [9, ['9']],
  CL: [9, ['9']],
  BR: [11, ['119', '219', '319', '419', '859']],
  PT: [9, ['9']],
  IT: [10, ['3']],
  NL: [9, ['6']],
  PL: [9, ['5', '6', '7']],
  CZ: [9, ['6', '7']],
  SK: [9, ['9']],
  SE: [9, ['7']],
  DK: [8, ['2', '3', '4', '5']],
  NO: [8, ['4', '9']],
  FI: [9, ['4', '5']],
  HU: [9, ['20', '30', '70']],
  RO: [9, ['7']],
  TR: [10, ['5']],
  RU: [10, ['9']],
  UA: [9, ['50', '63', '67', '93']],
  GR: [10, ['69']],
  IL: [9, ['5']],
  SA: [9, ['5']],
  IR: [10, ['9']],
  JP: [10, ['70', '80', '90']],
  KR: [10, ['10']],
  CN: [11, ['13', '15', '17', '18']],
  TW: [9, ['9']],
  VN: [9, ['3', '7', '8', '9']],
  TH: [9, ['6', '8', '9']],
  ID: [11, ['81', '85', '87']],
  HR: [9, ['9']],
};
const ORDINARY = new Set(['MOBILE', 'FIXED_LINE', 'FIXED_LINE_OR_MOBILE']);

export interface Phone {
  /** As people write it, in any form. */
  readonly text: string;
  /** Digits only, without separators and plus sign. */
  readonly bare: boolean;
}

function validNumber(dice: Dice, region: CountryCode) {
  const [length, prefixes] = MOBILE[region] ?? [9, ['']];
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

/** A valid number of the region as its people write it; `international`: with its country code. */
export function phoneNumber(dice: Dice, region: CountryCode, international = dice.chance(0.4)): Phone {
  const number = validNumber(dice, region);
  if (international) {
    const spaced = number.formatInternational();
    const code = number.countryCallingCode;
    const national = spaced.slice(code.length + 2);
    const text = dice.pick([
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
      `+${code} ${grouped(dice, number.nationalNumber)}`,
      ...(['GB', 'DE', 'NL', 'AT', 'CH'].includes(region)
        ? [`+${code} (0)${national}`, `+${code} (0) ${national}`]
        : []),
    ]);
    return { text, bare: /^\d+$/.test(text) };
  }
  const national = number.formatNational();
  const digits = national.replaceAll(/\D/g, '');
  const text = dice.pick([
    national,
    national,
    national,
    national.replaceAll(/[ -]+/g, '-'),
    national.replaceAll(/[()]/g, '').replaceAll(/[ -]+/g, '.'),
    national.replaceAll(/[()]/g, '').replaceAll(/[ -]+/g, ' '),
    digits,
    ...(['DE', 'AT', 'CH', 'BE', 'SK', 'IL'].includes(region)
      ? [national.replace(/[ -]/, '/'), national.replace(/[ -]/, ' / ')]
      : []),
    ...(['US', 'CA'].includes(region)
      ? [
          `${national} x${dice.int(10, 9999)}`,
          `${national} ext. ${dice.int(10, 999)}`,
          `1-${national.replaceAll(/[() -]+/g, '-').slice(1)}`,
          `(${digits.slice(0, 3)})${digits.slice(3, 6)}-${digits.slice(6)}`,
        ]
      : []),
    ...(['FR', 'DK', 'NO', 'BE'].includes(region)
      ? [digits.replaceAll(/(\d\d)(?=\d)/g, '$1.'), digits.replaceAll(/(\d\d)(?=\d)/g, '$1 ')]
      : []),
    ...(['ES', 'PT', 'PL', 'CZ', 'HU'].includes(region)
      ? [digits.replaceAll(/(\d{3})(?=\d)/g, '$1 '), digits.replaceAll(/(\d{3})(?=\d)/g, '$1-')]
      : []),
    ...(region === 'CN' && digits.length === 11
      ? [
          `${digits.slice(0, 3)} ${digits.slice(3, 7)} ${digits.slice(7)}`,
          `${digits.slice(0, 3)}-${digits.slice(3, 7)}-${digits.slice(7)}`,
        ]
      : []),
    ...(region === 'BR' && digits.length === 11
      ? [
          `(${digits.slice(0, 2)}) ${digits.slice(2, 7)}-${digits.slice(7)}`,
          `${digits.slice(0, 2)} ${digits[2]} ${digits.slice(3, 7)}-${digits.slice(7)}`,
          `(${digits.slice(0, 2)})${digits.slice(2)}`,
        ]
      : []),
    ...(region === 'IN' ? [`${digits.replace(/^0/, '').slice(0, 5)} ${digits.replace(/^0/, '').slice(5)}`] : []),
  ]);
  return { text, bare: /^\d+$/.test(text) };
}

function grouped(dice: Dice, digits: string): string {
  const size = dice.pick([2, 3, 4]);
  return digits.replaceAll(new RegExp(`(\\d{${size}})(?=\\d{2})`, 'g'), '$1 ');
}

/** A postal address on one line, or on several where `lines` says so. */
export function postalAddress(dice: Dice, locale: LocaleName, lines = false): string {
  const { location } = dice.faker(locale);
  const { region, language } = LOCALES[locale];
  const street = location.streetAddress({ useFullAddress: dice.chance(0.25) });
  const [zip, city, state] = [location.zipCode(), location.city(), location.state()];
  const country = location.country();
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
  const all = dice.chance(0.3) ? [...parts, country] : parts;
  return all.join(lines ? '\n' : ', ');
}

/** The birthday of an adult, in a form of the locale. */
export function birthDate(dice: Dice, locale: LocaleName): string {
  const { language, tag } = LOCALES[locale];
  const [year, month, day] = [dice.int(1942, 2006), dice.int(1, 12), dice.int(1, 28)];
  const [mm, dd] = [String(month).padStart(2, '0'), String(day).padStart(2, '0')];
  const date = new Date(Date.UTC(year, month - 1, day));
  const spelled = (style: 'long' | 'medium') =>
    new Intl.DateTimeFormat(`${tag}-u-ca-gregory-nu-latn`, { dateStyle: style, timeZone: 'UTC' }).format(date);
  if (language === 'ja' || language === 'zh' || language === 'zhTw') {
    return dice.pick([
      `${year}年${month}月${day}日`,
      `${year}/${mm}/${dd}`,
      `${year}-${mm}-${dd}`,
      `${year}.${month}.${day}`,
    ]);
  }
  if (language === 'ko') {
    return dice.pick([
      `${year}년 ${month}월 ${day}일`,
      `${year}.${mm}.${dd}`,
      `${year}-${mm}-${dd}`,
      `${year}. ${month}. ${day}.`,
    ]);
  }
  return dice.pick([
    tag === 'en-US' ? `${mm}/${dd}/${year}` : `${dd}.${mm}.${year}`,
    tag === 'en-US' ? `${month}/${day}/${year}` : `${dd}/${mm}/${year}`,
    `${year}-${mm}-${dd}`,
    `${dd}-${mm}-${year}`,
    `${day}.${month}.${year}`,
    spelled('long'),
    spelled('medium'),
    `${dd}/${mm}/${String(year).slice(2)}`,
  ]);
}
