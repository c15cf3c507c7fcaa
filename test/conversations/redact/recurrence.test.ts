/* A value that was found once is removed wherever it recurs in the conversation. */
import { describe, expect, it } from 'vitest';
import { createConversationRedactor } from '../../../src/conversations/redact/redactor.ts';
import { ticketOf } from './corpus.ts';
import { workOf } from './pattern-work.ts';

const redactor = createConversationRedactor();
const bodies = (...texts: string[]) => redactor.redact(ticketOf(texts)).conversation.parts.map(({ body }) => body);

describe('a value recurs', () => {
  it.each([
    ['My password: Winter2cold! fails', 'I tried Winter2cold! twice', 'I tried [SECRET_1] twice'],
    ['API key: zk9Qa71LmPx02RtYv8', 'the log: invalid ZK9QA71LMPX02RTYV8.', 'the log: invalid [SECRET_1].'],
    ['Authorization: Bearer zk9Qa71LmPx02RtYv8zz', 'zk9Qa71LmPx02RtYv8zz (code 7)', '[SECRET_1] (code 7)'],
    ['https://bob:Winter2cold@git.shop.example/x.git', 'also Winter2cold for the wiki', 'also [SECRET_1] for the wiki'],
    ['My phone: 415-555-0132', 'user 4155550132 is locked', 'user [PHONE_1] is locked'],
    ['SSN: 536-90-4399', 'field value 536904399', 'field value [SSN_1]'],
    ['passport no. C01X00T47', 'scan of c01x00t47 attached', 'scan of [NATIONAL_ID_1] attached'],
    ['DOB: 04/12/1981', 'the form shows 04.12.1981', 'the form shows [BIRTHDATE_1]'],
    ['Adresse : 12 rue des Lilas, 75020 Paris', 'livraison 12 rue des Lilas 75020 PARIS', 'livraison [ADDRESS_1]'],
  ])('%s / %s', (first, second, expected) => {
    expect(bodies(first, second)[1]).toBe(expected);
    expect(bodies(second, first)[0]).toBe(expected);
  });

  it('in the subject, in attributes and in the link of the ticket', () => {
    const { conversation } = redactor.redact({
      ...ticketOf(['password: Winter2cold']),
      subject: 'Winter2cold?',
      attributes: { note: 'uses Winter2cold' },
      url: 'https://help.example/find?q=Winter2cold',
    });
    expect(JSON.stringify(conversation)).not.toContain('Winter2cold');
    expect(conversation.subject).toBe('[SECRET_1]?');
  });
});

it.each([
  ['PIN: 1234', 'error 1234 on line 1234'],
  ['Passwort: geheim', 'Das ist geheim.'],
  ['password: Welcome', 'Welcome to our docs'],
  ['password: hunter2x', 'the file xhunter2x and hunter2xy'],
  ['SSN: 536-90-4399', 'build 15369043990'],
])('keeps what could be another word: %s / %s', (first, second) => {
  expect(bodies(first, second)[1]).toBe(second);
});

it('takes linear time for many values and many words', () => {
  const of = (count: number) => {
    const values = Array.from({ length: count }, (_, index) => `password: Ab3 x${index}yZ`).join('\n');
    const ticket = ticketOf([values, 'Ab3 '.repeat(count)]);
    return workOf(() => redactor.redact(ticket)).characters;
  };
  expect(of(1600)).toBeLessThan(4.6 * of(400) + 100_000);
});
