/** View of the latest records of the log. */
import type { Backend } from './model/backend.ts';
import { LOG_LEVELS, type LogRecord, type RecordLevel } from './model/log-buffer.ts';

export interface LogView {
  readonly level: RecordLevel;
  /** Null for all that the viewer may see. */
  readonly organization: string | null;
  readonly organizations: readonly string[];
  /** Newest first. */
  readonly records: readonly LogRecord[];
  /** Value of `before` for the next page; null if this is the last one. */
  readonly next: number | null;
}

export interface LogQuery {
  readonly level: string;
  readonly organization: string | null;
  readonly before: number | null;
  /** Organizations that the viewer may see. */
  readonly visible: readonly string[];
}

/** Number of records in a page. */
const LISTED = 100;

/**
 * Returns the records of an organization, or of all that the viewer may see. Records about the daemon itself are for
 * people who may see every organization.
 */
export function logView(backend: Backend, { level: wanted, organization, before, visible }: LogQuery): LogView {
  const level = LOG_LEVELS.find((each) => each === wanted) ?? 'info';
  const own = new Set(visible);
  const seesAll = backend.organizations().every(({ id }) => own.has(id));
  const records = backend.log.read({
    level,
    includes: (id) =>
      organization !== null ? id === organization && own.has(id) : id === null ? seesAll : own.has(id),
    before: before ?? undefined,
    limit: LISTED + 1,
  });
  const shown = records.slice(0, LISTED);
  return {
    level,
    organization,
    organizations: visible,
    records: shown,
    next: records.length > LISTED ? (shown.at(-1)?.number ?? null) : null,
  };
}
