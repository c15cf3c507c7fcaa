/** Channel that sends mails over SMTP, with TLS except on this machine. */
import { domainToASCII } from 'node:url';
import { html, raw } from 'hono/html';
import { createTransport } from 'nodemailer';
import type { ChannelConfig } from '../config/notifications.ts';
import { isLoopbackHost } from '../core/url.ts';
import {
  type Channel,
  type ChannelContext,
  ChannelError,
  type Outgoing,
  SEND_TIMEOUT,
  withTimeout,
} from './channel.ts';
import { type ItemLines, type Layout, layOut, renderWithin } from './layout.ts';
import type { Notification } from './messages.ts';

type MailConfig = NonNullable<ChannelConfig['mail']>;

/** Progress of one mail: false until the server may have its content. */
interface MailProgress {
  isContentSent: boolean;
}

/** Opens a mail server. Mails of a thread refer to its first one, by ids that follow from those of the deliveries. */
export function openMailChannel(config: MailConfig, context: ChannelContext): Channel {
  return {
    name: context.name,
    isPager: false,
    async send(outgoing, signal) {
      const progress: MailProgress = { isContentSent: false };
      const transport = createTransport(transportOptions(config, progress));
      try {
        const mail = mailOf(outgoing, config, context);
        await withTimeout(context.clock, signal, (ended) => transport.sendMail({ ...mail, signal: ended }));
        return null;
      } catch (error) {
        throw mailError(error, progress, new URL(config.server).host);
      } finally {
        transport.close();
      }
    },
    close: () => Promise.resolve(),
  };
}

function transportOptions({ server, user, password }: MailConfig, progress: MailProgress) {
  const { hostname, port, protocol } = new URL(server);
  const secure = protocol === 'smtps:';
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    ...(isLoopbackHost(hostname) ? { ignoreTLS: true } : { requireTLS: true }),
    ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
    connectionTimeout: SEND_TIMEOUT,
    greetingTimeout: SEND_TIMEOUT,
    socketTimeout: SEND_TIMEOUT,
    disableFileAccess: true,
    disableUrlAccess: true,
    // The library tells only its logger how far it came.
    transactionLog: true,
    logger: progressLogger(progress),
  };
}

/** Logger that writes nothing, and notes when the content is about to be sent. */
function progressLogger(progress: MailProgress) {
  const ignore = () => undefined;
  return {
    level: ignore,
    trace: ignore,
    debug(entry: unknown, line: unknown) {
      const isCommand = typeof entry === 'object' && entry !== null && 'tnx' in entry && entry.tnx === 'client';
      progress.isContentSent ||= isCommand && line === 'DATA';
    },
    info: ignore,
    warn: ignore,
    error: ignore,
    fatal: ignore,
  };
}

function mailOf({ id, thread, message }: Outgoing, { from, to }: MailConfig, { clock }: ChannelContext) {
  const messageId = (delivery: string) =>
    `<${delivery}@${domainToASCII(from.split('@').at(-1) ?? '') || 'octavo.invalid'}>`;
  return {
    ...writeMail(message),
    from: { name: 'Octavo', address: from },
    to: to.map((address) => ({ name: '', address })),
    date: new Date(clock.now()),
    messageId: messageId(id),
    ...(thread === id ? {} : { inReplyTo: messageId(thread), references: [messageId(thread)] }),
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  };
}

/** Only the codes of the library are used: the words of the server may repeat the password. */
function mailError(error: unknown, { isContentSent }: MailProgress, host: string): ChannelError {
  // `originalCode` is that of the connection, such as `ECONNREFUSED`.
  const { code, originalCode, responseCode, command } = error as Readonly<Record<string, unknown>>;
  if (code !== 'ETLS' && typeof responseCode === 'number') {
    const [step] = /^(MAIL FROM|RCPT TO|[A-Z]+)/.exec(String(command)) ?? [];
    const advice = code === 'EAUTH' ? '; check the user and the password' : '';
    const failure = responseCode >= 500 ? 'rejected' : 'not-taken';
    return new ChannelError(`${host} answered with ${responseCode} to ${step ?? 'a command'}${advice}`, failure);
  }
  if (isContentSent) {
    return new ChannelError(`${host} did not confirm the mail`, 'unknown');
  }
  const failure = code === 'EAUTH' ? 'rejected' : 'not-taken';
  return new ChannelError(`cannot send mail through ${host}: ${reasonOf(String(code), originalCode)}`, failure);
}

function reasonOf(code: string, originalCode: unknown): string {
  switch (code) {
    case 'ETLS':
      return 'the server does not offer TLS; use one with smtps or STARTTLS';
    case 'EAUTH':
      return 'the user cannot sign in; check the user and the password';
    case 'EDNS':
      return 'no such host';
    case 'ETIMEDOUT':
    case 'EABORT':
      return 'it did not answer in time';
    default:
      return connectionReason(typeof originalCode === 'string' ? originalCode : code);
  }
}

function connectionReason(code: string): string {
  if (code === 'ECONNREFUSED') {
    return 'connection refused';
  }
  return /CERT|^UNABLE_TO_/.test(code) ? `its certificate is not trusted (${code})` : `no connection (${code})`;
}

/** UTF-16 code units of both bodies. Gmail cuts mails at 102 kB. */
const MAX_MAIL = 90_000;

/** Writes a mail. */
export function writeMail(message: Notification) {
  const render = (each: Notification) => {
    const layout = layOut(each);
    // In a header, `=?` begins an encoded word.
    return { subject: layout.heading.replaceAll('=?', '= ?'), text: textOf(layout), html: htmlOf(layout) };
  };
  return renderWithin(message, MAX_MAIL, render, (mail) => mail.text.length + mail.html.length);
}

function textOf({ heading, items, remarks }: Layout): string {
  const blocks = items.map(({ heading: first, time, details, url }) =>
    [`- ${first} (${time})`, ...details.map((line) => `    ${line}`), ...(url === null ? [] : [`    ${url}`])].join(
      '\n',
    ),
  );
  return `${[heading, ...blocks, ...remarks].join('\n\n')}\n`;
}

function htmlOf({ heading, items, remarks }: Layout): string {
  const body = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${heading}</title></head>
<body>
<h1>${heading}</h1>
<ul>${raw(items.map(itemHtml).join(''))}</ul>
${raw(remarks.map((remark) => String(html`<p>${remark}</p>`)).join(''))}
</body>
</html>`;
  return String(body);
}

function itemHtml({ heading, time, details, url }: ItemLines): string {
  const lines = details.map((line) => String(html`<br>${line}`)).join('');
  const link = url === null ? '' : String(html` <a href="${url}">Open</a>`);
  return String(html`<li><strong>${heading}</strong> (${time})${raw(link)}${raw(lines)}</li>`);
}
