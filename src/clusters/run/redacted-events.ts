import { type Redaction, redactError } from '../model/redaction.ts';
import type { ClusterEvents } from './events.ts';

/** Listeners that are told redacted messages. `own`: words of the configuration, such as emails, that stay. */
export function redactEvents(events: ClusterEvents, redaction: Redaction, own: readonly string[]): ClusterEvents {
  return {
    ...events,
    onSkipped: (skipped) => events.onSkipped?.({ ...skipped, why: redaction.text(skipped.why) }),
    onTrouble: ({ cluster, message }) =>
      events.onTrouble?.({ cluster, message: redactExcept(message, own, redaction) }),
    onRunEnd: (end) => events.onRunEnd?.({ ...end, error: redactError(end.error, redaction) }),
  };
}

function redactExcept(message: string, own: readonly string[], redaction: Redaction): string {
  const kept = own.find((word) => word !== '' && message.includes(word));
  return kept === undefined
    ? redaction.text(message)
    : message
        .split(kept)
        .map((piece) => redactExcept(piece, own, redaction))
        .join(kept);
}
