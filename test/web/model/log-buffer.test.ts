/** Buffer of log records. */
import { expect, test } from 'vitest';
import { LogBuffer } from '../../../src/web/model/log-buffer.ts';

const line = (message: string, fields: object = {}) =>
  JSON.stringify({ level: 30, time: '2026-11-21T12:00:00.000Z', pid: 1, msg: message, ...fields });
const everything = { level: 'trace', includes: () => true, limit: 10_000 } as const;

test('keeps 2,000 records, and numbers them since the start', () => {
  const buffer = new LogBuffer();
  for (let index = 0; index < 9000; index += 1) {
    buffer.add(line(String(index)));
  }
  const records = buffer.read(everything);
  expect(records).toHaveLength(2000);
  const newest = { number: 8999, message: '8999', level: 'info', organization: null, fields: {} };
  expect(records[0]).toEqual({ ...newest, at: '2026-11-21T12:00:00.000Z' });
  expect(records.at(-1)).toMatchObject({ number: 7000, message: '7000' });
  expect(buffer.added).toBe(9000);
});

test('keeps at most a million characters, and drops the fields of a long record', () => {
  const buffer = new LogBuffer();
  buffer.add(line('long', { text: 'x'.repeat(20_000), organization: 'acme' }));
  expect(buffer.read(everything)[0]).toMatchObject({
    message: 'long',
    organization: 'acme',
    fields: { omittedCharacters: expect.any(Number) },
  });
  for (let index = 0; index < 1000; index += 1) {
    buffer.add(line('filler', { text: 'x'.repeat(5000) }));
  }
  const kept = buffer.read(everything);
  expect(kept.length).toBeLessThan(200);
  expect(kept.length).toBeGreaterThan(150);
});
