/** Access to the recorded commit statuses of one organization: one change after the other. */
import type { CommitStatusRecord, CommitStatusTable } from '../../store/commit-statuses.ts';
import { type RepeatOptions, untilStored } from '../../store/until-stored.ts';

/** Returns the records that change. */
export type RecordChange = (
  records: readonly CommitStatusRecord[],
) => readonly CommitStatusRecord[] | Promise<readonly CommitStatusRecord[]>;

export interface StatusRecordsOptions {
  readonly table: CommitStatusTable;
  readonly onChange: () => void;
  /** Repeats a change that the store fails, before any later one. Absent: it fails. */
  readonly repeat?: RepeatOptions;
}

/** Records that passes and the sender change at the same time. */
export class StatusRecords {
  readonly #options: StatusRecordsOptions;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: StatusRecordsOptions) {
    this.#options = options;
  }

  /** Returns the records, newest first. Throws StoreError. */
  list(): Promise<readonly CommitStatusRecord[]> {
    return this.#inTurn(() => this.#options.table.list());
  }

  /** Stores the records that `change` returns; it is called again if the store fails. Throws StoreError. */
  async change(change: RecordChange): Promise<void> {
    const { table, onChange, repeat } = this.#options;
    const store = async (isRepeated: boolean) => {
      const changed = await change(await table.list());
      if (changed.length > 0) {
        await table.put(changed);
      }
      // An earlier attempt may have stored it.
      if (changed.length > 0 || isRepeated) {
        onChange();
      }
    };
    await this.#inTurn(() => (repeat === undefined ? store(false) : untilStored(store, repeat)));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work, work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }
}
