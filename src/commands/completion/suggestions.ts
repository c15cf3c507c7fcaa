/** One word that may stand where the cursor is. */
export interface Suggestion {
  readonly value: string;
  readonly description: string;
}

/** What a shell may offer. */
export interface Suggestions {
  readonly words: readonly Suggestion[];
  /** Whether the shell's own file names belong here. */
  readonly areFiles: boolean;
  /** Whether the word goes on after what is offered: no space follows it. */
  readonly goesOn: boolean;
}

/** Those that begin as the word does. */
export function offered(words: readonly Suggestion[], word: string, goesOn = false): Suggestions {
  return { words: words.filter(({ value }) => value.startsWith(word)), areFiles: false, goesOn };
}

/** Values that need no description. */
export function plain(values: readonly string[]): readonly Suggestion[] {
  return values.map((value) => ({ value, description: '' }));
}
