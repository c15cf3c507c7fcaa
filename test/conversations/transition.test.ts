import { expect, test } from 'vitest';
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

test.each<[Partial<SentBatch>, SendOutcome, Transition['change'], Transition['state'] | object, Transition['pause']]>([
  [{}, taken, { kind: 'sent' }, sending, 0],
  [{ doubts: 3 }, taken, { kind: 'sent' }, sending, 0],
  [{}, badContent, { kind: 'split' }, sending, 0],
  [{ items: 1 }, badContent, { kind: 'bury', reason }, sending, 0],
  [{}, lost, { kind: 'doubt', rest: 1 }, failing, 'backoff'],
  [{ doubts: 4 }, lost, { kind: 'doubt', rest: 5 }, failing, 'backoff'],
  // The sixth lost response makes the batch suspect, but only if others were answered.
  [{ doubts: 5 }, lost, { kind: 'doubt', rest: 6 }, failing, 'backoff'],
  [{ doubts: 4, othersAnswered: true }, lost, { kind: 'doubt', rest: 5 }, failing, 'backoff'],
  [{ doubts: 5, othersAnswered: true }, lost, { kind: 'split' }, failing, 'backoff'],
  [{ items: 1, doubts: 5, othersAnswered: true }, lost, { kind: 'bury', reason: suspected }, failing, 'backoff'],
  [{}, notSent, { kind: 'release' }, failing, 'backoff'],
  [{ doubts: 1 }, notSent, { kind: 'rest' }, failing, 'backoff'],
  [{}, refused(false), { kind: 'release' }, { kind: 'refused', reason }, 10 * MINUTE],
  [{ doubts: 2 }, refused(false), { kind: 'rest' }, { kind: 'refused', reason }, 10 * MINUTE],
  // An intermediary refused it, and may have forwarded it.
  [{}, refused(true), { kind: 'doubt', rest: 0 }, { kind: 'refused', reason }, 10 * MINUTE],
  [{}, unsupported(false), { kind: 'release' }, { kind: 'unsupported', reason }, 60 * MINUTE],
  [{}, cancelled, { kind: 'release' }, null, 1000],
  [{ doubts: 1 }, cancelled, { kind: 'rest' }, null, 1000],
])('a batch %o that gets %o', (batch, outcome, change, state, pause) => {
  expect(decide({ items: 2, doubts: 0, othersAnswered: false, ...batch }, outcome)).toEqual({ change, state, pause });
});

test('a batch that the platform may have accepted is never given up', () => {
  for (const outcome of [lost, notSent, cancelled, refused(true), refused(false), unsupported(true)]) {
    for (const doubts of [1, 2, 20]) {
      const { change } = decide({ items: 1, doubts, othersAnswered: false }, outcome);
      expect(['doubt', 'rest']).toContain(change.kind);
    }
  }
});
