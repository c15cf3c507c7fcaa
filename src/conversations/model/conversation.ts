import type { AuthorRole, Person, Ticket } from './ticket.ts';

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
