/** Locales of the generator: faker's data, the language of the phrases, and the region of phone numbers. */
import { allLocales, type LocaleDefinition } from '@faker-js/faker';
import type { CountryCode } from 'libphonenumber-js';
import type { LanguageCode } from './languages.ts';

export interface Locale {
  readonly definitions: readonly LocaleDefinition[];
  readonly language: LanguageCode;
  readonly region: CountryCode;
  /** BCP 47 tag for dates. */
  readonly tag: string;
}

const locale = (
  names: readonly (keyof typeof allLocales)[],
  language: LanguageCode,
  region: CountryCode,
  tag = `${language}-${region}`,
): Locale => ({
  definitions: ([...names, 'en', 'base'] as const).map((name) => allLocales[name]),
  language,
  region,
  tag,
});

export const LOCALES = {
  en_US: locale(['en_US'], 'en', 'US'),
  en_GB: locale(['en_GB'], 'en', 'GB'),
  en_IN: locale(['en_IN'], 'en', 'IN'),
  en_AU: locale(['en_AU'], 'en', 'AU'),
  en_CA: locale(['en_CA'], 'en', 'CA'),
  en_IE: locale(['en_IE'], 'en', 'IE'),
  en_ZA: locale(['en_ZA'], 'en', 'ZA'),
  de: locale(['de'], 'de', 'DE'),
  de_AT: locale(['de_AT', 'de'], 'de', 'AT'),
  de_CH: locale(['de_CH', 'de'], 'de', 'CH'),
  fr: locale(['fr'], 'fr', 'FR'),
  fr_BE: locale(['fr_BE', 'fr'], 'fr', 'BE'),
  fr_CA: locale(['fr_CA', 'fr'], 'fr', 'CA'),
  fr_CH: locale(['fr_CH', 'fr'], 'fr', 'CH'),
  es: locale(['es'], 'es', 'ES'),
  es_MX: locale(['es_MX', 'es'], 'es', 'MX'),
  es_AR: locale(['es'], 'es', 'AR'),
  es_CO: locale(['es_MX', 'es'], 'es', 'CO'),
  es_PE: locale(['es_MX', 'es'], 'es', 'PE'),
  es_CL: locale(['es'], 'es', 'CL'),
  pt_BR: locale(['pt_BR'], 'pt', 'BR'),
  pt_PT: locale(['pt_PT'], 'pt', 'PT'),
  it: locale(['it'], 'it', 'IT'),
  nl: locale(['nl'], 'nl', 'NL'),
  nl_BE: locale(['nl_BE', 'nl'], 'nl', 'BE'),
  pl: locale(['pl'], 'pl', 'PL'),
  cs_CZ: locale(['cs_CZ'], 'cs', 'CZ'),
  sk: locale(['sk'], 'sk', 'SK'),
  sv: locale(['sv'], 'sv', 'SE'),
  da: locale(['da'], 'da', 'DK'),
  nb_NO: locale(['nb_NO'], 'nb', 'NO'),
  fi: locale(['fi'], 'fi', 'FI'),
  hu: locale(['hu'], 'hu', 'HU'),
  ro: locale(['ro'], 'ro', 'RO'),
  tr: locale(['tr'], 'tr', 'TR'),
  ru: locale(['ru'], 'ru', 'RU'),
  uk: locale(['uk'], 'uk', 'UA'),
  el: locale(['el'], 'el', 'GR'),
  he: locale(['he'], 'he', 'IL'),
  ar: locale(['ar'], 'ar', 'SA'),
  fa: locale(['fa'], 'fa', 'IR'),
  ja: locale(['ja'], 'ja', 'JP'),
  ko: locale(['ko'], 'ko', 'KR'),
  zh_CN: locale(['zh_CN'], 'zh', 'CN'),
  zh_TW: locale(['zh_TW'], 'zhTw', 'TW', 'zh-TW'),
  vi: locale(['vi'], 'vi', 'VN'),
  th: locale(['th'], 'th', 'TH'),
  id_ID: locale(['id_ID'], 'id', 'ID'),
  hr: locale(['hr'], 'hr', 'HR'),
} satisfies Record<string, Locale>;

export type LocaleName = keyof typeof LOCALES;
export const LOCALE_NAMES = Object.keys(LOCALES) as LocaleName[];

/** Regions of an organization with customers in many countries. */
export const SIXTEEN_REGIONS = 'US GB DE FR ES IT BR PT NL PL TR JP KR CN IN MX'.split(' ') as CountryCode[];
