/** Access to the recorded commit statuses of one organization: one change after the other. */
import type { CommitStatusRecord, CommitStatusTable } from '../../store/commit-statuses.ts';

/** Returns the records that change. */
export type RecordChange = (
  records: readonly CommitStatusRecord[],
) => readonly CommitStatusRecord[] | Promise<readonly CommitStatusRecord[]>;

/** Records that passes and the sender change at the same time. */
export class StatusRecords {
  readonly #table: CommitStatusTable;
  readonly #onChange: () => void;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(table: CommitStatusTable, onChange: () => void) {
    this.#table = table;
    this.#onChange = onChange;
  }

  /** Returns the records, newest first. Throws StoreError. */
  list(): Promise<readonly CommitStatusRecord[]> {
    return this.#inTurn(() => this.#table.list());
  }

  /** Stores the records that `change` returns. Throws StoreError. */
  async change(change: RecordChange): Promise<void> {
    await this.#inTurn(async () => {
      const changed = await change(await this.#table.list());
      if (changed.length > 0) {
        await this.#table.put(changed);
        this.#onChange();
      }
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work, work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }
}
