/** Notifications of the daemon, as views read them. */
import type { Notifications } from '../../store/notifications.ts';

export interface NotificationReader extends Pick<Notifications, 'conditions' | 'deliveries' | 'lastSent'> {
  /** Names of the channels in the configuration. */
  readonly channels: readonly string[];
}

/** Subjects that a person may see: some organizations, or all of them and the daemon itself. */
export interface Visibility {
  readonly seesAll: boolean;
  readonly seesNone: boolean;
  readonly isVisible: (organization: string) => boolean;
}

/** Returns true if a person may see something of an organization, or of the daemon itself (null). */
export function canSee({ seesAll, isVisible }: Visibility, organization: string | null): boolean {
  return organization === null ? seesAll : isVisible(organization);
}
