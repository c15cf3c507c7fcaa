import { z } from 'zod';
import type { Change, ChangeResult } from '../../core/change.ts';
import { changeId } from '../../core/change.ts';
import { type Json, sameJson } from '../../core/json.ts';
import { smallest } from '../../core/lists.ts';
import { isFight, restEnds, type Undone, undoneAfter } from '../../plan/identity/flapping.ts';
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

/** Remembers what drift was undone, so that a fight is known as one, also after a restart. */
export class FightBook {
  readonly #note: Note;

  constructor(note: Note) {
    this.#note = note;
  }

  /** What was undone lately. Throws StoreError, as `after` does. */
  async undone(): Promise<readonly Undone[]> {
    const kept = entries.safeParse(await this.#note.read());
    return kept.success ? kept.data : [];
  }

  /** Notes what a pass has found and done, and answers the fights there are now. */
  async after(
    drift: ReadonlySet<Change>,
    changes: readonly Change[],
    results: readonly ChangeResult[],
    now: number,
  ): Promise<readonly Undone[]> {
    const before = await this.undone();
    const done = new Set(results.filter((each) => each.status === 'applied').map(changeId));
    const applied = changes.filter((change) => done.has(changeId(change)));
    const after = undoneAfter(before, { drift, applied, now });
    if (!sameJson(before, after)) {
      await this.#note.write(after as unknown as Json);
    }
    return after.filter(isFight);
  }
}

/** Milliseconds until the first of these fights is to be looked at again; null where there is none. */
export function untilRestEnds(fights: readonly Undone[], now: number): number | null {
  const ends = fights.map(restEnds).filter((end) => end > now);
  return ends.length === 0 ? null : smallest(ends) - now;
}
