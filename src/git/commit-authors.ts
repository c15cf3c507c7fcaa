/** Reads who wrote a range of commits, as the commits themselves claim it. */
import type { Git } from './run.ts';

/** People who wrote commits. */
export interface CommitAuthors {
  /** Emails of authors, committers and co-authors, in lower case. */
  readonly emails: ReadonlySet<string>;
  /** False if there are more commits than were read. */
  readonly isComplete: boolean;
}

/** Range of commits: those that only one of the two commits has in its history. */
export interface CommitRange {
  /** Null: the whole history of `to`. */
  readonly from: string | null;
  readonly to: string;
}

/** Maximum number of commits that are read, the newest ones, and bytes of what is read of them. */
export const MAX_COMMITS = 1000;
const MAX_BYTES = 16 * 1_048_576;
const FORMAT = '%H%n%ae%n%ce%n%(trailers:key=Co-authored-by,valueonly,unfold)';

interface CommitPeople {
  readonly commit: string;
  readonly emails: readonly string[];
}

/**
 * Reads who wrote the commits of a range, and the commit `to` in any case. If `from` is not an ancestor of `to`, because
 * the branch was force-pushed, the commits that were removed count too. If `from` no longer exists, the whole history of
 * `to` counts. Returns null if the history is not complete (a shallow clone) or cannot be read.
 */
export async function readCommitAuthors(git: Git, { from, to }: CommitRange): Promise<CommitAuthors | null> {
  const list = async (...revisions: readonly string[]) => {
    const options = ['-z', `--format=${FORMAT}`, `--max-count=${MAX_COMMITS + 1}`];
    return commitsIn(await git.raw(['log', ...options, ...revisions, '--'], MAX_BYTES));
  };
  try {
    if ((await git.raw(['rev-parse', '--is-shallow-repository'])).trim() !== 'false') {
      return null;
    }
    const range = from === null ? null : await list(`${from}...${to}`).catch(() => null);
    const commits = range ?? (await list(to));
    const newest = commits.slice(0, MAX_COMMITS);
    const own = newest.some(({ commit }) => commit === to) ? [] : await list('--no-walk', to);
    return {
      emails: new Set([...newest, ...own].flatMap(({ emails }) => emails)),
      isComplete: commits.length <= MAX_COMMITS,
    };
  } catch {
    return null;
  }
}

/** Reads the output of `git log`. */
function commitsIn(output: string): readonly CommitPeople[] {
  return output
    .split('\0')
    .filter((text) => text !== '')
    .map((text) => {
      const [commit = '', author = '', committer = '', ...coAuthors] = text.split('\n');
      const people = [author, committer, ...coAuthors.map(emailIn)];
      return { commit, emails: people.map(normalizeEmail).filter((email) => email !== '') };
    });
}

/** Returns the email of `Name <email>`; the whole text if it has no brackets. */
function emailIn(person: string): string {
  return /<([^<>]*)>[^<>]*$/.exec(person)?.[1] ?? person;
}

/** Returns the form in which emails are compared. */
export function normalizeEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}
