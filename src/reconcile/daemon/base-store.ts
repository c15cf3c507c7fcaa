import { createHash } from 'node:crypto';
import type { Address } from '../../core/address.ts';
import { messageOf } from '../../core/errors.ts';
import type { Base } from '../../core/resource.ts';
import type { OrganizationRecord } from '../../store/store.ts';
import { baseOfRecord, baseToEntry } from '../record.ts';
import type { PassEvents } from './pass.ts';
import type { AppliedRef } from './source.ts';

export interface BaseStoreOptions {
  readonly record: OrganizationRecord;
  /** The ref in the repository that records what was applied; null if there is none. */
  readonly applied: AppliedRef | null;
  /** A dry run records nothing. */
  readonly isDry: boolean;
  readonly events: PassEvents;
}

/** The base of an organization: read from the daemon's record or, if that was lost, from the repository. */
export class BaseStore {
  readonly #options: BaseStoreOptions;
  /** Digest of the commit and the ids that this process has recorded in the repository. */
  #recorded: string | null = null;

  constructor(options: BaseStoreOptions) {
    this.#options = options;
  }

  /**
   * Reads the base of the next plan. If the record is empty, restores it from what the repository records as applied.
   * Throws StoreError, and SourceError or DesiredStateError if the repository cannot be read.
   */
  async read(): Promise<{ readonly base: Base; readonly commit: string | null }> {
    const { record, applied, isDry, events } = this.#options;
    const known = await baseOfRecord(record);
    const found = known.base === null ? await applied?.read() : undefined;
    if (found === undefined || found === null) {
      return known;
    }
    events.onBaseRestored?.(found.commit, found.base.size);
    if (!isDry) {
      // Written in one step, before anything else, so that ownership is known even if the pass is interrupted.
      await record.put([...found.base.values()].map(baseToEntry));
    }
    return found;
  }

  /** Records a commit as applied in the repository, with the ids of the resources it declares, if that is configured. */
  async recordApplied(commit: string | null, ids: ReadonlyMap<Address, string>): Promise<void> {
    const ref = this.#options.applied;
    if (ref === null || commit === null) {
      return;
    }
    const digest = createHash('sha256')
      .update(JSON.stringify([commit, ...[...ids].sort()]))
      .digest('hex');
    if (digest === this.#recorded) {
      return;
    }
    try {
      await ref.move(commit, ids);
      this.#recorded = digest;
    } catch (error) {
      this.#options.events.onRecordFailed?.(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }
}
