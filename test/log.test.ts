import { Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLogger, type LogOptions } from '../src/log.ts';
import { createRedactor } from '../src/redact.ts';
import { codePoint } from './support/code-points.ts';

function capture(over: Partial<LogOptions> = {}, isTTY = false) {
  let text = '';
  const destination = Object.assign(
    new Writable({
      write: (chunk, _encoding, done) => {
        text += String(chunk);
        done();
      },
    }),
    { isTTY },
  );
  const logger = createLogger({ level: 'info', format: 'auto', secrets: [], destination, ...over });
  return { logger, text: () => text };
}

/** Every text in a value, including keys. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, member]) => [key, ...textsOf(member)]);
  }
  return [String(value)];
}

describe('createLogger', () => {
  test('writes one JSON record per line, and nothing below its level', () => {
    const { logger, text } = capture();
    logger.debug('unseen');
    logger.info({ organization: 'org_1' }, 'applied');
    const record = JSON.parse(text()) as Record<string, unknown>;
    expect(record).toMatchObject({ level: 30, organization: 'org_1', msg: 'applied' });
    expect(text().endsWith('\n')).toBe(true);
  });

  test('writes formatted and redacted lines on a terminal', () => {
    const { logger, text } = capture({ secrets: ['hunter22'] }, true);
    logger.warn({ note: 'hunter22' }, 'said hunter22');
    expect(text()).toContain('WARN');
    expect(text()).toContain('said [secret]');
    expect(text()).not.toContain('hunter22');
  });

  test('removes control characters from values on a terminal', () => {
    const plain = capture({ format: 'pretty' });
    plain.logger.warn({ key: 'a\u001b[2Jb' }, 'one \u001b]0;title\u0007\nand \u202etwo');
    expect(plain.text()).toMatch(/one .*title/);
    expect(plain.text()).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
  });

  test('removes known secrets from every text of a record', () => {
    const secret = fc.oneof(
      fc.string({ minLength: 4 }),
      fc.string({ minLength: 4, unit: codePoint }),
      fc.base64String({ minLength: 8 }),
    );
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.string(),
        fc.jsonValue(),
        (secrets, filler, json) => {
          const [first = ''] = secrets;
          const { logger, text } = capture({ secrets });
          const error = new Error(`refused ${secrets.join(filler)}`, { cause: new Error(`because ${first}`) });
          const child = logger.child({ request: first });
          child.error(
            { err: error, nested: [{ deep: `${filler}${first}${filler}`, [first]: json }] },
            `${filler}${first}`,
          );
          // "[secret]" itself, pino's own field names and process fields may resemble a generated secret; logged values
          // may not.
          const { time: _time, level: _level, pid: _pid, err, nested, msg, request } = JSON.parse(text());
          const shown = [err.message, err.stack, msg, request, ...textsOf(nested).filter((value) => value !== 'deep')];
          for (const part of shown.flatMap((value) => value.split('[secret]'))) {
            for (const known of secrets.filter((value) => !'refused because'.includes(value))) {
              expect(part.includes(known)).toBe(false);
            }
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  test('removes authorization headers, bearer tokens and user info even if they are unknown', () => {
    const { logger, text } = capture();
    logger.info(
      { headers: { Authorization: 'abc', 'x-note': 'Bearer abc.def-123' }, url: 'https://bot:pw@git.example/x' },
      'sent Basic dXNlcjpwYXNz to ssh://me@host/x',
    );
    expect(text()).not.toMatch(/abc|bot|pw@|dXNlcjpwYXNz|me@host/);
    expect(text()).toContain('https://[secret]@git.example/x');
  });

  test('removes known numbers and each line of a key', () => {
    const { logger, text } = capture({
      secrets: ['12345678', '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END KEY-----'],
    });
    logger.info({ pin: 12345678, quoted: 'it begins with MIIEvQIBADANBgkqhkiG' }, 'x');
    expect(text()).not.toMatch(/12345678|MIIEvQ/);
  });
});

describe('createRedactor', () => {
  test('removes overlapping secrets completely', () => {
    expect(createRedactor(['abcdef', 'defghi'])('x abcdefghi y')).toBe('x [secret] y');
  });

  test('ignores short secrets', () => {
    expect(createRedactor(['', 'a', 'org'])('an org')).toBe('an org');
  });
});
