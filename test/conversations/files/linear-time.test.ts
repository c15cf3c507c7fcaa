/** Files whose fields or lines repeat one text very often, as a customer can send them: reading takes linear time. */
import { expect, test } from 'vitest';
import { read } from './inputs.ts';

/** Length in bytes: quadratic work takes at least 3 seconds for it, linear work less than a tenth of one. */
const LENGTH = 50_000;
/** Milliseconds of CPU time. */
const LIMIT = 1500;
const REPEATED = [
  ...[' ', '\t', '\r', '\r ', '=', '= ', '=?utf-8*', '=?utf-8?q?', '<', '<!--', '<style>', '</style ', ';', '; '],
  ...['; boundary', 'charset', '(', '--', '-', 'A', 'a:', '"', '\\', '[', '](', '>', '>From ', 'From ', ','],
  ...[
    'http://',
    '@',
    'a@',
    '&#',
    '\u00e9',
    '_',
    '#',
    '`',
    '--A\n',
    '--B\nContent-Type: multipart/mixed; boundary=B\n\n',
  ],
  // Starts of quotations.
  ...['Op ', 'abc. x skrev\n', 'On a ', '\n \n', 'on at ', '1111from<'],
];

const mail = (fields: string, body: string) =>
  ['x.eml', `From: a@b.example\nSubject: x\n${fields}\n${body}\n`] as const;
const encoded = (encoding: string) => (text: string) =>
  mail(`Content-Type: text/plain\nContent-Transfer-Encoding: ${encoding}\n`, `${text}!`);
const envelope = 'From a@b.example Sat Jan  3 01:05:34 2026';

const PLACES: Readonly<Record<string, (text: string) => readonly [name: string, content: string]>> = {
  'a base64 body': encoded('base64'),
  'a quoted-printable body': encoded('quoted-printable'),
  'a body': (text) => mail('', `hello ${text}!`),
  'an HTML body': (text) => mail('Content-Type: text/html\n', `<p>hello ${text}!`),
  'a subject': (text) => mail(`Subject: x${text}!\n`, 'hello'),
  'a sender': (text) => mail(`From: ${text}! <a@b.example>\n`, 'hello'),
  'a type': (text) => mail(`Content-Type: text/plain${text}!\n`, 'hello'),
  'parts of a mail': (text) => mail('Content-Type: multipart/mixed; boundary=A\n', text),
  'a boundary': (text) => mail(`Content-Type: multipart/mixed; ${text}!\n`, 'hello'),
  'a date': (text) => mail(`Date: ${text}!\n`, 'hello'),
  references: (text) => mail(`References: <${text}!>\n`, 'hello'),
  'a separator of a mailbox': (text) => ['x.mbox', `${envelope}${text}\nFrom: a@b.example\n\nhello\n`],
  'a mail of a mailbox': (text) => ['x.mbox', `${envelope}\nFrom: a@b.example\n\n${text}\n`],
  'the first line of a table': (text) => ['x.csv', `sep=${text}!\nid,subject,body\n1,a,b\n`],
  'a time of a table': (text) => ['x.csv', `id,subject,body,created_at\n1,a,b,${text}!\n`],
  'a text of a table': (text) => ['x.csv', `id,subject,body\n1,a,${text}!\n`],
};

test.each(Object.entries(PLACES))('in %s', async (_place, content) => {
  const slow: string[] = [];
  for (const text of REPEATED) {
    const [name, whole] = content(text.repeat(LENGTH / text.length));
    const before = process.cpuUsage();
    await read(name, Buffer.from(whole, 'latin1'));
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 > LIMIT) {
      slow.push(`${JSON.stringify(text)}: ${Math.round((user + system) / 1000)} ms`);
    }
  }
  expect(slow).toEqual([]);
});
