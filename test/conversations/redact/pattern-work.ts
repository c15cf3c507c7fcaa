/** Counts the work of regular expressions. */
import { vi } from 'vitest';

export interface Work {
  /** Number of calls of a pattern, and of the characters that it read. */
  calls: number;
  characters: number;
  /** Patterns that received a long text. */
  readonly wide: Set<string>;
}

/** Counts the calls of patterns during an operation. */
export function workOf(action: () => void): Work {
  const work: Work = { calls: 0, characters: 0, wide: new Set() };
  // biome-ignore lint/suspicious/noExplicitAny: the original function accepts and returns any type
  const exec = RegExp.prototype.exec as any;
  vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, text: string) {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const answer = exec.call(this, text) as RegExpExecArray | null;
    work.calls += 1;
    // A sticky pattern checks one position only.
    const asked = answer === null ? (this.sticky ? 1 : text.length - from) : answer.index + answer[0].length - from;
    work.characters += asked;
    if (text.length > 10_000) {
      work.wide.add(this.source);
    }
    return answer;
  });
  try {
    action();
  } finally {
    vi.restoreAllMocks();
  }
  return work;
}
