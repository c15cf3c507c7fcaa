import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { convertTicket } from '../../src/conversations/intake.ts';
import { createIdPseudonymizer } from '../../src/conversations/private-ids.ts';
import { createConversationRedactor } from '../../src/conversations/redact/redactor.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Outbox } from '../../src/store/outbox/outbox.ts';
import type { NewContent } from '../../src/store/outbox/tables.ts';
import { read } from './files/inputs.ts';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const TEAM = { teamDomains: ['acme.example'] };
const redactor = createConversationRedactor({}, createIdPseudonymizer(randomBytes(32)));

interface MailText {
  readonly id: string;
  readonly from?: string;
  readonly replyTo?: string;
  readonly references?: readonly string[];
  readonly minute: number;
  readonly body: string;
  readonly headers?: readonly string[];
}

/** A mail as stored in a file. */
function eml({ id, from = 'ana@x.example', replyTo, references = [], minute, body, headers = [] }: MailText): string {
  return [
    `From: ${from}`,
    `Message-ID: <${id}>`,
    `Date: ${new Date(Date.UTC(2026, 0, 5, 10, minute)).toUTCString()}`,
    'Subject: Export',
    ...(replyTo === undefined ? [] : [`In-Reply-To: <${replyTo}>`]),
    ...(references.length === 0 ? [] : [`References: ${references.map((each) => `<${each}>`).join(' ')}`]),
    ...headers,
    '',
    body,
    '',
  ].join('\r\n');
}

const QUESTION: MailText = { id: 'q1@x', minute: 0, body: 'How do I export?' };
const REPLY: MailText = { id: 'r2@acme', from: 'bo@acme.example', replyTo: 'q1@x', minute: 5, body: 'In the menu.' };
const THANKS: MailText = { id: 't3@x', replyTo: 'r2@acme', minute: 9, body: 'Thanks!' };

function openOutbox(): Outbox {
  return openMemoryStore().outbox('org_1', { items: 10_000, bytes: 1e9 });
}

/** Imports a file of mail, as an intake would. */
async function take(outbox: Outbox, mail: MailText, options: object = TEAM): Promise<void> {
  for (const found of await read(`${mail.id}.eml`, eml(mail), options)) {
    const admission =
      found.kind === 'ticket' ? convertTicket(found.ticket, { redactor: redactor, settleDelay: 0, now: NOW }) : null;
    const entries: NewContent[] = admission?.kind === 'content' ? [admission.content] : [];
    await outbox.put({ source: 'drop', at: NOW, entries, counts: {} });
  }
}

interface Sent {
  readonly id: string;
  readonly subject?: string;
  readonly metadata?: { readonly createdAt?: string };
  readonly parts: readonly { readonly role: string; readonly body: string }[];
}

/** Sends waiting conversations, and returns them. */
async function send(outbox: Outbox): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  for (;;) {
    const batch = await outbox.next({ items: 100, bytes: 1e9, open: 1 }, NOW);
    if (batch === null) {
      return sent;
    }
    sent.push(...batch.items.map(({ payload }) => JSON.parse(payload) as Sent));
    await outbox.sent(batch.id, NOW);
  }
}

const wordsOf = (conversation: Sent | undefined) =>
  conversation?.parts.map(({ role, body }) => `${role}: ${body.trim()}`);
const WHOLE = ['user: How do I export?', 'team-member: In the menu.', 'user: Thanks!'];

describe('one mail per file', () => {
  test('becomes one conversation ordered by date, for any order of files', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([QUESTION, REPLY, THANKS], { minLength: 3 }),
        fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
        async (mails, sends) => {
          const outbox = openOutbox();
          const sent: Sent[] = [];
          for (const [index, mail] of mails.entries()) {
            await take(outbox, mail);
            sent.push(...(sends[index] === true ? await send(outbox) : []));
          }
          sent.push(...(await send(outbox)));
          const last = sent.at(-1);
          expect(wordsOf(last)).toEqual(WHOLE);
          expect(last).toMatchObject({ subject: 'Export', metadata: { createdAt: '2026-01-05T10:00:00.000Z' } });
        },
      ),
      { numRuns: 30 },
    );
  });

  test('keeps the id with which the conversation was first sent', async () => {
    const outbox = openOutbox();
    await take(outbox, THANKS);
    const [first] = await send(outbox);
    await take(outbox, REPLY);
    await take(outbox, QUESTION);
    const [later] = await send(outbox);
    expect(later?.id).toBe(first?.id);
    expect(wordsOf(later)).toEqual(WHOLE);
  });

  test('holds a reply of the team until the customer’s mail arrives', async () => {
    const outbox = openOutbox();
    await take(outbox, REPLY);
    expect(await send(outbox)).toEqual([]);
    await take(outbox, QUESTION);
    expect(wordsOf((await send(outbox))[0])).toEqual(WHOLE.slice(0, 2));
  });

  test('ignores a repeated file and an automatic reply', async () => {
    const outbox = openOutbox();
    await take(outbox, QUESTION);
    await take(outbox, { ...REPLY, id: 'auto@acme', headers: ['Auto-Submitted: auto-replied'] });
    expect(wordsOf((await send(outbox))[0])).toEqual(WHOLE.slice(0, 1));
    await take(outbox, QUESTION);
    expect(await send(outbox)).toEqual([]);
  });

  test('joins two parts of a thread when a mail connects them', async () => {
    const outbox = openOutbox();
    await take(outbox, QUESTION);
    await take(outbox, THANKS);
    expect(await send(outbox)).toHaveLength(2);
    await take(outbox, REPLY);
    expect((await send(outbox)).map(wordsOf)).toEqual([WHOLE]);
  });

  test('redacts people in earlier mails that a later mail names', async () => {
    const outbox = openOutbox();
    await take(outbox, { ...QUESTION, body: 'Zebulon Quartermaine told me to ask.' });
    await take(outbox, { ...REPLY, from: 'Zebulon Quartermaine <zq@acme.example>' });
    expect(JSON.stringify(await send(outbox))).not.toMatch(/Zebulon|Quartermaine/);
  });

  test('limits the mails of a thread', async () => {
    const outbox = openOutbox();
    for (let index = 0; index < 503; index += 1) {
      await take(outbox, { id: `m${index}@x`, references: ['q1@x'], minute: index, body: `mail ${index}` });
    }
    expect((await send(outbox))[0]?.parts).toHaveLength(500);
  });
});
