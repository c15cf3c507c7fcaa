/** Author of a part: a customer, a machine or a team member. Source: docs/platform-notes.md#enumerations */
export type Role = 'user' | 'assistant' | 'team-member';

/** One message, as plain text or Markdown: what a source has as HTML it has made into text. */
export interface Part {
  readonly role: Role;
  readonly body: string;
}

/** Somebody who takes part. What a source knows of people is taken out wherever it stands. */
export interface Person {
  readonly names: readonly string[];
  readonly emails: readonly string[];
}

/**
 * A support conversation as its source has it, with nothing taken out. It lives in memory only: what is written or
 * sent is what redaction has made of it.
 */
export interface Ticket {
  /** Connector, account and ticket: `zendesk/acme/123`. It becomes the conversation's id, so 255 characters at most. */
  readonly key: string;
  /** May be empty. */
  readonly subject: string;
  /** ISO 8601; null where the source does not say. */
  readonly createdAt: string | null;
  /** When it was solved or closed, in milliseconds since the epoch: the quiet period counts from it; null: none. */
  readonly settledAt: number | null;
  /** Where the team finds it; null where there is no such place. */
  readonly url: string | null;
  /** Nothing personal: status, channel, tags, brand. */
  readonly attributes: Readonly<Record<string, string>>;
  /** In order; none is empty or private. */
  readonly parts: readonly Part[];
  readonly people: readonly Person[];
  /** How many parts the source says there are, and how many it gave; null where it does not say. */
  readonly completeness: { readonly reported: number; readonly fetched: number } | null;
  /**
   * The id by which its source fetches it, where the source's polls do not tell that a ticket is deleted or spam: then it
   * is looked at once more at the end of its rest. Absent: polls tell it.
   */
  readonly recheck?: string;
  /** Where the parts are mails, to which more may be added later: other files may have mails of the same thread. */
  readonly mails?: MailIds;
}

/** The message ids of a thread's mails, hashed. */
export interface MailIds {
  /** One for each part; `at` in milliseconds since the epoch, null where a mail has no date. */
  readonly ids: readonly { readonly id: string; readonly at: number | null }[];
  /** Of all its mails, and of all that they refer to. */
  readonly links: readonly string[];
}

/** Longest key, in characters. It becomes the id of the conversation. Source: docs/platform-notes.md#limits */
const LONGEST_KEY = 255;

/** Why no ticket with this key can be sent; null: it can. */
export function problemOfKey(key: string): string | null {
  const length = [...key].length;
  return length > 0 && length <= LONGEST_KEY
    ? null
    : `its id, with the account before it, has ${length} characters; the platform accepts 1 to ${LONGEST_KEY}`;
}

/** Why a ticket is not sent. */
export type SkipReason = 'open' | 'private' | 'spam' | 'empty' | 'no-customer' | 'merged' | 'bot' | 'declined' | 'bulk';

/** What a source found. */
export type Found =
  | { readonly kind: 'ticket'; readonly ticket: Ticket }
  /** It is there, and not to be sent as it is now; what waits of it is not sent either. */
  | {
      readonly kind: 'skipped';
      readonly key: string;
      readonly reason: SkipReason;
      /** Set where others may stand under the same key, which this says nothing about: the mails of a thread. */
      readonly isOneOfMany?: true;
      /** Where it stands in a file (`tickets.csv:17`), where its owner would want to know: it has nothing to say. */
      readonly place?: string;
      /** Its people, where its id may name them. */
      readonly people?: readonly Person[];
    }
  /** It was deleted at its source. */
  | { readonly kind: 'gone'; readonly key: string }
  /** A record that cannot be read: where it stands (`tickets.csv:17`), and why. */
  | { readonly kind: 'rejected'; readonly place: string; readonly reason: string };
