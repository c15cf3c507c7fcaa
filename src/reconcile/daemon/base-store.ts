import { createHash } from 'node:crypto';
import type { Address } from '../../core/address.ts';
import type { ChangeResult } from '../../core/change.ts';
import { messageOf } from '../../core/errors.ts';
import type { Base } from '../../core/resource.ts';
import type { OrganizationRecord } from '../../store/store.ts';
import { baseOfRecord, baseToEntry } from '../record.ts';
import type { PassEvents } from './pass.ts';
import type { AppliedRef } from './source.ts';

export interface OwnershipOptions {
  readonly record: OrganizationRecord;
  /** The repository's own word on what was applied; null where it has none. */
  readonly applied: AppliedRef | null;
  /** Nothing is recorded by a dry run. */
  readonly isDry: boolean;
  readonly events: PassEvents;
}

/** What a daemon owns: its record says so, and where that was lost, the repository. */
export class Ownership {
  readonly #options: OwnershipOptions;
  /** The commit and the ids that this process has recorded in the repository. */
  #moved: string | null = null;

  constructor(options: OwnershipOptions) {
    this.#options = options;
  }

  /**
   * The base of the next plan. Where the record is empty it is what the repository says was applied, which is taken
   * into the record. Throws StoreError, and SourceError or DesiredStateError where the repository cannot tell.
   */
  async base(): Promise<{ readonly base: Base; readonly commit: string | null }> {
    const { record, applied, isDry, events } = this.#options;
    const known = await baseOfRecord(record);
    const found = known.base === null ? await applied?.read() : undefined;
    if (found === undefined || found === null) {
      return known;
    }
    events.onTakenOver?.(found.commit, found.base.size);
    if (!isDry) {
      // All at once, before anything else: a pass that is ended half-way still knows what it owns.
      await record.put([...found.base.values()].map(baseToEntry));
    }
    return found;
  }

  /**
   * After an apply: records its commit and the ids of what it declares in the repository, where that is asked for and
   * nothing is left to do.
   */
  async applied(
    commit: string | null,
    results: readonly ChangeResult[],
    ids: ReadonlyMap<Address, string>,
  ): Promise<void> {
    const ref = this.#options.applied;
    // What is held, paused or failed was not applied: kept as if it were, it would be taken for something else.
    const isLeft = results.some((result) => result.status !== 'applied');
    if (ref === null || commit === null || isLeft) {
      return;
    }
    const known = createHash('sha256')
      .update(JSON.stringify([commit, ...[...ids].sort()]))
      .digest('hex');
    if (known === this.#moved) {
      return;
    }
    try {
      await ref.move(commit, ids);
      this.#moved = known;
    } catch (error) {
      this.#options.events.onNotRecorded?.(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }
}
