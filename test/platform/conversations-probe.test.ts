import { expect, test } from 'vitest';
import { AuthError, RejectedError, TransientError } from '../../src/core/errors.ts';
import type { Reader } from '../../src/platform/client.ts';
import { ConversationsProbe } from '../../src/platform/conversations-probe.ts';

/** A platform that answers each probe with the next of these; anything but an error is a list. */
function platform(...answers: readonly (Error | null)[]): { readonly reader: Reader; asked: number } {
  const left = [...answers];
  const seen = {
    asked: 0,
    reader: {
      get: async () => {
        seen.asked += 1;
        const next = left.shift() ?? null;
        if (next !== null) {
          throw next;
        }
        return { items: [] };
      },
    } as unknown as Reader,
  };
  return seen;
}

const refused = (status: number) => new RejectedError('refused', status);

test.each([
  ['reports conversations after a list', null, true],
  ['reports no conversations after 404', refused(404), false],
  ['reports no conversations after 405', refused(405), false],
  ['reports no conversations after 410', refused(410), false],
  ['reports conversations after another refusal', refused(400), true],
  ['reports conversations after a missing permission', new AuthError('no permission', 403), true],
] as const)('%s', async (_, answer, has) => {
  const fake = platform(answer);
  const probe = new ConversationsProbe();
  expect(await probe.has(fake.reader)).toBe(has);
  expect(await probe.has(fake.reader)).toBe(has);
  expect(fake.asked).toBe(1);
});

test('sends one request for concurrent callers', async () => {
  const fake = platform(refused(404));
  const probe = new ConversationsProbe();
  expect(await Promise.all([probe.has(fake.reader), probe.has(fake.reader)])).toEqual([false, false]);
  expect(fake.asked).toBe(1);
});

test('throws without a response, and requests again', async () => {
  const fake = platform(new TransientError('down', false), refused(404));
  const probe = new ConversationsProbe();
  await expect(probe.has(fake.reader)).rejects.toThrow('down');
  expect(await probe.has(fake.reader)).toBe(false);
});

test('keeps the result until it is forgotten', async () => {
  const fake = platform(refused(404), null);
  const probe = new ConversationsProbe();
  expect(await probe.has(fake.reader)).toBe(false);
  probe.forget();
  expect(await probe.has(fake.reader)).toBe(true);
});
