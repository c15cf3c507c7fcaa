import { getExampleNumber } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { redactText } from './redacted.ts';

/** A region, and a word for a phone in its language. */
const REGIONS = {
  AR: 'Teléfono',
  AU: 'Ph',
  BR: 'Celular',
  CH: 'Natel',
  CN: '手机',
  CO: 'Celular',
  CZ: 'Telefon',
  DE: 'Handy',
  DK: 'Mobil',
  ES: 'Móvil',
  FI: 'Puh.',
  FR: 'Tél.',
  GB: 'Mobile',
  GR: 'Κινητό',
  HU: 'Telefonszám',
  ID: 'No. HP',
  IN: 'Mobile no.',
  IT: 'Cellulare',
  JP: '携帯',
  KR: '휴대폰',
  MX: 'Tel',
  NL: 'Telefoonnummer',
  NO: 'Tlf.',
  PE: 'Cel.',
  PL: 'Telefon',
  PT: 'Telemóvel',
  RO: 'Telefon',
  RU: 'Телефон',
  SA: 'جوال',
  SE: 'Mobil',
  TH: 'โทร',
  TR: 'Cep telefonu',
  TW: '手機',
  UA: 'Тел.',
  US: 'Phone',
  VN: 'SĐT',
} as const;
const ALL = Object.keys(REGIONS) as (keyof typeof REGIONS)[];
const SIXTEEN = 'US GB DE FR ES IT BR MX AR CO PE CN JP KR IN AU'.split(' ');

describe.each(ALL)('a mobile number of %s in a local format', (region) => {
  const number = getExampleNumber(region, examples);
  const written = [number?.formatNational() ?? '', number?.formatInternational() ?? ''];
  const label = REGIONS[region];

  it.each([
    (value: string) => `${label}: ${value}`,
    (value: string) => `${label} ${value}`,
    (value: string) => `${label}：${value}`,
    (value: string) => `**${label}:** ${value}`,
    (value: string) => `<b>${label}:</b> ${value}<br>`,
    (value: string) => `| ${label} | ${value} |\n|---|---|`,
    (value: string) => `| Name | ${label} |\n|---|---|\n| Shop | ${value} |`,
    (value: string) => `Hello\n${value}\nbye`,
    (value: string) => `- ${value}`,
  ])('is redacted in layout %#', (layout) => {
    for (const value of written) {
      expect(redactText(layout(value), { regions: [region] })).toBe(layout('[PHONE_1]'));
    }
  });
});

describe.each([[['US']], [SIXTEEN]])('with the regions %j', (regions) => {
  it.each([
    'Firefox 115.0.2.1',
    '0x80070005 (2147942405)',
    '0.410806 BTC',
    'z.string().min(8).max(1234567890)',
    'rows 912 345 678 to go',
    'const LIMIT = 9007199254740991;',
    'retry(3001234567)',
    'pedido 11961234567',
    '订单号 13123456789',
    'Breakpoints: 559 / 962 / 1713',
    'root 63788 97.9 7.7 cache',
    '2024-05-06 10:11:12.345678',
    'https://git.example/runs/7123456789/job/19385743210',
    'heap 3 123 456 789 bytes',
    '123.456.789 rows',
  ])('%s is not redacted', (text) => {
    expect(redactText(text, { regions })).toBe(text);
  });
});
