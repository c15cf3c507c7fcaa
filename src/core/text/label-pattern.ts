import { messageOf } from '../errors.ts';
import { costOf, PatternSyntaxError } from './pattern-cost.ts';

/** How much of a label is looked at, in UTF-16 code units: bounds what a pattern can take, however long the label. */
const LONGEST_LABEL = 100;
/**
 * Ways to try a pattern at one place of a label, at most: two repeats without a bound are taken, three are not. One more
 * that is tried in one way only, as of `a+a+a+x` the last, is walked along each time; the worst of what is taken needs
 * a fiftieth of a second for a label made for it.
 */
const MOST_WAYS = 50_000;
/**
 * The same for a label of a few characters, where repeats without a bound count for little: what is left is what grows
 * with the pattern itself, such as `(a?){15}`, of which every way is really tried.
 */
const SHORT_LABEL = 8;
const MOST_SHORT_WAYS = 250;

/** Whether a label matches. Takes a time bounded by the pattern, whatever the label. */
export type LabelPattern = (label: string) => boolean;

/** What is wrong with a pattern for labels, in words that follow its quoted text; null: nothing. */
export function patternProblem(pattern: string): string | null {
  try {
    new RegExp(pattern, FLAGS);
  } catch (error) {
    return `is no regular expression (${reasonOf(error)})`;
  }
  try {
    const isBusy = costOf(pattern, LONGEST_LABEL) > MOST_WAYS || costOf(pattern, SHORT_LABEL) > MOST_SHORT_WAYS;
    return isBusy
      ? 'could keep a label busy for too long; give repeats a bound, such as \\d{1,20} for \\d+, and nest none'
      : null;
  } catch (error) {
    if (error instanceof PatternSyntaxError) {
      return `cannot be taken: ${error.message}`;
    }
    throw error;
  }
}

/** A pattern that has no problem, as a question about labels. Case does not matter; it may match anywhere. */
export function labelPattern(pattern: string): LabelPattern {
  const compiled = new RegExp(pattern, FLAGS);
  return (label) => compiled.test(label.slice(0, LONGEST_LABEL));
}

const FLAGS = 'iu';

/** The last part of what the engine says: "Invalid regular expression: /(/iu: Unterminated group". */
function reasonOf(error: unknown): string {
  return messageOf(error).split(': ').at(-1)?.toLowerCase() ?? 'not valid';
}
