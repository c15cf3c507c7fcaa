import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outline, read, ticketsOf } from './inputs.ts';

/* Mails that break the rules of MIME: their text is read, or they are rejected with a reason. */

const HEAD = [
  'From: Rea Der <rea@x.example>',
  'To: help@acme.example',
  'Subject: Export',
  'Date: Tue, 10 Mar 2026 09:01:00 +0000',
  'Message-ID: <1@x.example>',
];
const TEXT = 'How do I export a page?';
const mail = (fields: readonly string[], ...body: string[]) => [...HEAD, ...fields, '', ...body, ''].join('\n');
const bodyOf = async (content: string | Buffer) => ticketsOf(await read('x.eml', content))[0]?.parts[0]?.body;
const latin = (text: string) => Buffer.from(text, 'latin1');

describe('a mail with a broken structure', () => {
  it.each([
    ['no boundary line', ['Content-Type: multipart/alternative;', ' boundary="b=_A"'], [TEXT]],
    ['no boundary parameter', ['Content-Type: multipart/mixed'], [TEXT]],
    [
      'another boundary',
      ['Content-Type: multipart/mixed; boundary=A'],
      ['--B', 'Content-Type: text/plain', '', TEXT, '--B--'],
    ],
    [
      'text before the first part',
      ['Content-Type: multipart/mixed; boundary=A'],
      [TEXT, '', '--A', 'Content-Type: application/pdf', 'Content-Disposition: attachment', '', 'JVBERi0=', '--A--'],
    ],
    [
      'text after the last part',
      ['Content-Type: multipart/mixed; boundary=A'],
      ['--A', 'Content-Type: application/pdf', '', 'JVBERi0=', '--A--', TEXT],
    ],
    [
      'no empty line in a part',
      ['Content-Type: multipart/mixed; boundary=A'],
      ['--A', 'Content-Type: text/plain', TEXT, '--A--'],
    ],
    [
      'no last boundary line',
      ['Content-Type: multipart/mixed; boundary=A'],
      ['--A', 'Content-Type: text/plain', '', TEXT],
    ],
    ['an old type', ['Content-Type: text'], [TEXT]],
    ['a type without a semicolon', ['Content-Type: text/plain charset=utf-8'], [TEXT]],
    ['text/enriched', ['Content-Type: text/enriched; charset=utf-8'], [`<bold>How</bold>${TEXT.slice(3)}`]],
    ['text/markdown', ['Content-Type: text/markdown'], [TEXT]],
    ['text that is said to be base64', ['Content-Transfer-Encoding: base64'], [TEXT]],
    ['a word that is said to be base64', ['Content-Transfer-Encoding: base64'], ['Hello']],
    ['HTML without parts', ['Content-Type: multipart/alternative; boundary=A'], [`<html><p>${TEXT}</p></html>`]],
  ])('is read with %s', async (_, fields, body) => {
    const expected = body.includes('Hello') ? 'Hello' : TEXT;
    for (const end of ['\n', '\r\n', '\r']) {
      expect(await bodyOf(mail(fields, ...body).replaceAll('\n', end))).toBe(expected);
    }
  });

  it('keeps the text after base64', async () => {
    const body = [Buffer.from(TEXT).toString('base64'), 'This line was added by a list server.'];
    expect(await bodyOf(mail(['Content-Transfer-Encoding: base64'], ...body))).toBe(`${TEXT}\n${body[1]}`);
  });

  it('joins soft line breaks that white space follows', async () => {
    const fields = ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: quoted-printable'];
    expect(await bodyOf(mail(fields, 'The caf=c3=a9 that I ope=  ', 'ned at a?x=3Dy=', '&z, why = broken'))).toBe(
      'The café that I opened at a?x=y&z, why = broken',
    );
  });

  it('is listed with its line if it has no text at all', async () => {
    const file = ['Content-Type: multipart/mixed; boundary=A'];
    const found = await read(
      'x.eml',
      mail(file, 'This is a multi-part message in MIME format.', '--A', 'Content-Type: image/png', '', 'x', '--A--'),
    );
    expect(found).toMatchObject([{ kind: 'skipped', reason: 'empty', place: 'x.eml:1' }]);
  });
});

const NAME = 'Jürgen Müller';
const SAID = `Hier spricht ${NAME}. Wo ist das Café?`;
const encodings = {
  '8bit': (bytes: Buffer) => bytes.toString('latin1'),
  'quoted-printable': (bytes: Buffer) =>
    bytes.toString('latin1').replace(/[^ -<>-~]/g, (char) => `=${char.charCodeAt(0).toString(16).toUpperCase()}`),
  base64: (bytes: Buffer) => bytes.toString('base64'),
};
const defects = fc.record({
  label: fc.constantFrom('', 'utf-8', 'us-ascii', 'windows-1252', 'iso-8859-1', 'x-unknown', 'iso-2022-jp', '"UTF-8"'),
  isUnicode: fc.boolean(),
  encoding: fc.constantFrom('8bit' as const, 'quoted-printable' as const, 'base64' as const),
  header: fc.constantFrom('raw' as const, 'word' as const),
  shape: fc.constantFrom(
    'plain',
    'html',
    'multipart',
    'other boundary',
    'no boundary',
    'no end',
    'no blank line',
    'preamble',
    'nested',
  ),
  end: fc.constantFrom('\n', '\r\n', '\r'),
});

describe('generated relatives of broken mails', () => {
  it('lose neither the text nor the name of the sender', async () => {
    await fc.assert(
      fc.asyncProperty(defects, async ({ label, isUnicode, encoding, header, shape, end }) => {
        const bytes = (text: string) => Buffer.from(text, isUnicode ? 'utf8' : 'latin1');
        const type = (subtype: string) => `Content-Type: text/${subtype}${label === '' ? '' : `; charset=${label}`}`;
        const how = `Content-Transfer-Encoding: ${encoding}`;
        const written = encodings[encoding](bytes(shape === 'html' ? `<p>${SAID}</p>` : SAID));
        const word = `=?utf-8?Q?${encodings['quoted-printable'](bytes(NAME)).replaceAll(' ', '_')}?=`;
        const part = [type('plain'), how, '', written];
        const inside = ['--A', ...part, '--A--'];
        const multipart = (boundary: string) => `Content-Type: multipart/mixed; boundary="${boundary}"`;
        const shapes: Readonly<Record<string, readonly string[]>> = {
          plain: part,
          html: [type('html'), how, '', written],
          multipart: [multipart('A'), '', ...inside],
          'other boundary': [multipart('B'), '', ...inside],
          'no boundary': [multipart('B'), how, '', written],
          'no end': [multipart('A'), '', ...inside.slice(0, -1)],
          'no blank line': [multipart('A'), '', '--A', type('plain'), how, written, '--A--'],
          preamble: [
            multipart('A'),
            '',
            bytes(SAID).toString('latin1'),
            '--A',
            'Content-Type: image/png',
            '',
            'x',
            '--A--',
          ],
          nested: [multipart('C'), '', '--C', multipart('A'), '', ...inside, '--C--'],
        };
        const from = `From: ${header === 'word' ? word : bytes(NAME).toString('latin1')} <jm@x.example>`;
        const content = latin([from, ...HEAD.slice(1), ...(shapes[shape] ?? []), ''].join('\n').replaceAll('\n', end));
        const found = await read('x.eml', content);
        expect(outline(found)).toEqual([expect.stringMatching(/^mail\//)]);
        expect(ticketsOf(found)[0]?.parts).toEqual([{ role: 'user', body: SAID }]);
        expect(ticketsOf(found)[0]?.people[0]?.names).toEqual([NAME]);
      }),
      { numRuns: 400 },
    );
  });
});
