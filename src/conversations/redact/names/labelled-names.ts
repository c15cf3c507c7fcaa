/** Finds names by their place in a form, a table, a chat, a mail header: `Assignee: Ana Smith`, `[10:42] Ana: …`. */
import data from '../data/name-words.json' with { type: 'json' };
import { fold } from '../model/fold.ts';
import { labelBefore, labelsFrom } from '../model/label-words.ts';
import { matchesIn } from '../model/matches.ts';
import { nearAfter, type Reading } from '../model/reading.ts';
import { cellsUnder, isTechnicalTable } from '../model/table-columns.ts';
import { isCommon, isGivenName, NEVER, nameIn, namePattern } from './name-words.ts';

/** Labels for the name of a person, or for a role that a form fills with a name. */
const LABELS = labelsFrom(data.labels.join('|'));
/** Labels after which even a single word is a name. */
const SINGLE =
  /^(?:first|last|given|family|sur|vor|nach|pr[ée]nom|apellido|sobrenome|cognome|f[oö]r|ef|et|suku|imi|nazw|im|фам|имя|имe|им|ім|пр|През|επ|soy|שם|الاسم|اسم|नाम|ชื่อ|姓名|名字|联系人|聯絡人|氏名|お名前|名前|이름|성명|성함|담당자)/iu;
const NAME = namePattern(5);
const VALUE = new RegExp(
  `[ \\t"'*_|:：]{0,6}(?:<\\/?[a-z]{1,8}>[ \\t]{0,2}){0,3}["'|]?[ \\t]{0,2}(?:[a-z]{1,3}\\. )?(${NAME})(?=["'*_<|\\t,;()]|[ \\t]{0,3}(?:\\r?\\n|$)|[ \\t]{2}|[ \\t]{1,2}[|(<]|[ \\t]?[.!](?:\\s|$))`,
  'uy',
);
/** Longest distance from the start of a label to its sign, in characters. */
const LABEL_REACH = 100;
const SEPARATOR = /[:：|\t]| [-–—](?= )/g;
/** Labels of contact data. A plain "Name" counts only near one of them, as in forms about people. */
const CONTACT =
  /(?:e-?mail|mail|phone|telephone|telefon|tel|mobile|mobil|cell|handy|fax|whats ?app|address|adresse|anschrift|date of birth|birth ?date|birthday|dob|born|geb\.|geboren|geburtsdatum)[^\n:：|\t]{0,20}?(?:[:：|\t]| - )/iu;
/** Longest distance from a name to contact data, in characters. */
const NEAR = 200;
/** Labels that mean the family name if there is a separate field for the given name. */
const FAMILY = new Set(['name', 'nom', 'nombre', 'nome', 'naam', 'namn', 'navn', 'nume']);
const GIVEN =
  /(?<!\p{L})(?:first name|given name|vorname|pr[ée]nom|apellidos?|sobrenome|apelido|cognome|voornaam|förnamn|fornavn|prenume)[ \t]?[:：|\t]/iu;
const WHOLE = new RegExp(`^${NAME}(?:,[ ]${NAME})?$`, 'u');

/** Returns the names that a form, a table, a chat or a mail header announces, in order. */
export function labelledNames(reading: Reading): readonly string[] {
  const { text, bits } = reading;
  const mayFollow = nearAfter(reading, LABELS.bit, LABEL_REACH);
  const names: (string | null)[] = [];
  const hasLabel = (bits & LABELS.bit) !== 0;
  for (const { index, 0: sign } of hasLabel ? matchesIn(text, SEPARATOR) : []) {
    VALUE.lastIndex = index + sign.length;
    const value = mayFollow(index) ? VALUE.exec(text)?.[1] : undefined;
    const label = value === undefined ? null : labelBefore(text, index, LABELS);
    if (value !== undefined && label !== null) {
      const near = text.slice(Math.max(0, index - NEAR), index + NEAR);
      names.push(
        label !== 'name' || CONTACT.test(near)
          ? labelledName(value, label, FAMILY.has(label) && GIVEN.test(near))
          : null,
      );
    }
  }
  return [...names, ...(hasLabel ? columnNames(text) : []), ...mailboxNames(text), ...speakers(text)].filter(
    (name) => name !== null,
  );
}

function labelledName(value: string, label: string, isPart = false): string | null {
  const name = nameIn(value, isPart || SINGLE.test(label) ? 'strong' : 'weak');
  const isWhole = name !== null && value.replace(/[.\s]+$/, '').endsWith(name);
  const isEnough = name !== null && (/[ \u3000]/.test(name) || isPart || SINGLE.test(label) || isGivenName(name));
  return isWhole && isEnough && /\p{L}{2}|^\p{Lo}/u.test(name) ? name : null;
}

/** Returns the label that makes up a whole heading: `full_name`, `Full name`, but not `Create contact`. */
function headingLabel(heading: string): string | null {
  const label = labelBefore(`${heading}:`, heading.length + 1, LABELS);
  if (label === null) {
    return null;
  }
  const words = heading.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll(/[\s_-]+/g, ' ');
  return words.trim().length > label.length ? null : label;
}

/** Returns names in table columns whose heading announces them. */
function columnNames(text: string): readonly (string | null)[] {
  const isContact = (headings: readonly string[]) => headings.some((each) => CONTACT.test(`${each}:`));
  return cellsUnder(text, (heading, headings) => {
    const label = headingLabel(heading);
    // A table with two columns may be a form, with the labels in the first one.
    const isClear = label !== 'name' && headings.length > 2;
    return label !== null && (isClear || isContact(headings)) && !isTechnicalTable(headings);
  }).map(({ cell, heading }) =>
    WHOLE.test(cell.text) ? labelledName(inOrder(cell.text), headingLabel(heading) ?? '') : null,
  );
}

/** An address in angle brackets, or in square brackets after `mailto:`, as Outlook writes it. */
const MAILBOX = /[ \t]{0,3}(?:<|\[mailto:)(?:mailto:)?([\p{L}\p{N}._%+'-]{1,64})@[\p{L}\p{N}]/gu;
const MAILBOX_START = /<|\[mailto:/;
const LISTED = `${NAME}(?:, ?${NAME})?`;
/** The end of the text before an address: a name in quotes, or a name after the start of a line or punctuation. */
const BEFORE = new RegExp(
  `(?:["“«](${LISTED})["”»]|(?:^|[\\n>:,;(*"“，：]|\\b[\\d:]{4,8}(?: ?[AP]M)?,?|(?<!\\p{L})(?:[Aa]uthor|by|schrieb|schreef|skrev|von|par|por|od|от|від))[ \\t\\u00a0]{0,4}(${LISTED}))$`,
  'u',
);
/** Names of shared mailboxes, in addition to the words that are never names. */
const MAILBOXES = new Set(
  'notification notifications alert alerts news newsletter hello hi no-reply donotreply bounce bounces build ci git root daemon'.split(
    ' ',
  ),
);
/** Longest distance from a name to its address, in characters. */
const REACH = 120;

/** Returns the names before addresses, without those of shared mailboxes. */
function mailboxNames(text: string): readonly (string | null)[] {
  return (text.includes('@') && MAILBOX_START.test(text) ? matchesIn(text, MAILBOX) : []).map(
    ({ index, 1: local = '' }) => {
      const [, quoted, plain] = BEFORE.exec(text.slice(Math.max(0, index - REACH), index)) ?? [];
      const name = inOrder(quoted ?? plain ?? '');
      const isRole = (word: string) => NEVER.has(fold(word).text) || MAILBOXES.has(word.toLowerCase());
      const isShared =
        local.split(/[._+-]/).some(isRole) || name.split(' ').some((word) => /^\p{Lu}/u.test(word) && isRole(word));
      const own = nameIn(name, 'strong');
      // "Example Archive Signing Key": an ordinary word ends the name, so it is that of an organization.
      return isShared || !name.includes(' ') || own === null || !name.replace(/[.,\s]+$/, '').endsWith(own)
        ? null
        : own;
    },
  );
}

/** Converts `Smith, Ana` to `Ana Smith`. */
function inOrder(name: string): string {
  const [last = '', first] = name.split(/, ?/, 2);
  return first === undefined ? name : `${first} ${last}`;
}

const TIME = '[[(]?(?:\\d[\\d./-]{5,9}[ T,]{1,2})?\\d{1,2}[:.]\\d{2}(?::\\d{2})?(?: ?[AaPp]\\.?[Mm]\\.?)?[\\])]?';
/** A line of a chat: `[10:42] Ana Smith (agent): Hello`, `Ana Smith  10:42 AM`. */
const SPEAKER = new RegExp(
  `^[ \\t>*_-]{0,6}(?:(${TIME})[ \\t,–—-]{0,3})?[*_]{0,2}(${namePattern(3)})(?: ?\\(([^()\\n]{1,24})\\))?[*_]{0,2}(?:[:：]|[ \\t]{1,3}(${TIME})[:：]?)[*_]{0,2}(?=[ \\t]|\\r?$)`,
  'gmu',
);
/** Quick test for what follows a speaker. */
const SPOKEN = /[:：]|\d\.\d/;
/** Roles of speakers in chats. */
const SIDE =
  /agent|support|customer|client|visitor|user|admin|staff|team|guest|kunde|kundin|mitarbeiter|conseiller|agente|cliente|operador|operatore|medewerker|клиент|оператор|агент|客服|客户|お客様|担当|상담|고객/iu;

/** Returns the speakers of a chat: named in full, with a time or a role, or more than once. */
function speakers(text: string): readonly (string | null)[] {
  const found = (SPOKEN.test(text) ? matchesIn(text, SPEAKER) : []).map(([, before, label = '', side = '', after]) => ({
    label,
    hasTime: (before ?? after) !== undefined,
    hasSide: SIDE.test(side),
  }));
  const counts = new Map<string, number>();
  for (const { label } of found) {
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return found.map(({ label, hasTime, hasSide }) => {
    const [first = '', second] = label.split(' ');
    const isKnown = isGivenName(first, second !== undefined);
    const isOften = (counts.get(label) ?? 0) > 1;
    const isOrdinary = label.split(' ').some((word) => isCommon(word));
    const isLong = second !== undefined && /^\p{Lu}\p{Ll}+ \p{Lu}/u.test(label);
    const isSpeaker =
      hasSide || (isKnown && (second !== undefined || hasTime || isOften)) || (isLong && (hasTime || isOften));
    return isSpeaker && !isOrdinary ? nameIn(label, 'weak') : null;
  });
}
