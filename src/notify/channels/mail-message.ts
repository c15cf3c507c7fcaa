/** Text and HTML of mails. */
import { html, raw } from 'hono/html';
import type { Notification } from '../model/notification.ts';
import { type ItemLines, type Layout, layOut } from './layout.ts';
import { renderWithin } from './render-within.ts';

/** Content of a mail. */
export interface MailContent {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** UTF-16 code units of both bodies. Gmail cuts mails at 102 kB. */
const MAX_MAIL = 90_000;

/** Writes a mail. */
export function writeMail(message: Notification): MailContent {
  return renderWithin(
    message,
    MAX_MAIL,
    (each) => render(layOut(each)),
    (mail) => mail.text.length + mail.html.length,
  );
}

function render(layout: Layout): MailContent {
  // In a header, `=?` begins an encoded word.
  return { subject: layout.heading.replaceAll('=?', '= ?'), text: textOf(layout), html: htmlOf(layout) };
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
