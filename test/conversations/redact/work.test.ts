import { afterEach, expect, it, vi } from 'vitest';
import { createConversationRedactor } from '../../../src/conversations/redact/redactor.ts';
import { pickCases } from '../../support/campaign.ts';
import { ticketOf } from './corpus.ts';

/** Texts designed to keep a redactor busy: half of a value, repeated. */
const HOSTILE: readonly string[] = [
  '12345 Aa ',
  'A Aa, 12345 Aa ',
  'Aa, OR 97209 ',
  'ул. Аа ',
  '市路1',
  'a@',
  '@a',
  'a@b.',
  'a.',
  'a-',
  '1',
  '1-',
  '1 ',
  '12 ',
  '(1) ',
  '+1 ',
  '+1 (555) ',
  '4111 ',
  '1.2.3.',
  '1:',
  '::',
  '"',
  '"\\"',
  '{"a":',
  'password',
  'password:"',
  'password for ',
  'token=',
  'token ',
  '://',
  '://a:',
  '-----BEGIN PRIVATE KEY-----',
  'eyJ',
  'hasło to ',
  'пароль: ',
  'パスワードは',
  '| password |',
  'password\n',
  '<b>password</b> ',
  '<input type=password ',
  'curl -u ',
  'mysql -p',
  'kind: Secret\ndata:\n  a: ',
  'adafruit=',
  'eyJaaaaaaaaaa.',
  'sk-',
  'AKIA',
  `AKIA${'2345'.repeat(4)} `,
  'bearer ',
  'cookie: a=',
  'DE89 ',
  'DE893704',
  '123-45-',
  '&amp;#',
  '%25',
  '=\n',
  'ana ',
  'a at b dot ',
  'a (at) ',
  'é',
  '\u200b',
  '[EMAIL_1]',
  '[EMAIL_',
  '\n> ',
  'CUST-',
  'address: ',
  'address: 1 a\n',
  'dob 1.1.1980 ',
  'passport A1234567 ',
  'a,b\n',
  '"a",',
  'name,email,dob\nAna Smith,1,2\n',
  '| Name | Address |\n',
  'Ana Smith <a@b',
  'Ana <',
  'password          ',
  'phone 12345678 ',
  'Hi Ana,\n',
  'Thanks,\nAna\n',
  '田中さん',
  '王王王王',
  '김김 ',
  'a.pdf ',
  'cv a b.pdf ',
  'a=40a.',
  '\\u0040',
  '\\.',
  ' at a dot ',
  ' @ ',
  'https://',
  'https://a/?token=',
  'https://a/reset/',
  'github.com/',
  '3c:22:',
  '𝖺',
];

const PEOPLE = [{ names: ['Ana Ana Ana Smith', 'Müller'], emails: ['ana@acme.example'] }];
const OPTIONS = { regions: ['US', 'DE', 'GB', 'FR'], patterns: [{ name: 'customer', pattern: 'CUST-\\d+' }] };

interface Work {
  /** Number of calls of a pattern, and of the characters that it read. */
  calls: number;
  characters: number;
  /** Patterns that received a long text. */
  readonly wide: Set<string>;
}

/** Counts the calls of patterns during an operation. */
function workOf(action: () => void): Work {
  const work: Work = { calls: 0, characters: 0, wide: new Set() };
  // biome-ignore lint/suspicious/noExplicitAny: the original function accepts and returns any type
  const exec = RegExp.prototype.exec as any;
  vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, text: string) {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const answer = exec.call(this, text) as RegExpExecArray | null;
    work.calls += 1;
    // A sticky pattern checks one position only.
    const asked = answer === null ? (this.sticky ? 1 : text.length - from) : answer.index + answer[0].length - from;
    work.characters += asked;
    if (text.length > 10_000) {
      work.wide.add(this.source);
    }
    return answer;
  });
  action();
  vi.restoreAllMocks();
  return work;
}

afterEach(() => vi.restoreAllMocks());

/** Limits per character: calls of patterns, and characters that they read, including the context of candidates. */
const CALLS = 120;
const CHARACTERS = 4000;
const LENGTH = 2500;

it.each(pickCases(HOSTILE, 30))('takes linear time for repetitions of %j', (piece) => {
  const redactor = createConversationRedactor(OPTIONS);
  const of = (length: number) => {
    const ticket = ticketOf([`x${piece.repeat(Math.ceil(length / piece.length))}`], PEOPLE);
    return workOf(() => redactor.redact(ticket));
  };
  const short = of(LENGTH);
  const long = of(4 * LENGTH);
  expect(long.calls).toBeLessThan(4.5 * short.calls + 1000);
  expect(long.characters).toBeLessThan(4.5 * short.characters + 100_000);
  expect(long.calls / (4 * LENGTH)).toBeLessThan(CALLS);
  expect(long.characters / (4 * LENGTH)).toBeLessThan(CHARACTERS);
});

it.each(['1 ', '1:', '+1 (555) '])('uses no stack for each repetition of %j', (piece) => {
  expect(createConversationRedactor().text(piece.repeat(100_000 / piece.length)).length).toBeGreaterThan(0);
});

it('takes linear time for many people with one first name', () => {
  const redactor = createConversationRedactor();
  const timeOf = (count: number) => {
    const people = Array.from({ length: count }, (_, index) => ({ names: [`Kim No${index}`], emails: [] }));
    const began = process.threadCpuUsage();
    redactor.text('Kim Nobody, '.repeat(count), people);
    const { user, system } = process.threadCpuUsage(began);
    return (user + system) / 1000;
  };
  timeOf(1000);
  expect(timeOf(20_000)).toBeLessThan(8 * timeOf(5000) + 200);
});

/** Text with a reason to run each pattern. */
const EVERYTHING =
  'ana@example.com é %40 authorization: basic x Secret auth login -key-data eyJ AKIA curl -u a | x_mmk ';

it('patterns over a whole text repeat without a bound only single characters of a set', () => {
  const redactor = createConversationRedactor(OPTIONS);
  const { wide } = workOf(() => redactor.redact(ticketOf([`${EVERYTHING.repeat(300)}`], PEOPLE)));
  expect(wide.size).toBeGreaterThan(30);
  for (const source of wide) {
    const bare = source.replaceAll(/\\./g, 'e').replaceAll(/\[[^\]]*\]/g, 'c');
    const repeats = bare.match(/[*+]|\{\d+,\}/g) ?? [];
    const isOneRun = /^\^?[ce](?:\{\w*\})?[*+]\$?$/.test(bare) || bare === '^c*$';
    expect(repeats.length === 0 || isOneRun, source).toBe(true);
  }
});
