/** Finds out who wrote what a plan would apply: the commits since the last one that was applied completely. */
import { isObject } from '../../core/json.ts';
import type { CommitAuthors } from '../../git/commits.ts';
import type { Note } from '../../store/store.ts';
import type { DesiredSource } from './source.ts';

export interface PlanAuthorsOptions {
  /** Keeps the last commit that was applied completely. */
  readonly note: Note;
  readonly source: Pick<DesiredSource, 'authors' | 'applied'>;
}

/** Authors of the plans of one organization. */
export class PlanAuthors {
  readonly #options: PlanAuthorsOptions;
  /** Last commit that was applied completely; null if there is none, undefined before it was read. */
  #applied: string | null | undefined;
  #last: { readonly range: string; readonly authors: CommitAuthors } | null = null;

  constructor(options: PlanAuthorsOptions) {
    this.#options = options;
  }

  /** Returns who wrote what a plan for this commit would apply; null if it cannot be known. Throws what the source throws. */
  async read(commit: string | null): Promise<CommitAuthors | null> {
    if (commit === null) {
      return null;
    }
    this.#applied ??= (await this.#noted()) ?? (await this.#options.source.applied?.read())?.commit ?? null;
    const range = `${this.#applied} ${commit}`;
    if (this.#last?.range !== range) {
      const authors = await this.#options.source.authors({ from: this.#applied, to: commit });
      this.#last = authors === null ? null : { range, authors };
    }
    return this.#last?.authors ?? null;
  }

  /** Records that every change of a commit was applied. Throws StoreError. */
  async recordApplied(commit: string | null): Promise<void> {
    if (commit !== null && commit !== this.#applied) {
      await this.#options.note.write({ commit });
      this.#applied = commit;
    }
  }

  async #noted(): Promise<string | null> {
    const value = await this.#options.note.read();
    return isObject(value) && typeof value.commit === 'string' ? value.commit : null;
  }
}
