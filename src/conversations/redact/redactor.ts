// Redactor of tickets: runs all finders over every field, and explains each removed value on request.

import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/json.ts';
import {
  type Conversation,
  type Person,
  REDACTION_TYPES,
  type RedactionCounts,
  type RedactionType,
  type Redactor,
  type Ticket,
} from '../model/ticket.ts';
import { allowList } from './allow.ts';
import { findCards, findIbans } from './contacts/accounts.ts';
import { findEmails } from './contacts/email.ts';
import { findBirthDates, findCardCodes, findNationalIds, findSsns } from './contacts/labelled.ts';
import { findAddresses } from './contacts/labelled-addresses.ts';
import { findIps, findMacs } from './contacts/network.ts';
import { phoneFinder } from './contacts/phone.ts';
import { findStreetAddresses } from './contacts/street-addresses.ts';
import { findAccessLinks } from './credentials/access-links.ts';
import { findKubernetesSecrets } from './credentials/kubernetes.ts';
import { findSecrets } from './credentials/secrets.ts';
import { type Finder, type PrivateValue, replaceSpans, settle } from './model/found.ts';
import { type Reading, readingOf } from './model/reading.ts';
import { viewOf } from './model/view.ts';
import { announcedNames } from './names/announced-names.ts';
import { createNameGuesser, productWords } from './names/guessed-names.ts';
import { findNamedFiles, findUserNames } from './names/path-names.ts';
import { createPeopleMatcher, noPeople } from './names/people.ts';
import { type Placeholders, placeholdersFor } from './placeholders.ts';
import { type KnownValue, type RecurrenceFinder, recurrenceFinder } from './recurrence.ts';
import { type Scan, scanAround, scanText } from './scan.ts';
import { cutSubject, fieldsOf, inUrl, nameAt, spansOfUrl, type TicketField } from './ticket-fields.ts';
import { patternFinders, type UserPattern } from './user-patterns.ts';

/** Version of the rules. Increase it with every change of the values that are found or of their replacement. */
const RULES = 8;

export interface RedactionOptions {
  readonly patterns?: readonly UserPattern[];
  /** Values that are not redacted: `support@acme.example`, `@acme.example`, `192.0.2.7`, `10.0.0.0/8`, `+1 202 555 0100`. */
  readonly allow?: readonly string[];
  /** Countries (ISO 3166) of phone numbers without a plus; default: the United States. */
  readonly regions?: readonly string[];
  /** Types that are not redacted. */
  readonly off?: readonly RedactionType[];
  /** Guesses names in prose; default: true. */
  readonly guessNames?: boolean;
  /** Words that are never guessed to be names: titles and keys of the organization's own manifests. */
  readonly products?: readonly string[];
}

/** One redacted part of a text, in UTF-16 units. */
export interface RedactedSpan {
  readonly type: RedactionType;
  readonly start: number;
  readonly end: number;
  readonly placeholder: string;
  /** Name of the rule that recognized it, in words. */
  readonly rule: string;
}

/** Redacted parts of one text, with their values. Shown only to the user who requested them. */
export interface Explained {
  /** `text`, or the position in the ticket: `subject`, `parts[0]`, `attributes.channel`, `url`. */
  readonly place: string;
  readonly text: string;
  readonly spans: readonly RedactedSpan[];
  /** The text as it is sent. */
  readonly redacted: string;
}

/** Redactor that can also show what it does. `version` depends on the rules and the options. */
export interface ExplainingRedactor extends Redactor {
  /** Returns the parts that would be redacted, and the redacted text. */
  explain(what: string | Ticket): readonly Explained[];
}

/**
 * Creates the redactor of conversations. `pseudonymize` replaces private ids; without it only texts can be redacted.
 * Throws ConfigError for an invalid pattern, region or allow-list entry.
 */
export function createConversationRedactor(
  options: RedactionOptions = {},
  pseudonymize: Redactor['pseudonymize'] = noId,
): ExplainingRedactor {
  const { patterns = [], allow = [], regions = ['US'], off = [], guessNames = true, products = [] } = options;
  const scanFor = scansFor(options);
  const notNames = productWords(products);
  const survey = (fields: readonly TicketField[], people: readonly Person[]): Survey => {
    const guess = guessNames ? createNameGuesser(notNames) : () => [];
    const namesIn = (texts: readonly ReadField[], known: readonly Person[]) =>
      off.includes('person')
        ? []
        : [
            ...announcedNames(
              texts.map(({ reading }) => reading),
              known,
            ),
            ...guess(texts.filter(({ place }) => isProse(place)).map(({ reading }) => reading.text)),
          ];
    const read: readonly ReadField[] = fields.map((field) => ({ ...field, reading: readingOf(field.text) }));
    let names: readonly string[] = [];
    let further = namesIn(read, people);
    for (let round = 1; ; round += 1) {
      // The longest first: a part of a name belongs to the person with the whole one.
      names = [...new Set([...names, ...further])].sort((a, b) => b.length - a.length);
      const found = surveyOf(read, scanFor(people, names));
      // A name may show only once something next to it was removed: redacting twice must change nothing.
      const changed = found.explained.flatMap(({ place, spans, redacted }): readonly ReadField[] =>
        spans.length === 0 ? [] : [{ place, kind: 'text', text: redacted, reading: readingOf(redacted) }],
      );
      further = namesIn(changed, []).filter((name) => !names.includes(name));
      if (further.length === 0 || round === NAME_ROUNDS) {
        return found;
      }
    }
  };
  const version = createHash('sha256')
    .update(
      canonicalJson({ rules: RULES, patterns: patterns.map((each) => ({ ...each })), allow, regions, off, guessNames }),
    )
    .digest('hex')
    .slice(0, 12);
  return {
    version,
    text: (text, people = []) => survey([{ place: 'text', kind: 'text', text }], people).explained[0]?.redacted ?? '',
    pseudonymize,
    redact: (ticket) => redactTicket(ticket, survey),
    explain: (what) =>
      typeof what === 'string'
        ? survey([{ place: 'text', kind: 'text', text: what }], []).explained
        : survey(fieldsOf(what), what.people).explained,
  };
}

type ScanFor = (people: readonly Person[], announced: readonly string[]) => Scan;

/** Runs a finder of values that have a digit only where there is one. */
function withDigit(find: Finder): Finder {
  return (reading) => (reading.digits.length > 0 ? find(reading) : []);
}

/**
 * Returns a function that creates the scan of a ticket: its finders in order of precedence, including one for its
 * people.
 */
function scansFor({ patterns = [], allow = [], regions = ['US'], off = [] }: RedactionOptions): ScanFor {
  const isAllowed = allowList(allow, regions);
  const taken = new Set([...REDACTION_TYPES.map((type) => type.toUpperCase()), 'FILE']);
  const finders: Readonly<Partial<Record<RedactionType, readonly Finder[]>>> = {
    secret: [findSecrets, findAccessLinks, withDigit(findCardCodes)],
    card: [withDigit(findCards)],
    iban: [withDigit(findIbans)],
    ssn: [withDigit(findSsns)],
    national_id: [withDigit(findNationalIds)],
    birthdate: [withDigit(findBirthDates)],
    phone: [withDigit(phoneFinder(regions))],
    address: [findAddresses, withDigit(findStreetAddresses)],
    ip: [withDigit(findIps)],
    mac: [findMacs],
    pattern: patternFinders(patterns, taken),
  };
  return (people, announced) => {
    const own = off.includes('person')
      ? noPeople
      : createPeopleMatcher(people, (name) => isAllowed({ type: 'person', key: name }), announced);
    const ownerOf = (email: PrivateValue) => (isAllowed(email) ? undefined : own.ownerOf(email.key));
    const emails: Finder = (reading) => emailsOf(findEmails(reading), ownerOf, off.includes('email'));
    const order = REDACTION_TYPES.flatMap((type): readonly Finder[] => {
      if (type === 'email') {
        return [emails];
      }
      const all = type === 'person' ? [findNamedFiles, own.finder, findUserNames] : (finders[type] ?? []);
      return off.includes(type) ? [] : all;
    });
    return {
      finders: order,
      asWritten: off.includes('secret') ? () => [] : findKubernetesSecrets,
      isAllowed: ({ type, key }) => isAllowed({ type, key: key.replace(/^person \d+ /, '') }),
    };
  };
}

function noId(): never {
  throw new Error('this redactor was made for texts: it has no key for ids');
}

/** Assigns email addresses to the ticket's people, so that they share placeholders with the names. */
function emailsOf(
  found: readonly PrivateValue[],
  ownerOf: (email: PrivateValue) => string | undefined,
  isOff: boolean,
): readonly PrivateValue[] {
  return found.flatMap((email): readonly PrivateValue[] => {
    const owner = ownerOf(email);
    if (owner === undefined) {
      return isOff ? [] : [email];
    }
    return [{ ...email, type: 'person', label: 'PERSON', key: owner }];
  });
}

/** A field with the reading of its text. */
interface ReadField extends TicketField {
  readonly reading: Reading;
}

interface Survey {
  readonly explained: readonly Explained[];
  /** Redacts another text with the same placeholders. */
  again(text: string): string;
}

/** Maximum number of rounds in which redacted texts reveal further names. */
const NAME_ROUNDS = 4;

/** Reports whether a field holds sentences. */
function isProse(place: string): boolean {
  return place === 'text' || place === 'subject' || place.startsWith('parts[');
}

/** Maximum number of rounds in which values that recur reveal further ones. */
const RECURRENCE_ROUNDS = 3;

function surveyOf(fields: readonly ReadField[], scan: Scan): Survey {
  const placeholders = placeholdersFor(fields.map(({ text }) => text));
  let scanned = fields.map((field) => ({ field, found: foundIn(field, scan) }));
  const finders: RecurrenceFinder[] = [];
  const known = new Set<string>();
  for (let round = 1; round <= RECURRENCE_ROUNDS; round += 1) {
    const fresh: KnownValue[] = [];
    for (const { field, found } of scanned) {
      for (const each of found) {
        const written = field.text.slice(each.start, each.end);
        const id = `${each.type} ${each.key} ${written}`;
        if (!known.has(id)) {
          known.add(id);
          fresh.push({ found: each, text: viewOf(written).text });
        }
      }
    }
    const find = recurrenceFinder(fresh);
    if (find === null) {
      break;
    }
    finders.push(find);
    scanned = scanned.map(({ field, found }) => ({ field, found: withRecurrences(field, found, find, scan) }));
  }
  return {
    explained: scanned.map(({ field, found }) => explainField(field, found, placeholders)),
    again(text) {
      const field = { place: '', kind: 'text', text, reading: readingOf(text) } as const;
      const found = finders.reduce((all, find) => withRecurrences(field, all, find, scan), foundIn(field, scan));
      return explainField(field, found, placeholders).redacted;
    },
  };
}

function foundIn({ kind, text, reading }: ReadField, scan: Scan): readonly PrivateValue[] {
  const found = scanText(reading, scan);
  return kind === 'url' ? spansOfUrl(text, found) : found;
}

/** Adds the places where values of the conversation recur, and what shows there once they are removed. */
function withRecurrences(
  { kind, text, reading }: ReadField,
  found: readonly PrivateValue[],
  find: RecurrenceFinder,
  scan: Scan,
): readonly PrivateValue[] {
  const recurrences = find(reading, found);
  const further = kind === 'url' ? spansOfUrl(text, recurrences) : recurrences;
  if (further.length === 0) {
    return found;
  }
  const all = settle([...found, ...further], [], text);
  const before = new Map(found.map(({ start, end }) => [start, end]));
  const fresh = all.filter(({ start, end }) => before.get(start) !== end);
  const around = scanAround(text, all, fresh, scan);
  return kind === 'url' ? spansOfUrl(text, around) : around;
}

function explainField(
  { place, kind, text }: TicketField,
  found: readonly PrivateValue[],
  placeholders: Placeholders,
): Explained {
  const spans = found.map((each) => ({
    type: each.type,
    start: each.start,
    end: each.end,
    placeholder: placeholders.for(each),
    rule: each.rule ?? each.type,
  }));
  const redacted = replaceSpans(text, spans, ({ placeholder }) => (kind === 'url' ? inUrl(placeholder) : placeholder));
  return { place, text, spans, redacted };
}

function redactTicket(
  ticket: Ticket,
  survey: (fields: readonly TicketField[], people: readonly Person[]) => Survey,
): ReturnType<Redactor['redact']> {
  const fields = fieldsOf(ticket);
  const { explained, again } = survey(fields, ticket.people);
  const at = new Map(explained.map(({ place, redacted }) => [place, redacted]));
  // Empty parts stay, so that the indexes match those of the ticket. Members in order of their names need no sorting later.
  const parts = ticket.parts.map(({ role }, index) => {
    return { body: at.get(`parts[${index}]`) ?? '', role, type: 'message' as const };
  });
  const subject = cutSubject(at.get('subject') ?? '', again);
  const attributes = Object.keys(ticket.attributes).map((name, index) => {
    const value = at.get(`attributes.${name}`) ?? '';
    return [at.get(nameAt(index)) ?? '', redactByName(name, value, again)] as const;
  });
  const url = at.get('url');
  const created = ticket.createdAt === null ? Number.NaN : Date.parse(ticket.createdAt);
  const metadata = {
    ...(url === undefined ? {} : { url }),
    ...(attributes.length === 0 ? {} : { attributes: Object.fromEntries(attributes) }),
    ...(Number.isNaN(created) ? {} : { createdAt: new Date(created).toISOString() }),
  };
  const conversation: Conversation = {
    id: ticket.key,
    ...(subject === '' ? {} : { subject }),
    parts,
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
  return { conversation, counts: countsOf(explained) };
}

/** Redacts an attribute whose name marks its value as private, such as `password`. */
function redactByName(name: string, value: string, again: (text: string) => string): string {
  const start = `${name.trim()}: `;
  const pair = again(start + value);
  return pair.startsWith(start) ? pair.slice(start.length) : value;
}

function countsOf(explained: readonly Explained[]): RedactionCounts {
  const counts: Partial<Record<RedactionType, number>> = {};
  for (const { type } of explained.flatMap(({ spans }) => spans)) {
    counts[type] = (counts[type] ?? 0) + 1;
  }
  return counts;
}
