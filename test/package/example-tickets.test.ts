import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { convertTicket } from '../../src/conversations/intake.ts';
import { createConversationRedactor } from '../../src/conversations/redact/redactor.ts';
import { readTickets } from '../../src/conversations/sources/files/read-tickets.ts';
import { ROOT } from './pruned.ts';

const FILES = ['mailbox.mbox', 'zendesk-export.json'] as const;
const pathOf = (file: string) => join(ROOT, 'examples/tickets', file);
const textOf = (file: string) => readFileSync(pathOf(file), 'utf8');

/** Result for a file: sent conversations, reasons for rejections, and redacted values. */
async function work(file: string) {
  const redactor = createConversationRedactor();
  const sent: string[] = [];
  const others: string[] = [];
  const redacted = new Set<string>();
  for await (const { found } of readTickets(pathOf(file), { account: 'drop', teamDomains: ['acme.example'] })) {
    const admission =
      found.kind === 'ticket' ? convertTicket(found.ticket, { redactor: redactor, settleDelay: 0, now: 0 }) : found;
    if (admission.kind === 'content') {
      sent.push(admission.content.payload);
      for (const type of Object.keys(admission.counts)) {
        redacted.add(type);
      }
    } else {
      others.push(admission.kind === 'skipped' ? admission.reason : admission.kind);
    }
  }
  return { sent, others: others.toSorted(), redacted: [...redacted].toSorted() };
}

describe.each(FILES)('examples/tickets/%s', (file) => {
  // Quoted-printable may break lines anywhere.
  const text = textOf(file).replace(/=\n/g, '');

  test('every domain is reserved (RFC 2606)', () => {
    const withoutNames = text.replace(/[\w.+-]+@/g, '@');
    const domains = withoutNames.match(/(?<![\w-])[a-z0-9](?:[\w-]*\.)+[a-z][\w-]*/gi) ?? [];
    expect(domains.length).toBeGreaterThan(20);
    expect(domains.filter((domain) => !/(?:^|\.)example$/i.test(domain))).toEqual([]);
    expect(text).not.toMatch(/@(?![\w.-]*\.example\b)/);
  });

  test('every phone number is reserved for fiction and every IP address for documentation (RFC 5737)', () => {
    const numbers = text.match(/\+\d[\d -]{7,}/g) ?? [];
    expect(numbers.length).toBeGreaterThan(1);
    expect(numbers.filter((number) => !/^\+(?:1 202-555-01\d\d|44 20 7946 0\d{3})$/.test(number.trim()))).toEqual([]);
    const addresses = text.match(/\b\d{1,3}(?:\.\d{1,3}){3}\b/g) ?? [];
    expect(addresses.filter((address) => !/^(?:192\.0\.2|198\.51\.100|203\.0\.113)\./.test(address))).toEqual([]);
  });
});

test('the mailbox yields eight threads without quoted text and automatic replies', async () => {
  const { sent, others, redacted } = await work('mailbox.mbox');
  expect(sent).toHaveLength(8);
  expect(others).toEqual(['bulk', 'bulk']);
  expect(redacted).toEqual(['card', 'email', 'iban', 'ip', 'person', 'phone', 'secret']);
  expect(sent.join('\n')).not.toMatch(/wrote:|\\n>|Northwind|@|4242|Nightjar|GB82|7946|192\.0\.2|Castellan|Mira/);
});

test('the export yields every settled ticket without internal notes', async () => {
  const { sent, others, redacted } = await work('zendesk-export.json');
  expect(sent).toHaveLength(11);
  expect(others).toEqual(['open']);
  expect(redacted).toEqual(['ip', 'person', 'phone', 'secret']);
  expect(sent.join('\n')).not.toMatch(/renews|pasted|Same as what|squares|@|acmedemo|202-555|7946|203\.0\.113|Aiko/);
});
