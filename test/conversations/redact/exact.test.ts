/* Redaction of short texts, to the character: `exact.ndjson` holds one text per line, with its values marked. */
import fc from 'fast-check';
import { getExampleNumber } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { CREDENTIAL_NAMES } from '../../../src/conversations/redact/credentials/credential-labels.ts';
import { createConversationRedactor, type RedactionOptions } from '../../../src/conversations/redact/redactor.ts';
import { LANGUAGES } from '../../support/tickets/languages.ts';
import { LOCALES } from '../../support/tickets/locales.ts';
import { readExamples } from './corpus.ts';

const redactor = createConversationRedactor();

function redactText(text: string, options?: RedactionOptions): string {
  const [explained] = (options === undefined ? redactor : createConversationRedactor(options)).explain(text);
  return explained?.redacted ?? '';
}

it.each(readExamples('exact.ndjson'))('$id', ({ text, marks, options }) => {
  let [expected, from] = ['', 0];
  for (const [index, { type, start, end }] of marks.entries()) {
    expected += `${text.slice(from, start)}[${type.toUpperCase()}_${index + 1}]`;
    from = end;
  }
  expect(redactText(text, options)).toBe(expected + text.slice(from));
});

describe('credentials', () => {
  it('with a version prefix are secrets after any name, header or parameter', () => {
    const version = fc.stringMatching(/^v\d{1,2}[._]?$/);
    const rest = fc.stringMatching(/^[a-f0-9]{4}[A-Za-z0-9]{8,40}[0-9]$/);
    const places = ['API_KEY=', 'token: ', '?token=', 'X-Auth-Token: ', '"client_secret": "', 'secret = '];
    fc.assert(
      fc.property(fc.constantFrom(...places), version, rest, (before, start, end) => {
        expect(redactText(`${before}${start}${end}`)).toBe(`${before}[SECRET_1]`);
      }),
    );
  });

  it('are found after every name, before a colon, a cell and an element, and with combining characters', () => {
    const value = fc.stringMatching(/^[a-hj-z]{4}[0-9]{4}[A-Z]{2}[a-z]{2}$/);
    fc.assert(
      fc.property(fc.constantFrom(...CREDENTIAL_NAMES), value, ({ name, kind }, secret) => {
        const own = kind === 'pin' ? '482193' : secret;
        const forms = [
          `${name}: ${own}`,
          `${name}：${own}`,
          `| ${name} | ${own} |`,
          `${name}\t${own}`,
          `<b>${name}:</b> ${own}`,
          `<td>${name}</td><td>${own}</td>`,
          `${name.normalize('NFD')}: ${own}`,
          `${name.toUpperCase()} : ${own}`,
        ];
        for (const text of forms) {
          expect(redactText(text), text).not.toContain(own);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('that are placeholders stay, with the rest of their line', () => {
    const placeholders = ['<token>', 'YOUR_API_KEY', '$' + '{TOKEN}', '{{ token }}', 'xxxxx', '***', '...', '$TOKEN'];
    const before = ['Authorization: Bearer ', 'token: ', 'API_KEY=', 'X-Api-Key: ', 'password: ', '`secret='];
    const rest = [
      '` header. More text',
      ' and then the build b2c3d4e5 fails',
      ' # replace it by step 3a',
      '", "page": 2',
    ];
    for (const start of before) {
      for (const text of placeholders.flatMap((middle) => rest.map((end) => `${start}${middle}${end}`))) {
        expect(redactText(text)).toBe(text);
      }
    }
  });
});

const REGIONS =
  'AR AU BR CH CN CO CZ DE DK ES FI FR GB GR HU ID IN IT JP KR MX NL NO PE PL PT RO RU SA SE TH TR TW UA US VN';
const LAYOUTS: readonly ((label: string, value: string) => string)[] = [
  (label, value) => `${label}: ${value}`,
  (label, value) => `${label} ${value}`,
  (label, value) => `${label}：${value}`,
  (label, value) => `**${label}:** ${value}`,
  (label, value) => `<b>${label}:</b> ${value}<br>`,
  (label, value) => `| ${label} | ${value} |\n|---|---|`,
  (label, value) => `| Shop | ${label} |\n|---|---|\n| Main | ${value} |`,
  (_, value) => `Hello\n${value}\nbye`,
  (_, value) => `- ${value}`,
];

it.each(Object.values(LOCALES).filter(({ region }) => REGIONS.includes(region)))(
  'a mobile number of $region is redacted in its local formats, after each label of $language',
  ({ region, language }) => {
    const number = getExampleNumber(region, examples);
    for (const written of [number?.formatNational() ?? '', number?.formatInternational() ?? '']) {
      for (const layout of LAYOUTS) {
        for (const label of LANGUAGES[language].phone) {
          expect(redactText(layout(label, written), { regions: [region] })).toBe(layout(label, '[PHONE_1]'));
        }
      }
    }
  },
);
