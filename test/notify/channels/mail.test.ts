// Mails, with a real mail server.
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openMailChannel } from '../../../src/notify/mail.ts';
import { ADDRESSES, NAMES } from '../../support/certificates.ts';
import { type MailFault, MailSink, type MailSinkOptions } from '../../support/notify/mail-sink.ts';
import {
  channelContext,
  endWithTest,
  manualClock,
  outgoing,
  resolvedMessage,
} from '../../support/notify/sample-message.ts';

const { signal } = new AbortController();
const certificate = ADDRESSES;
const trusted = tls.getCACertificates('default');

beforeAll(() => tls.setDefaultCACertificates([...trusted, certificate.cert]));
afterAll(() => tls.setDefaultCACertificates(trusted));

const TO = ['ana@acme.example', 'ben@acme.example'];

/** Starts a server, and opens a channel to it. */
async function openMail(options: MailSinkOptions & { host?: string; to?: string[]; login?: string } = {}) {
  const { host = '127.0.0.1', to = TO, login, ...rest } = options;
  const sink = await new MailSink({ ...certificate, ...rest }).listen(host);
  const clock = manualClock();
  const config = {
    server: `${rest.secure === true ? 'smtps' : 'smtp'}://${host}:${sink.port}`,
    from: 'octavo@acme.example',
    to,
    ...(login === undefined ? {} : { user: 'octavo', password: login }),
  };
  const channel = endWithTest(openMailChannel(config, channelContext(clock)), sink);
  sink.onSilence = () => clock.expire();
  return { sink, channel };
}

test('a mail has a text and an HTML body, asks for no automatic answer, and is answered by the resolve of its thread', async () => {
  const { sink, channel } = await openMail();
  expect(await channel.send(outgoing(), signal)).toBeNull();
  const [received] = sink.mails;
  expect(received?.to).toEqual(TO);
  expect(received?.mail).toMatchObject({
    subject: 'The platform refuses the token: acme',
    from: { name: 'Octavo', address: 'octavo@acme.example' },
    to: TO.map((address) => ({ name: '', address })),
    messageId: '<ntf_1@acme.example>',
    text: [
      'The platform refuses the token: acme',
      '',
      '- acme: The token was refused (since 09:00 UTC)',
      '    Create a new token',
      '    https://octavo.example/o/acme',
      '\n',
    ].join('\n'),
  });
  expect(received?.mail.html).toContain(
    '<li><strong>acme: The token was refused</strong> (since 09:00 UTC) <a href="https://octavo.example/o/acme">Open</a><br>Create a new token</li>',
  );
  expect(received?.source).toMatch(/^Auto-Submitted: auto-generated\r$/m);
  await channel.send(outgoing({ id: 'ntf_2', message: resolvedMessage() }), signal);
  expect(sink.mails[1]?.mail).toMatchObject({
    subject: 'Resolved: The platform refuses the token: acme',
    messageId: '<ntf_2@acme.example>',
    inReplyTo: '<ntf_1@acme.example>',
    references: '<ntf_1@acme.example>',
  });
});

test('a mail that is sent again has the same id', async () => {
  const { sink, channel } = await openMail();
  sink.fault = 'lost';
  await expect(channel.send(outgoing(), signal)).rejects.toMatchObject({ failure: 'unknown' });
  sink.fault = null;
  await channel.send(outgoing(), signal);
  expect(sink.mails.map(({ mail }) => mail.messageId)).toEqual(['<ntf_1@acme.example>', '<ntf_1@acme.example>']);
});

describe('encryption', () => {
  test.each([
    ['smtps', { secure: true }],
    ['STARTTLS', { host: '0.0.0.0' }],
  ])('sends over %s, with the user and the password', async (_, options) => {
    const { sink, channel } = await openMail({ ...options, password: 'correct', login: 'correct' });
    await channel.send(outgoing(), signal);
    expect(sink.mails).toMatchObject([{ isEncrypted: true, user: 'octavo' }]);
  });

  test('sends nothing to another machine without STARTTLS', async () => {
    const { sink, channel } = await openMail({ host: '0.0.0.0', startTls: false, login: 'canary' });
    await expect(channel.send(outgoing(), signal)).rejects.toMatchObject({
      failure: 'not-taken',
      message: expect.stringContaining('does not offer TLS'),
    });
    expect(sink.mails).toEqual([]);
  });

  test('sends nothing to a server whose certificate is not trusted', async () => {
    const { sink, channel } = await openMail({ secure: true, ...NAMES });
    await expect(channel.send(outgoing(), signal)).rejects.toMatchObject({
      failure: 'not-taken',
      message: expect.stringContaining('certificate is not trusted'),
    });
    expect(sink.mails).toEqual([]);
  });

  test('needs no encryption on this machine', async () => {
    const { sink, channel } = await openMail({ startTls: false });
    await channel.send(outgoing(), signal);
    expect(sink.mails).toMatchObject([{ isEncrypted: false }]);
  });
});

describe('failures', () => {
  test.each<[MailFault, string, RegExp]>([
    [{ at: 'MAIL FROM', reply: 451 }, 'not-taken', /answered with 451 to MAIL FROM/],
    [{ at: 'RCPT TO', reply: 450 }, 'not-taken', /450 to RCPT TO/],
    [{ at: 'DATA', reply: 452 }, 'not-taken', /452 to DATA/],
    [{ at: 'MAIL FROM', reply: 550 }, 'rejected', /550 to MAIL FROM/],
    [{ at: 'RCPT TO', reply: 550 }, 'rejected', /550 to RCPT TO/],
    [{ at: 'DATA', reply: 554 }, 'rejected', /554 to DATA/],
    ['lost', 'unknown', /did not confirm/],
    ['silent', 'unknown', /did not confirm/],
    ['dropped', 'unknown', /did not confirm/],
    ['mute', 'not-taken', /did not answer in time/],
  ])('after %j, the message is %s', async (fault, failure, words) => {
    const { sink, channel } = await openMail();
    sink.fault = fault;
    const error: unknown = await channel.send(outgoing(), signal).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ failure, message: expect.stringMatching(words) });
    expect((error as Error).message).not.toContain('canary');
  });

  test('a wrong password is a rejection that does not repeat it', async () => {
    const { channel } = await openMail({ password: 'correct', login: 'canary' });
    const error: unknown = await channel.send(outgoing(), signal).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ failure: 'rejected', message: expect.stringMatching(/535 to AUTH; check the user/) });
    expect(`${(error as Error).stack}${JSON.stringify(error)}`).not.toContain('canary');
    expect((error as Error).cause).toBeUndefined();
  });

  test('a server that refuses connections took nothing', async () => {
    const { sink, channel } = await openMail();
    await sink[Symbol.asyncDispose]();
    await expect(channel.send(outgoing(), signal)).rejects.toMatchObject({
      failure: 'not-taken',
      message: expect.stringContaining('connection refused'),
    });
  });

  test('a mail that somebody gets counts as sent', async () => {
    const { sink, channel } = await openMail();
    sink.unknown.add('ben@acme.example');
    await channel.send(outgoing(), signal);
    expect(sink.mails.map(({ to }) => to)).toEqual([['ana@acme.example']]);
  });
});
