/** Result of the redaction of one ticket, which a thread returns. */
import type { Redactor, Ticket } from '../model/ticket.ts';
import { hasPrivateId } from './chosen-id.ts';

/** Redacted ticket, or why there is none, without text of the ticket: the message of an error may quote it. */
export type RedactionResult =
  | (ReturnType<Redactor['redact']> & {
      /** The id of the ticket may not be written as it is. */
      readonly hasPrivateId: boolean;
    })
  | { readonly failure: string };

/** Redacts a ticket. */
export function redactOrFail(redactor: Pick<Redactor, 'redact' | 'text'>, ticket: Ticket): RedactionResult {
  try {
    return { ...redactor.redact(ticket), hasPrivateId: hasPrivateId(ticket.key, redactor, ticket.people) };
  } catch (error) {
    return { failure: error instanceof Error ? error.name : 'error' };
  }
}
