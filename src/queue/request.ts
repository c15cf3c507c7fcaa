/** What limits are counted by: the platform counts kinds of method apart (supplement, section 2). */
export type RequestClass = 'read' | 'write' | 'search' | 'ingest';

export const REQUEST_CLASSES: readonly RequestClass[] = ['read', 'write', 'search', 'ingest'];

/**
 * Who asks, from high to low: a person waiting, apply, cluster automation, ingestion, drift reads
 * (queue policy: Priority without starvation).
 */
export type Priority = 'person' | 'apply' | 'clusters' | 'ingestion' | 'drift';

export const PRIORITIES: readonly Priority[] = ['person', 'apply', 'clusters', 'ingestion', 'drift'];

/**
 * Whether a request whose answer was lost may be sent again as it is.
 *
 * - `safe`: it changes nothing.
 * - `idempotent`: twice is the same as once.
 * - `never`: the caller must look up whether it happened.
 */
export type Repeat = 'safe' | 'idempotent' | 'never';
