/** Status of an ingestion, for pages, metrics and the control socket. */
import type { OutboxStatus, SourceStatus } from '../../store/outbox/outbox.ts';
import type { SenderState } from '../model/events.ts';

/** State of an ingestion that is not stored. */
export interface IngestionActivity {
  readonly sender: SenderState;
  /** Number of batches in flight. */
  readonly inFlight: number;
  /** Error of the last poll or recheck, by source; without the sources where neither failed. */
  readonly errors: ReadonlyMap<string, string>;
}

export interface IngestionStatus extends Omit<IngestionActivity, 'errors'> {
  readonly outbox: Omit<OutboxStatus, 'sources'>;
  readonly sources: readonly (SourceStatus & {
    /** Seconds since the last successful poll; null: there was none. */
    readonly pollAgeSeconds: number | null;
    /** Age of the oldest waiting content; null: nothing waits. */
    readonly oldestWaitSeconds: number | null;
    /** Error of the last poll or recheck; null: neither failed. */
    readonly error: string | null;
  })[];
}
