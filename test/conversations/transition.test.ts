import { describe, expect, test } from 'vitest';
import { decide, type SendOutcome, type SentBatch, type Transition } from '../../src/conversations/sender.ts';

const MINUTE = 60_000;
const reason = 'why';
const taken: SendOutcome = { kind: 'taken' };
const badContent: SendOutcome = { kind: 'bad-content', reason };
const lost: SendOutcome = { kind: 'lost', reason };
const notSent: SendOutcome = { kind: 'not-sent', reason };
const cancelled: SendOutcome = { kind: 'cancelled' };
const refused = (maybeTaken: boolean): SendOutcome => ({ kind: 'refused', reason, maybeTaken });
const unsupported = (maybeTaken: boolean): SendOutcome => ({ kind: 'unsupported', reason, maybeTaken });

const sending = { kind: 'sending' };
const failing = { kind: 'failing', reason };
const suspected = 'no response after 6 attempts, while other batches succeeded: why';

describe('decide', () => {
  test.each<
    [string, Partial<SentBatch>, SendOutcome, Transition['change'], Transition['state'] | object, Transition['pause']]
  >([
    ['marks an accepted batch as sent', {}, taken, { kind: 'sent' }, sending, 0],
    ['marks a batch as sent that is accepted after lost responses', { doubts: 3 }, taken, { kind: 'sent' }, sending, 0],
    ['splits a batch with refused content', {}, badContent, { kind: 'split' }, sending, 0],
    ['makes a single refused item a dead letter', { items: 1 }, badContent, { kind: 'bury', reason }, sending, 0],
    ['marks a batch as in doubt after a lost response', {}, lost, { kind: 'doubt', rest: 1 }, failing, 'backoff'],
    ['rests longer after each lost response', { doubts: 4 }, lost, { kind: 'doubt', rest: 5 }, failing, 'backoff'],
    [
      'keeps resting after six lost responses if no other batch was answered',
      { doubts: 5 },
      lost,
      { kind: 'doubt', rest: 6 },
      failing,
      'backoff',
    ],
    [
      'keeps resting after five lost responses while others were answered',
      { doubts: 4, othersAnswered: true },
      lost,
      { kind: 'doubt', rest: 5 },
      failing,
      'backoff',
    ],
    [
      'splits a batch after six lost responses while others were answered',
      { doubts: 5, othersAnswered: true },
      lost,
      { kind: 'split' },
      failing,
      'backoff',
    ],
    [
      'makes a single item a dead letter after six lost responses while others were answered',
      { items: 1, doubts: 5, othersAnswered: true },
      lost,
      { kind: 'bury', reason: suspected },
      failing,
      'backoff',
    ],
    ['releases a batch that was not sent', {}, notSent, { kind: 'release' }, failing, 'backoff'],
    [
      'rests a batch that was not sent if an earlier attempt is in doubt',
      { doubts: 1 },
      notSent,
      { kind: 'rest' },
      failing,
      'backoff',
    ],
    [
      'stops the sender for refused credentials',
      {},
      refused(false),
      { kind: 'release' },
      { kind: 'refused', reason },
      10 * MINUTE,
    ],
    [
      'keeps an earlier doubt when credentials are refused',
      { doubts: 2 },
      refused(false),
      { kind: 'rest' },
      { kind: 'refused', reason },
      10 * MINUTE,
    ],
    [
      'marks a batch as in doubt after a refusal by an intermediary',
      {},
      refused(true),
      { kind: 'doubt', rest: 0 },
      { kind: 'refused', reason },
      10 * MINUTE,
    ],
    [
      'retries a platform without ingestion every hour',
      {},
      unsupported(false),
      { kind: 'release' },
      { kind: 'unsupported', reason },
      60 * MINUTE,
    ],
    ['releases a cancelled batch', {}, cancelled, { kind: 'release' }, null, 1000],
    ['rests a cancelled batch in doubt', { doubts: 1 }, cancelled, { kind: 'rest' }, null, 1000],
  ])('%s', (_, batch, outcome, change, state, pause) => {
    expect(decide({ items: 2, doubts: 0, othersAnswered: false, ...batch }, outcome)).toEqual({ change, state, pause });
  });

  test('never gives up a batch that the platform may have accepted', () => {
    for (const outcome of [lost, notSent, cancelled, refused(true), refused(false), unsupported(true)]) {
      for (const doubts of [1, 2, 20]) {
        const { change } = decide({ items: 1, doubts, othersAnswered: false }, outcome);
        expect(['doubt', 'rest']).toContain(change.kind);
      }
    }
  });
});
