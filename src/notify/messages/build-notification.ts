/** Builds the message of a delivery from its conditions or events. */
import type { NotificationsConfig } from '../../config/notifications.ts';
import { CONDITION_RULES, type Severity } from '../../core/condition-codes.ts';
import { counted } from '../../plan/render/words.ts';
import { type Condition, factKey, type NotificationEvent } from '../../store/notifications.ts';
import { inhibited } from '../model/condition.ts';
import type { ItemState, MessageItem, Notification } from '../model/notification.ts';
import type { MessageContent } from './content.ts';
import { type DraftItem, draftOfCondition, draftOfEvent } from './draft.ts';
import { messageLine, type RedactText } from './line.ts';
import { fillOwnTemplate, type SharedValues } from './own-template.ts';
import { conditionTitle, eventTitle } from './title.ts';

/** Settings of messages. */
export interface MessageSettings {
  /** `ui.publicUrl`; null: messages have no links. */
  readonly publicUrl: string | null;
  /** Own templates, which were checked when the configuration was read. */
  readonly templates: NotificationsConfig['templates'];
  /** Removes secrets. */
  readonly redact: RedactText;
}

/** Most items, details of an item, and characters of texts. */
const MOST = { items: 20, details: 10, title: 150, summary: 500, detail: 300 } as const;
/** From the most severe. */
const SEVERITIES: readonly Severity[] = ['page', 'warning', 'info'];

/** Builds a message. Throws if there are neither conditions nor events. `now` is in milliseconds since the epoch. */
export function buildNotification(content: MessageContent, settings: MessageSettings, now: number): Notification {
  const { delivery, conditions, events } = content;
  const isAboutEvents = conditions.length === 0;
  const isOver = conditions.every((condition) => condition.state === 'resolved');
  const state: ItemState = isAboutEvents ? 'event' : isOver ? 'resolved' : 'firing';
  const { code, severity } = isAboutEvents ? describeEvents(events) : describeConditions(conditions, isOver);
  const title = [
    ...(isAboutEvents ? [] : [conditionTitle(conditions, delivery.kind)]),
    ...(events.length === 0
      ? []
      : [isAboutEvents ? eventTitle(events, delivery.kind) : counted(events.length, 'event')]),
  ].join('; ');
  const drafts = [...conditions.map(draftOfCondition), ...events.map(draftOfEvent)];
  const items = [...drafts.filter(isFiring), ...drafts.filter((draft) => !isFiring(draft))].slice(0, MOST.items);
  const shared = { title, severity, count: drafts.length, now };
  return {
    code,
    severity,
    state,
    title: messageLine(title, MOST.title, settings.redact),
    items: items.map((draft) => toItem(draft, shared, settings)),
    more: drafts.length - items.length,
    inhibited: countInhibited(content),
    at: now,
  };
}

type Leading = Pick<Notification, 'code' | 'severity'>;

function describeEvents([first]: readonly NotificationEvent[]): Leading {
  if (first === undefined) {
    throw new Error('a message needs a condition or an event');
  }
  return { code: first.code, severity: 'info' };
}

/** Returns the code and severity of the most severe condition that fires, or of all if none does. */
function describeConditions(conditions: readonly Condition[], isOver: boolean): Leading {
  const codes = conditions.filter(({ state }) => isOver || state !== 'resolved').map(({ fact }) => fact.code);
  const rankOf = (code: (typeof codes)[number]) => SEVERITIES.indexOf(CONDITION_RULES[code].severity);
  const code = codes.reduce((most, each) => (rankOf(each) < rankOf(most) ? each : most));
  return { code, severity: CONDITION_RULES[code].severity };
}

/** Counts the conditions that those of the message explain. */
function countInhibited({ conditions, facts }: MessageContent): number {
  const own = new Set(conditions.map(({ fact }) => factKey(fact)));
  return [...inhibited(facts).values()].filter((cause) => own.has(factKey(cause))).length;
}

function isFiring({ state }: DraftItem): boolean {
  return state === 'firing';
}

function toItem(
  draft: DraftItem,
  shared: SharedValues,
  { publicUrl, templates, redact }: MessageSettings,
): MessageItem {
  const { state, organization, details, since, resolvedAt, code, path } = draft;
  const url = publicUrl === null || path === null ? null : `${publicUrl}${path}`;
  const template = templates[code];
  const text = template === undefined ? draft.summary : fillOwnTemplate(template, draft, url, shared);
  return {
    state,
    organization: organization === null ? null : messageLine(organization, MOST.title, redact),
    summary: messageLine(text, MOST.summary, redact),
    details: details.slice(0, MOST.details).map((detail) => messageLine(detail, MOST.detail, redact)),
    url,
    since,
    resolvedAt,
  };
}
