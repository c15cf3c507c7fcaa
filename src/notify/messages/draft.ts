/** Items of messages before their texts are cut and templates are filled in. */
import { counted } from '../../plan/render/words.ts';
import type { Condition, NotificationEvent } from '../../store/notifications.ts';
import { isFlapping } from '../model/condition.ts';
import type { MessageItem, Notification } from '../model/notification.ts';

/** Item whose texts are as long as they come. */
export interface DraftItem extends Omit<MessageItem, 'url'> {
  readonly code: Notification['code'];
  /** Name of the source or channel; otherwise empty. */
  readonly subject: string;
  /** Address of the platform; empty if it is not about a platform. */
  readonly platform: string;
  readonly path: string | null;
}

/** Returns the item of a condition. */
export function draftOfCondition(condition: Condition): DraftItem {
  const { fact, resolvedAt, clearSince } = condition;
  const isResolved = condition.state === 'resolved';
  const times = counted(condition.starts.length, 'time');
  const flapping =
    isFlapping(condition) && !isResolved
      ? [`It has begun ${times} within an hour; it counts as resolved after half an hour without it`]
      : [];
  return {
    code: fact.code,
    state: isResolved ? 'resolved' : 'firing',
    organization: fact.scope.organization,
    subject: fact.subject,
    platform: fact.scope.platform ?? '',
    summary: fact.summary,
    details: [...flapping, ...fact.details],
    path: fact.path,
    since: fact.since,
    resolvedAt: isResolved ? (clearSince ?? resolvedAt) : null,
  };
}

/** Returns the item of an event. */
export function draftOfEvent({ code, organization, at, summary, details, path }: NotificationEvent): DraftItem {
  const place = { organization, subject: '', platform: '', path };
  return { ...place, code, state: 'event', summary, details, since: at, resolvedAt: null };
}
