/** Tickets as their source returns them, and conversations after redaction. */

/** Author of a part: a customer, a machine or a team member. Source: docs/platform-notes.md#enumerations */
export type AuthorRole = 'user' | 'assistant' | 'team-member';

/** One message, as plain text or Markdown. HTML of a source has been converted to text. */
export interface Part {
  readonly role: AuthorRole;
  readonly body: string;
}

/** A participant. Names and addresses that a source knows are redacted wherever they occur. */
export interface Person {
  readonly names: readonly string[];
  readonly emails: readonly string[];
}

/** A support conversation before redaction. It is kept in memory only: only redacted text is written or sent. */
export interface Ticket {
  /** Connector, account and ticket: `zendesk/acme/123`. It becomes the conversation's id, with at most 255 characters. */
  readonly key: string;
  /** May be empty. */
  readonly subject: string;
  /** ISO 8601; null if the source does not report it. */
  readonly createdAt: string | null;
  /**
   * When it was solved or closed, in milliseconds since the epoch. The settle delay starts here; null: there is none.
   */
  readonly settledAt: number | null;
  /** URL of the ticket for the team, or null. */
  readonly url: string | null;
  /** Properties without personal data: status, channel, tags, brand. */
  readonly attributes: Readonly<Record<string, string>>;
  /** In order; none is empty or private. */
  readonly parts: readonly Part[];
  readonly people: readonly Person[];
  /** Number of parts that the source reports and that it returned; null if it does not report a number. */
  readonly completeness: { readonly reported: number; readonly fetched: number } | null;
  /**
   * Id for fetching the ticket again at the end of its settle delay. Set if the source's polls do not report that a
   * ticket was deleted or marked as spam.
   */
  readonly recheck?: string;
  /** Set if the parts are mails. More may be added later: other files may contain mails of the same thread. */
  readonly mails?: MailIds;
}

/** Message ids of the mails in a thread, hashed. */
interface MailIds {
  /** One for each part; `at` in milliseconds since the epoch, null for a mail without a date. */
  readonly ids: readonly { readonly id: string; readonly at: number | null }[];
  /** Ids of all mails, and of all mails that they refer to. */
  readonly links: readonly string[];
}

/** Longest key, in characters. It becomes the id of the conversation. Source: docs/platform-notes.md#limits */
const MAX_KEY_LENGTH = 255;

/** Returns why a ticket with this key cannot be sent, or null. */
export function problemOfKey(key: string): string | null {
  const length = [...key].length;
  return length > 0 && length <= MAX_KEY_LENGTH
    ? null
    : `its id, with the account before it, has ${length} characters; the platform accepts 1 to ${MAX_KEY_LENGTH}`;
}

/** Reason why a ticket is not sent. */
export type TicketSkipReason =
  | 'open'
  | 'private'
  | 'spam'
  | 'empty'
  | 'no-customer'
  | 'merged'
  | 'bot'
  | 'declined'
  | 'bulk';

/** One record of a source. */
export type SourceRecord =
  | { readonly kind: 'ticket'; readonly ticket: Ticket }
  /** A ticket that must not be sent in its current state. Its waiting content is withdrawn. */
  | {
      readonly kind: 'skipped';
      readonly key: string;
      readonly reason: TicketSkipReason;
      /** Set if other records may have the same key and are not affected by this one: the mails of a thread. */
      readonly isOneOfMany?: true;
      /** Position in a file (`tickets.csv:17`), for a record without content that the file's owner should know about. */
      readonly place?: string;
      /** The participants, if the id may contain their names. */
      readonly people?: readonly Person[];
    }
  /** A ticket that was deleted at its source. */
  | { readonly kind: 'gone'; readonly key: string }
  /** A record that cannot be read, with its position (`tickets.csv:17`). */
  | { readonly kind: 'rejected'; readonly place: string; readonly reason: string };

/** Returns the record of a ticket that is not sent, or null: its messages must be read. */
export function withoutTicket(key: string, reason: TicketSkipReason | 'gone' | null): SourceRecord | null {
  if (reason === null) {
    return null;
  }
  return reason === 'gone' ? { kind: 'gone', key } : { kind: 'skipped', key, reason };
}

/** Returns a ticket with a message of a customer; any other is skipped, without messages for the reason `nothing`. */
export function ticketOrSkipped(ticket: Ticket, nothing: TicketSkipReason = 'empty'): SourceRecord {
  const { key, parts } = ticket;
  return parts.some(({ role }) => role === 'user')
    ? { kind: 'ticket', ticket }
    : { kind: 'skipped', key, reason: parts.length === 0 ? nothing : 'no-customer' };
}

/** Returns an attribute that lists names in order; no attribute if there are none. */
export function listAttribute(attribute: string, names: readonly string[] | null | undefined): Record<string, string> {
  return names == null || names.length === 0 ? {} : { [attribute]: [...names].sort().join(', ') };
}

/** Returns the first time that can be read (ISO 8601), in milliseconds since the epoch, or null. */
export function firstTime(...times: readonly (string | null | undefined)[]): number | null {
  return times.map((time) => Date.parse(time ?? '')).find((time) => !Number.isNaN(time)) ?? null;
}

/** Maximum number of people in one field of a file. */
const MAX_PEOPLE_PER_FIELD = 100;

/** Fields of files and webhooks that hold the name or the address of a participant: `requester`, `agent_email`. */
const PARTICIPANT =
  /^(?:(?:author|requester|submitter|reporter|visitor|agent|assignee|operator|sender|recipient|collaborators?|followers?|participants?|ccs?)(?:[ _-]?(?:full[ _-]?)?names?)?|(?:customer|client|contact|user|admin|owner|from|to)[ _-]?(?:full[ _-]?)?names?|(?:[a-z]{1,20}[ _-])?e?[ _-]?mails?)$/i;

/** Reports whether a field holds names or addresses of participants. */
export function isOfParticipant(field: string): boolean {
  return PARTICIPANT.test(field.trim());
}

/** Collects the participants of a conversation, whose names and addresses are redacted. */
export class PeopleCollector {
  readonly #seen = new Map<string, Person>();

  /** Adds a person. Skips values that are empty or not text, and a person without any value. */
  add(names: readonly unknown[], emails: readonly unknown[]): void {
    const person: Person = { names: texts(names), emails: texts(emails) };
    if (person.names.length > 0 || person.emails.length > 0) {
      this.#seen.set(JSON.stringify([person.names, person.emails]), person);
    }
  }

  /** Adds the people of a field: names and addresses, separated by commas or semicolons. */
  addField(text: string): void {
    for (const entry of text.split(/[;\n]|,(?=[^,<]*[@<])/).slice(0, MAX_PEOPLE_PER_FIELD)) {
      const [, name = '', inner] = /^([^<>]{0,200})(?:<([^<>\s]{1,320})>)?$/.exec(entry.trim()) ?? [];
      const isAddress = inner === undefined && name.includes('@');
      this.add(isAddress ? [] : [name.trim().replaceAll('"', '')], [isAddress ? name.trim() : inner]);
    }
  }

  /** Returns each person once, in the order of first appearance. */
  all(): Person[] {
    return [...this.#seen.values()];
  }
}

function texts(values: readonly unknown[]): string[] {
  const trimmed = values.flatMap((value) => (typeof value === 'string' && value.trim() !== '' ? [value.trim()] : []));
  return [...new Set(trimmed)];
}

/** A redacted conversation as it is sent. Source: docs/platform-notes.md#conversations */
export interface Conversation {
  readonly id: string;
  /** At most 512 characters; absent if empty. */
  readonly subject?: string;
  readonly parts: readonly { readonly type: 'message'; readonly role: AuthorRole; readonly body: string }[];
  readonly metadata?: {
    readonly url?: string;
    readonly attributes?: Readonly<Record<string, string>>;
    /** ISO 8601. */
    readonly createdAt?: string;
  };
}

/**
 * Types of private values. `person`: names and addresses of participants; `national_id`, `birthdate` and `address`: values
 * after a label; `pattern`: matches of the user's own patterns.
 */
export const REDACTION_TYPES = [
  'secret',
  'email',
  'card',
  'iban',
  'ssn',
  'national_id',
  'birthdate',
  'phone',
  'address',
  'ip',
  'mac',
  'person',
  'pattern',
] as const;
export type RedactionType = (typeof REDACTION_TYPES)[number];
/** Number of redacted values by type; never a value. */
export type RedactionCounts = Readonly<Partial<Record<RedactionType, number>>>;

/** Removes private data from tickets before anything is written or sent. */
export interface Redactor {
  /** Changes with the rules and the settings. Content that was sent with an older version is not sent again. */
  readonly version: string;
  /** Redacts text outside of a ticket, such as the name of a file or an id. `people` are those of the ticket. */
  text(text: string, people?: readonly Person[]): string;
  /** Returns the pseudonym of an id that contains private data: always the same, and impossible to guess. */
  pseudonymize(id: string): string;
  redact(ticket: Ticket): { readonly conversation: Conversation; readonly counts: RedactionCounts };
}

/** Number of dead letters in one list: the default, and the maximum. */
export const LISTED = { usual: 1000, most: 100_000 } as const;
