import type { Person, Role, Ticket } from './ticket.ts';

/** A redacted conversation, as it is sent. Source: docs/platform-notes.md#conversations */
export interface Conversation {
  readonly id: string;
  /** 512 characters at most; left out where it is empty. */
  readonly subject?: string;
  readonly parts: readonly { readonly type: 'message'; readonly role: Role; readonly body: string }[];
  readonly metadata?: {
    readonly url?: string;
    readonly attributes?: Readonly<Record<string, string>>;
    /** ISO 8601. */
    readonly createdAt?: string;
  };
}

/**
 * Types of private values. `person`: names and addresses of people of the ticket; `national_id`, `birthdate` and
 * `address`: what a label announces; `pattern`: found by the user's own patterns.
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
/** How many were taken out; never what. */
export type RedactionCounts = Readonly<Partial<Record<RedactionType, number>>>;

/** Makes what may be written and sent out of a ticket. */
export interface Redactor {
  /** Another one may find more; what an older one made stays as it was sent. */
  readonly version: string;
  /** What stands outside of a ticket, such as a file's name or its id, as it may be written. `people`: of the ticket. */
  text(text: string, people?: readonly Person[]): string;
  /** What stands for an id in which something is found: the same each time, and not to be guessed. */
  hide(id: string): string;
  redact(ticket: Ticket): { readonly conversation: Conversation; readonly counts: RedactionCounts };
}
