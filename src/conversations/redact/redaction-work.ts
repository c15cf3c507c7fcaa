/** Result of the redaction of one ticket, which a thread returns. */
import type { Redactor, Ticket } from '../model/ticket.ts';

/** Redacted ticket, or why there is none, without text of the ticket: the message of an error may quote it. */
export type RedactionResult = ReturnType<Redactor['redact']> | { readonly failure: string };

/** Redacts a ticket. */
export function redactOrFail(redactor: Pick<Redactor, 'redact'>, ticket: Ticket): RedactionResult {
  try {
    return redactor.redact(ticket);
  } catch (error) {
    return { failure: error instanceof Error ? error.name : 'error' };
  }
}
