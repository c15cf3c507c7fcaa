import { z } from 'zod';
import { type Change, type ChangeResult, changeId } from '../../core/change.ts';
import { type Json, sameJson } from '../../core/json.ts';
import { smallest } from '../../core/lists.ts';
import { cooldownEnd, isFlapping, type Revert, updateReverts } from '../../plan/identity/flapping.ts';
import type { Note } from '../../store/store.ts';

const entries = z.array(
  z.object({
    address: z.string(),
    kind: z.string(),
    path: z.string(),
    times: z.number(),
    at: z.number(),
    seen: z.array(z.object({ at: z.number(), value: z.json() })),
  }),
);

/** Drift, changes and results of one pass. */
export interface PassChanges {
  readonly drift: ReadonlySet<Change>;
  readonly changes: readonly Change[];
  readonly results: readonly ChangeResult[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Remembers which drift was reverted, so that a flapping field is recognized, also after a restart. */
export class FlappingFields {
  readonly #note: Note;

  constructor(note: Note) {
    this.#note = note;
  }

  /** Recent reverts. Throws StoreError, as `record` does. */
  async reverts(): Promise<readonly Revert[]> {
    const stored = entries.safeParse(await this.#note.read());
    return stored.success ? stored.data : [];
  }

  /** Records a pass, and returns the fields that are flapping now. */
  async record({ drift, changes, results, now }: PassChanges): Promise<readonly Revert[]> {
    const before = await this.reverts();
    const done = new Set(results.filter((each) => each.status === 'applied').map(changeId));
    const applied = changes.filter((change) => done.has(changeId(change)));
    const after = updateReverts(before, { drift, applied, now });
    if (!sameJson(before, after)) {
      await this.#note.write(after as unknown as Json);
    }
    return after.filter(isFlapping);
  }
}

/** Milliseconds until the first of these fields may be reverted again; null if there are none. */
export function cooldownLeft(flapping: readonly Revert[], now: number): number | null {
  const ends = flapping.map(cooldownEnd).filter((end) => end > now);
  return ends.length === 0 ? null : smallest(ends) - now;
}
