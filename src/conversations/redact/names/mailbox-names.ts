/** Finds the names before addresses in mail headers and quotes: `From: Ana Smith <ana@example.com>`. */
import { NEVER } from './name-words.ts';

/** An address in angle brackets, or in square brackets after `mailto:`, as Outlook writes it. */
const MAILBOX = /[ \t]{0,3}(?:<|\[mailto:)(?:mailto:)?([\p{L}\p{N}._%+'-]{1,64})@[\p{L}\p{N}]/gu;
const WORD = "(?:\\p{Lu}(?:[\\p{L}\\p{M}]|['’.-](?=\\p{L})){0,30}\\.?|\\p{Lo}[\\p{L}\\p{M}]{0,24})";
const PARTICLE = '(?:van|von|der|den|de|del|della|di|da|do|dos|das|du|la|le|al|el|bin|ibn|ter|ten|zu|af|av)';
const NAME = `${WORD}(?:,?[ \\u00a0](?:${PARTICLE}[ \\u00a0]){0,3}${WORD}){1,4}`;
/** The end of the text before an address: a name in quotes, or a name after the start of a line or punctuation. */
const BEFORE = new RegExp(
  `(?:["“«](${NAME})["”»]|(?:^|[\\n>:,;(*"“，：]|\\b[\\d:]{4,8}(?: ?[AP]M)?,?|(?<!\\p{L})(?:[Aa]uthor|by|schrieb|schreef|skrev|von|par|por|od|от|від))[ \\t\\u00a0]{0,4}(${NAME}))$`,
  'u',
);
/** Names of shared mailboxes, in addition to the words that are never names. */
const ROLES = new Set(
  'notification notifications alert alerts news newsletter hello hi no-reply donotreply bounce bounces build ci git root daemon'.split(
    ' ',
  ),
);
/** Longest distance from a name to its address, in characters. */
const REACH = 120;

/** Returns the names before addresses, in order, without those of shared mailboxes. */
export function mailboxNames(text: string): readonly string[] {
  const names: string[] = [];
  for (const { index, 1: local = '' } of text.matchAll(MAILBOX)) {
    const [, quoted, bare] = BEFORE.exec(text.slice(Math.max(0, index - REACH), index)) ?? [];
    const name = quoted ?? bare;
    if (name !== undefined && !isRole(local) && !hasRole(name)) {
      names.push(inOrder(name));
    }
  }
  return names;
}

/** Converts `Smith, Ana` to `Ana Smith`. */
function inOrder(name: string): string {
  const [last = '', first] = name.split(/, ?/, 2);
  return first === undefined ? name : `${first} ${last}`;
}

function isRole(local: string): boolean {
  return local.split(/[._+-]/).some((word) => NEVER.has(word.toLowerCase()) || ROLES.has(word.toLowerCase()));
}

function hasRole(name: string): boolean {
  return name.split(/[ ,\u00a0]+/).some((word) => /^\p{Lu}/u.test(word) && NEVER.has(word.toLowerCase()));
}
