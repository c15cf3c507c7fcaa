/** A possible value of the word at the cursor. */
export interface CompletionItem {
  readonly value: string;
  readonly description: string;
}

/** Completions of the word at the cursor. */
export interface Completions {
  readonly words: readonly CompletionItem[];
  /** True if the shell should also complete file names. */
  readonly includesFiles: boolean;
  /** True if completed words are partial, so that the shell adds no space. */
  readonly isPartial: boolean;
}

/** Returns the completions that start with the word. */
export function matching(words: readonly CompletionItem[], word: string, isPartial = false): Completions {
  return { words: words.filter(({ value }) => value.startsWith(word)), includesFiles: false, isPartial };
}

/** Converts values to completions without descriptions. */
export function withoutDescriptions(values: readonly string[]): readonly CompletionItem[] {
  return values.map((value) => ({ value, description: '' }));
}
