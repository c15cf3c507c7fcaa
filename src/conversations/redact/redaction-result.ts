// Defines the result of redacting one ticket, in this thread or in another.
import type { Redactor, Ticket } from '../model/ticket.ts';

/** Redacted ticket, or the name of the error: its message may quote the ticket. */
export type RedactionResult = ReturnType<Redactor['redact']> | { readonly failure: string };

/** Redacts a ticket. */
export function redactOrFail(redactor: Pick<Redactor, 'redact'>, ticket: Ticket): RedactionResult {
  try {
    return redactor.redact(ticket);
  } catch (error) {
    return { failure: error instanceof Error ? error.name : 'error' };
  }
}
