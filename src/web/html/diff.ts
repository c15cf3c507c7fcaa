/** Old and new values side by side in a line: what is gone and what is new, by words, with signs for people who see no colors. */
import { diffWordsWithSpace } from 'diff';
import { html } from 'hono/html';
import { type FieldLine, withEmoji } from '../../plan/render/field-text.ts';
import type { Html } from '../page.ts';

/** Differences of words that are looked for; values that differ in more are replaced as a whole. */
const MAX_EDITS = 40;
/** Part of the longer value that has to stay for a comparison by words to be readable. */
const MIN_COMMON = 0.3;
const LONGEST = 400;

/** Returns the old and the new value of a line, with emoji instead of their code points unless both are the same emoji. */
export function lineValues({ name, from = '', to = '' }: FieldLine): readonly [before: string, after: string] {
  const [before, after] = [withEmoji(name, from), withEmoji(name, to)];
  return before === after ? [from, to] : [before, after];
}

/** Returns what a line about a field says. */
export function lineDiff(line: FieldLine): Html {
  const { name, text, value, from, to, items } = line;
  if (items !== undefined) {
    return html`${items.map((item, index) => html`${index === 0 ? '' : ' '}${signed(item)}`)}`;
  }
  if (value !== undefined) {
    return html`${withEmoji(name, value)}`;
  }
  const [before, after] = lineValues(line);
  if (from !== undefined && to !== undefined) {
    return wordDiff(before, after);
  }
  if (before + after === '') {
    return signed(text);
  }
  return from === undefined ? html`<ins>${after}</ins>` : html`<del>${before}</del>`;
}

/** Returns a text that begins with a sign as removed or added. */
function signed(text: string): Html {
  const rest = text.slice(2);
  if (text.startsWith('- ')) {
    return html`<del>${rest}</del>`;
  }
  return text.startsWith('+ ') ? html`<ins>${rest}</ins>` : html`${text}`;
}

function wordDiff(before: string, after: string): Html {
  const isShort = before.length <= LONGEST && after.length <= LONGEST;
  const parts = isShort ? diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITS }) : undefined;
  const common = (parts ?? []).filter(({ added, removed }) => !added && !removed).map(({ value }) => value.trim());
  const length = common.reduce((sum, value) => sum + value.length, 0);
  if (parts === undefined || length < MIN_COMMON * Math.max(before.length, after.length)) {
    return html`<del>${before}</del> → <ins>${after}</ins>`;
  }
  return html`${parts.map(({ added, removed, value }) => (removed ? html`<del>${value}</del>` : added ? html`<ins>${value}</ins>` : value))}`;
}
