import { describe, expect, test } from 'vitest';
import type { SendOutcome } from '../../src/conversations/delivery/outcome.ts';
import { decide, type SentBatch, type Transition } from '../../src/conversations/delivery/transition.ts';

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
    ['a batch that is taken is sent', {}, taken, { kind: 'sent' }, sending, 0],
    ['also after lost responses', { doubts: 3 }, taken, { kind: 'sent' }, sending, 0],
    ['refused content is halved', {}, badContent, { kind: 'split' }, sending, 0],
    ['alone, it is a dead letter', { items: 1 }, badContent, { kind: 'bury', reason }, sending, 0],
    ['a lost response leaves a doubt', {}, lost, { kind: 'doubt', rest: 1 }, failing, 'backoff'],
    ['which rests longer each time', { doubts: 4 }, lost, { kind: 'doubt', rest: 5 }, failing, 'backoff'],
    ['even the sixth time, alone', { doubts: 5 }, lost, { kind: 'doubt', rest: 6 }, failing, 'backoff'],
    [
      'five times, with others answered',
      { doubts: 4, othersAnswered: true },
      lost,
      { kind: 'doubt', rest: 5 },
      failing,
      'backoff',
    ],
    [
      'six times, with others answered, it is halved',
      { doubts: 5, othersAnswered: true },
      lost,
      { kind: 'split' },
      failing,
      'backoff',
    ],
    [
      'alone, it is a dead letter then',
      { items: 1, doubts: 5, othersAnswered: true },
      lost,
      { kind: 'bury', reason: suspected },
      failing,
      'backoff',
    ],
    ['what was not sent waits again', {}, notSent, { kind: 'release' }, failing, 'backoff'],
    ['or rests, while an earlier attempt is in doubt', { doubts: 1 }, notSent, { kind: 'rest' }, failing, 'backoff'],
    [
      'refused credentials stop the sender',
      {},
      refused(false),
      { kind: 'release' },
      { kind: 'refused', reason },
      10 * MINUTE,
    ],
    [
      'an earlier doubt stays then',
      { doubts: 2 },
      refused(false),
      { kind: 'rest' },
      { kind: 'refused', reason },
      10 * MINUTE,
    ],
    [
      'a refusal by something in between leaves a doubt',
      {},
      refused(true),
      { kind: 'doubt', rest: 0 },
      { kind: 'refused', reason },
      10 * MINUTE,
    ],
    [
      'a platform without ingestion is tried every hour',
      {},
      unsupported(false),
      { kind: 'release' },
      { kind: 'unsupported', reason },
      60 * MINUTE,
    ],
    ['a cancelled batch waits again', {}, cancelled, { kind: 'release' }, null, 1000],
    ['a cancelled batch in doubt rests', { doubts: 1 }, cancelled, { kind: 'rest' }, null, 1000],
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
