import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommandLine } from '../../../src/cli.ts';
import { systemClock } from '../../../src/core/clock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'redact-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const TEXT = 'Hi, ana@example.com\npassword: hunter2\n\u001b[2JORD-12345678\n';

async function run(args: readonly string[], isOutTerminal = false) {
  let out = '';
  let err = '';
  const terminal = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
    isOutTerminal,
    isErrTerminal: false,
    columns: 100,
    ask: null,
    env: { NO_COLOR: '1' },
    cwd: folder,
  };
  const { signal } = new AbortController();
  const dependencies = {
    terminal,
    clock: systemClock,
    random: Math.random,
    version: '0',
    root: new URL('file:///'),
    signal,
  };
  return { exit: await runCommandLine(args, dependencies), out, err };
}

test('prints the redacted text with the rules of the configuration', async () => {
  writeFileSync(join(folder, 'ticket.txt'), TEXT);
  expect(await run(['redact', 'ticket.txt'])).toEqual({
    exit: 0,
    err: '',
    out: 'Hi, [EMAIL_1]\npassword: [SECRET_1]\n\u001b[2JORD-12345678\n',
  });
  const redact = '{ patterns: [{ name: order, pattern: "ORD-[0-9]{8}" }], allow: ["@example.com"] }';
  const organization = `{ id: org_1, source: { directory: m }, conversations: { redact: ${redact} } }`;
  const config = `platform: { baseUrl: https://api.example, token: tok }\norganizations: [${organization}]\n`;
  writeFileSync(join(folder, 'config.yaml'), config);
  const { exit, out } = await run(['redact', 'ticket.txt']);
  expect({ exit, out }).toEqual({
    exit: 0,
    out: 'Hi, ana@example.com\npassword: [SECRET_1]\n\u001b[2J[ORDER_1]\n',
  });
});

test('--explain lists each value with its line, type and rule in 80 columns, without control characters', async () => {
  writeFileSync(join(folder, 'ticket.txt'), TEXT);
  const { exit, out } = await run(['redact', '--explain', 'ticket.txt'], true);
  expect(exit).toBe(0);
  const [head = '', email = '', secret = '', ...rest] = out.split('\n');
  expect(head.split(/ +/)).toEqual(['line', 'type', 'rule', 'value', 'placeholder']);
  expect(email.split(/ {2,}/)).toEqual(['1', 'email', 'email address', 'ana@example.com', '[EMAIL_1]']);
  expect(secret).toMatch(/^2 +secret +\S.* hunter2 +\[SECRET_1\]$/);
  expect(rest).toEqual(['', '2 values would be removed.', '']);
  const starts = ['type', 'value', 'placeholder'].map((word) => head.indexOf(word));
  expect(starts).toEqual(['secret', 'hunter2', '[SECRET_1]'].map((word) => secret.indexOf(word)));
  writeFileSync(join(folder, 'hostile.txt'), '\u001b[2J x@example.com');
  expect((await run(['redact', '--explain', 'hostile.txt'], true)).out).not.toContain('\u001b');
});

test('escapes control characters on a terminal only', async () => {
  writeFileSync(join(folder, 'hostile.txt'), 'a\u001b[2J\u009bb\u202e\tc\r\nd\r');
  expect((await run(['redact', 'hostile.txt'], true)).out).toBe('a·[2J·b·\tc\nd·');
  expect((await run(['redact', 'hostile.txt'])).out).toBe('a\u001b[2J\u009bb\u202e\tc\r\nd\r');
});

test('reads UTF-16', async () => {
  writeFileSync(join(folder, 'ticket.txt'), Buffer.from('\ufeffHi, ana@example.com', 'utf16le'));
  expect((await run(['redact', 'ticket.txt'])).out).toBe('Hi, [EMAIL_1]');
});

test('shows values only on a terminal, and quotes none in errors', async () => {
  writeFileSync(join(folder, 'ticket.txt'), TEXT);
  const { exit, out, err } = await run(['redact', '--explain', 'ticket.txt']);
  expect({ exit, out }).toEqual({ exit: 3, out: '' });
  expect(err).toMatch(/^octavo: --explain [^\n]*terminal[^\n]*\n$/);
  expect(await run(['redact', 'nothing.txt'])).toEqual({
    exit: 3,
    out: '',
    err: 'octavo: cannot read nothing.txt: file not found\n',
  });
});
