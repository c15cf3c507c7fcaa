/* The work of redaction grows with the length of a text, for half of a value repeated as in `hostile.json`. */
import { expect, it } from 'vitest';
import { createConversationRedactor } from '../../../src/conversations/redact/redactor.ts';
import { pickCases } from '../../support/campaign.ts';
import { ticketOf } from './corpus.ts';
import hostile from './hostile.json' with { type: 'json' };
import { workOf } from './pattern-work.ts';

const PEOPLE = [{ names: ['Ana Ana Ana Smith', 'Müller'], emails: ['ana@acme.example'] }];
const OPTIONS = { regions: ['US', 'DE', 'GB', 'FR'], patterns: [{ name: 'customer', pattern: 'CUST-\\d+' }] };

/** Limits per character: calls of patterns, and characters that they read, including the context of candidates. */
const CALLS = 120;
const CHARACTERS = 4000;
const LENGTH = 2500;

it.each(pickCases(hostile, 30))('takes linear time for repetitions of %j', (piece) => {
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

it.each([
  '1 ',
  '1:',
  '+1 (555) ',
  '(',
  '"',
  'a@b.io ',
  'password: a1b2c3d4 ',
  'kind: Secret\n',
  '{"data":{"kind":"Secret",',
  'key=Ab3dEf6hIj9kLm2n ',
  'https://a.example/invite/a1b2c3d4e5f6 ',
  '4111 1111 1111 1111 ',
  '4111 1111 1111 1112 ',
  '+49 30 1234567 ',
  'Hi Ana Berg,\n',
  'Ana Smith: hello\n',
  'AKIA2345234523452345 ',
  '田中さん',
  '14 Elm Street, Denver, CO 80203\n',
])('uses no stack and bounded time for each repetition of %j', (piece) => {
  const text = piece.repeat(450_000 / piece.length);
  const began = process.threadCpuUsage();
  expect(createConversationRedactor().text(text).length).toBeGreaterThan(0);
  const { user, system } = process.threadCpuUsage(began);
  // A twentieth of the usual speed.
  expect((user + system) / 1000).toBeLessThan(10_000);
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
