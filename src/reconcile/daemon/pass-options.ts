/** Dependencies of the passes of one organization, which the daemon passes in. */
import type { OrganizationConfig } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import type { Kind } from '../../kinds/model/kind.ts';
import type { Reader, Writer } from '../../platform/client.ts';
import type { Priority } from '../../queue/request.ts';
import type { History } from '../../store/history.ts';
import type { OrganizationRecord } from '../../store/store.ts';
import type { Estimate } from '../planning.ts';
import type { FlappingFields } from './flapping-fields.ts';
import type { PassEvents } from './pass.ts';
import type { PlanAuthors } from './plan-authors.ts';
import type { DesiredSource } from './source.ts';

/** Dependencies of the passes of one organization. */
export interface PassOptions {
  readonly config: OrganizationConfig;
  readonly user: string | null;
  readonly kinds: readonly Kind[];
  readonly source: DesiredSource;
  readonly record: OrganizationRecord;
  /** Pauses that people set. */
  readonly pauses: Pick<History, 'pauses'>;
  readonly flappingFields: FlappingFields;
  readonly planAuthors: PlanAuthors;
  readonly clock: Clock;
  /** Opens a client that can only read. `count` is called for every request. */
  readonly openReader: (priority: Priority, count: (method: string) => void) => Reader;
  /** Opens a client that can write; null in a dry run, which therefore cannot write. */
  readonly openWriter: ((priority: Priority, count: (method: string) => void) => Writer) | null;
  readonly estimate: Estimate;
  readonly parallel: number;
  /** Starts nothing new once it aborts. */
  readonly signal: AbortSignal;
  readonly abort: AbortSignal;
  readonly events: PassEvents;
}
