/** Interleaves edits and faults with polls of a provider. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { PollingSource } from '../../src/conversations/model/source.ts';
import type { SourceRecord } from '../../src/conversations/model/ticket.ts';
import { TransientError } from '../../src/core/errors.ts';
import type { Json } from '../../src/core/json.ts';
import type { FakeProvider, Fault } from './fake-provider.ts';
import type { SocketClock } from './polls.ts';

/** Events between a helpdesk and the process that polls it. */
export type InterleavedStep<Edit> =
  | Edit
  | { readonly kind: 'wait'; readonly seconds: number }
  | {
      readonly kind: 'poll';
      /** Batches until the polling process is killed. */
      readonly batches: number;
      /** Events between its requests, one before each. */
      readonly meanwhile: readonly (Edit | null)[];
      readonly faults: readonly (Fault | null)[];
    }
  /** Invalidates all earlier cursors. */
  | { readonly kind: 'expire' };

/** Steps with such edits; `longest`: the longest wait between them, in seconds. */
export function interleavedSteps<Edit>(
  edit: fc.Arbitrary<Edit>,
  longest: number,
): fc.Arbitrary<InterleavedStep<Edit>[]> {
  const step: fc.Arbitrary<InterleavedStep<Edit>> = fc.oneof(
    { weight: 6, arbitrary: edit },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 0, max: longest }) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('poll' as const),
        batches: fc.integer({ min: 1, max: 6 }),
        meanwhile: fc.array(fc.option(edit, { freq: 2 }), { maxLength: 6 }),
        faults: fc.array(
          fc.option(fc.constantFrom<Fault>(500, 503, 429, 'truncated', 'dropped', 'html'), { freq: 3 }),
          { maxLength: 5 },
        ),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const) }) },
  );
  return fc.array(step, { minLength: 5, maxLength: 40 });
}

export interface Interleaving<Edit> {
  readonly clock: SocketClock;
  readonly fake: FakeProvider;
  readonly source: PollingSource;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly apply: (edit: Edit) => void;
  readonly expire: () => void;
  /** Milliseconds after which the last poll sees everything. */
  readonly settling: number;
}

/**
 * Runs the steps, polls once more undisturbed, and closes the source. Returns everything that was found and stored
 * durably.
 */
export async function playInterleaved<Edit extends { readonly kind: 'edit' }>(
  { clock, fake, source, since, apply, expire, settling }: Interleaving<Edit>,
  steps: readonly InterleavedStep<Edit>[],
): Promise<SourceRecord[]> {
  let cursor: Json = null;
  const found: SourceRecord[] = [];
  const poll = async (batches: number) => {
    let left = batches;
    for await (const batch of source.poll({ cursor, since, signal: new AbortController().signal })) {
      // Killed before the last batch is durable.
      if (left-- === 0) {
        return;
      }
      found.push(...batch.found);
      cursor = structuredClone(batch.cursor);
    }
  };
  try {
    for (const one of steps) {
      if (one.kind === 'edit') {
        apply(one);
      } else if (one.kind === 'wait') {
        await clock.advance(one.seconds * 1000);
      } else if (one.kind === 'expire') {
        expire();
      } else {
        const meanwhile = [...one.meanwhile];
        const faults = [...one.faults];
        fake.meanwhile = () => {
          const next = meanwhile.shift();
          if (next != null) {
            apply(next);
          }
        };
        fake.fault = () => faults.shift() ?? null;
        // A poll ends after too many faults; the next one continues from the cursor.
        await clock.run(poll(one.batches)).catch((error: unknown) => expect(error).toBeInstanceOf(TransientError));
      }
    }
    fake.meanwhile = () => undefined;
    fake.fault = () => null;
    await clock.advance(settling);
    await clock.run(poll(Number.POSITIVE_INFINITY));
  } finally {
    await clock.run(source.close());
  }
  return found;
}
