/** View of the silences, which hold back messages about known problems. */
import type { ConditionCode } from '../core/condition-codes.ts';
import type { Actor } from '../store/history.ts';
import type { Silence } from '../store/notifications.ts';
import { canSee, isActive, type NotificationReader, type Visibility } from './model/notification-reader.ts';
import { isoTime } from './model/words.ts';

export interface SilenceView {
  readonly id: string;
  /** Null: all codes. */
  readonly code: ConditionCode | null;
  /** Null: all organizations. */
  readonly organization: string | null;
  readonly reason: string;
  readonly by: string;
  readonly method: Actor['method'];
  readonly since: string;
  readonly until: string;
  /** When somebody ended it; null if nobody did. */
  readonly endedAt: string | null;
}

export interface SilencesView {
  /** Those that have not ended, newest first. */
  readonly active: readonly SilenceView[];
  readonly ended: readonly SilenceView[];
  /** Organizations that the person may see. */
  readonly organizations: readonly string[];
}

const READ = 1000;
const SHOWN_ENDED = 50;

/** Returns the silences that a person may see. Throws StoreError. */
export async function silencesView(
  notifications: Pick<NotificationReader, 'silences'>,
  organizations: readonly string[],
  visibility: Visibility,
  now: number,
): Promise<SilencesView> {
  // A silence of all organizations also concerns those that the person may see.
  const visible = (await notifications.silences(READ)).filter(
    ({ organization }) => organization === null || canSee(visibility, organization),
  );
  return {
    active: visible.filter((each) => isActive(each, now)).map(silenceView),
    ended: visible
      .filter((each) => !isActive(each, now))
      .slice(0, SHOWN_ENDED)
      .map(silenceView),
    organizations: organizations.filter(visibility.isVisible),
  };
}

function silenceView({ id, code, organization, reason, by, since, until, endedAt }: Silence): SilenceView {
  return {
    ...{ id, code, organization, reason, by: by.name, method: by.method },
    since: isoTime(since),
    until: isoTime(until),
    endedAt: isoTime(endedAt),
  };
}
