import { expect, test } from 'vitest';
import { PlatformDestination } from '../../src/conversations/destination.ts';
import { classifyError, type SendOutcome } from '../../src/conversations/sender.ts';
import { AuthError, RejectedError, TransientError } from '../../src/core/errors.ts';
import type { Writer } from '../../src/platform/client.ts';
import { ConversationsProbe } from '../../src/platform/conversations-probe.ts';

const CONVERSATION = { id: 'desk/1', parts: [{ type: 'message', role: 'user', body: 'Empty' }] } as const;

/** Result for one conversation, depending on the platform's answers to the probe and to the sending. */
async function outcome(asked: Error | null, sent: readonly Error[] = []): Promise<SendOutcome> {
  const left = [...sent];
  const writer = {
    get: async () => {
      if (asked !== null) {
        throw asked;
      }
      return { items: [] };
    },
    send: async () => {
      const next = left.shift();
      if (next !== undefined) {
        throw next;
      }
    },
  } as unknown as Writer;
  const site = async () => 'site_1';
  const options = { writer, site, probe: new ConversationsProbe(), bytes: 1000, events: {} };
  return new PlatformDestination(options).send([CONVERSATION], {}).then(
    () => ({ kind: 'taken' }),
    (error: unknown) => classifyError(error),
  );
}

test.each([
  ['reports not-sent if the probe times out', new TransientError('timeout', true), [], 'not-sent'],
  ['reports not-sent if the probe cannot connect', new TransientError('down', false), [], 'not-sent'],
  ['reports lost if conversations get no response', null, [new TransientError('timeout', true)], 'lost'],
  [
    'reports lost if context records get no response',
    new RejectedError('gone', 404),
    [new TransientError('timeout', true)],
    'lost',
  ],
  [
    'reports unsupported if neither conversations nor context records exist',
    new RejectedError('gone', 404),
    [new RejectedError('gone', 404)],
    'unsupported',
  ],
  [
    'reports bad-content if a record is refused',
    new RejectedError('gone', 404),
    [new RejectedError('bad', 400)],
    'bad-content',
  ],
  ['reports taken if the token may not list conversations', new AuthError('no permission', 403), [], 'taken'],
  ['reports taken if a record is accepted', new RejectedError('gone', 404), [], 'taken'],
] as const)('%s', async (_, asked, sent, kind) => {
  expect(await outcome(asked, sent)).toMatchObject({ kind });
});
