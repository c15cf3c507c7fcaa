import { expect, test } from 'vitest';
import { PlatformDestination } from '../../src/conversations/delivery/destination.ts';
import { classifyError, type SendOutcome } from '../../src/conversations/delivery/outcome.ts';
import { RejectedError, TransientError } from '../../src/core/errors.ts';
import type { Writer } from '../../src/platform/client.ts';
import { ConversationsProbe } from '../../src/platform/conversations-probe.ts';

const CONVERSATION = { id: 'desk/1', parts: [{ type: 'message', role: 'user', body: 'Empty' }] } as const;

/** What comes of one conversation where the platform answers the question, and what is sent, with these. */
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
  ['no answer to the question: nothing was sent', new TransientError('timeout', true), [], 'not-sent'],
  ['no connection for the question', new TransientError('down', false), [], 'not-sent'],
  ['no answer to what was sent', null, [new TransientError('timeout', true)], 'lost'],
  ['no answer to what was put', new RejectedError('gone', 404), [new TransientError('timeout', true)], 'lost'],
  ['neither is there', new RejectedError('gone', 404), [new RejectedError('gone', 404)], 'unsupported'],
  ['a record is refused', new RejectedError('gone', 404), [new RejectedError('bad', 400)], 'bad-content'],
  ['it is put', new RejectedError('gone', 404), [], 'taken'],
] as const)('%s', async (_, asked, sent, kind) => {
  expect(await outcome(asked, sent)).toMatchObject({ kind });
});
