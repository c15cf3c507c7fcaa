/** Messages of deliveries, built from their conditions, events and templates. */
import type { NotificationName, NotificationsConfig } from '../config/notifications.ts';
import { CONDITION_RULES, type ConditionCode, type EventCode, type Severity } from '../core/condition-codes.ts';
import { plainLine } from '../core/text/plain-line.ts';
import { maskUrls } from '../core/text/safe-url.ts';
import { parseTemplate } from '../core/text/template.ts';
import { counted, spanWords } from '../plan/render/words.ts';
import {
  type Condition,
  type DeliveryAttempt,
  type DeliveryKind,
  type Fact,
  factKey,
  type NotificationDelivery,
  type NotificationEvent,
} from '../store/notifications.ts';
import { inhibited, isFlapping } from './conditions.ts';

/** `firing`: it is true now; `resolved`: it is over; `event`: it happened. */
type ItemState = 'firing' | 'resolved' | 'event';

/** One condition or event of a message. All texts are one line, without secrets and control characters. */
export interface MessageItem {
  readonly state: ItemState;
  /** Id of the organization; null if it is about the daemon or the platform. */
  readonly organization: string | null;
  readonly summary: string;
  readonly details: readonly string[];
  /** Absolute URL of the page that shows it; null without `ui.publicUrl`. */
  readonly url: string | null;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly resolvedAt: number | null;
}

/** Content of a message, without markup: every channel escapes it for itself. */
export interface Notification {
  readonly code: ConditionCode | EventCode;
  readonly severity: Severity;
  /** `resolved` only if every item is. */
  readonly state: ItemState;
  /** One line, such as `Changes wait for approval: acme and 3 more`. */
  readonly title: string;
  /** At most 20, firing ones first. */
  readonly items: readonly MessageItem[];
  /** Number of further items. */
  readonly more: number;
  /** Conditions that this one explains and that are held back meanwhile. */
  readonly inhibited: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Content of a delivery: conditions, or events. An attempt to deliver it has all of it. */
export interface MessageContent extends Pick<DeliveryAttempt, 'conditions' | 'events' | 'facts'> {
  readonly delivery: Pick<NotificationDelivery, 'kind'>;
}

/** Settings of messages. */
export interface MessageSettings {
  /** `ui.publicUrl`; null: messages have no links. */
  readonly publicUrl: string | null;
  /** Own templates, which were checked when the configuration was read. */
  readonly templates: NotificationsConfig['templates'];
  /** Removes secrets. */
  readonly redact: (text: string) => string;
}

/** Most items, details of an item, and characters of texts. */
const MOST = { items: 20, details: 10, title: 150, summary: 500, detail: 300 } as const;
/** From the most severe. */
const SEVERITIES: readonly Severity[] = ['page', 'warning', 'info'];
const EVENT_TITLES: Readonly<Record<EventCode, string>> = {
  applied: 'Changes applied',
  approved: 'Plan approved',
  rejected: 'Plan rejected',
  'change-request-opened': 'Change request opened',
  'change-request-merged': 'Change request merged',
};
/** Words before the title of a delivery. */
const PREFIXES: Readonly<Partial<Record<DeliveryKind, string>>> = { reminder: 'Reminder: ', test: 'Test: ' };

/** Builds a message. Throws if there are neither conditions nor events. `now` is in milliseconds since the epoch. */
export function buildNotification(
  { delivery, conditions, events, facts }: MessageContent,
  { publicUrl, templates, redact }: MessageSettings,
  now: number,
): Notification {
  const [over, firing] = [conditions.filter(isResolved), conditions.filter((each) => !isResolved(each))];
  // The code and severity are those of the most severe condition that fires, or of all if none does.
  const [leading] = (firing.length === 0 ? over : firing)
    .map(({ fact }) => fact.code)
    .toSorted((a, b) => rankOf(a) - rankOf(b));
  const code = leading ?? events[0]?.code;
  if (code === undefined) {
    throw new Error('a message needs a condition or an event');
  }
  const severity = leading === undefined ? 'info' : CONDITION_RULES[leading].severity;
  const title = `${PREFIXES[delivery.kind] ?? ''}${titleOf(firing, over, events)}`;
  const drafts = [...firing.map(draftOfCondition), ...over.map(draftOfCondition), ...events.map(draftOfEvent)];
  const items = drafts.slice(0, MOST.items).map((draft): MessageItem => {
    const { state, organization, since, resolvedAt } = draft;
    const url = publicUrl === null || draft.path === null ? null : `${publicUrl}${draft.path}`;
    const template = templates[draft.code];
    const shared = { title, severity, count: String(drafts.length), url: url ?? '' };
    return {
      state,
      organization: organization === null ? null : messageLine(organization, MOST.title, redact),
      summary: messageLine(
        template === undefined ? draft.summary : fillIn(template, { ...shared, ...valuesOf(draft, now) }),
        MOST.summary,
        redact,
      ),
      details: draft.details.slice(0, MOST.details).map((detail) => messageLine(detail, MOST.detail, redact)),
      url,
      since,
      resolvedAt,
    };
  });
  const own = new Set(conditions.map(({ fact }) => factKey(fact)));
  return {
    code,
    severity,
    state: leading === undefined ? 'event' : firing.length === 0 ? 'resolved' : 'firing',
    title: messageLine(title, MOST.title, redact),
    items,
    more: drafts.length - items.length,
    inhibited: [...inhibited(facts).values()].filter((cause) => own.has(factKey(cause))).length,
    at: now,
  };
}

function isResolved({ state }: Condition): boolean {
  return state === 'resolved';
}

function rankOf(code: ConditionCode): number {
  return SEVERITIES.indexOf(CONDITION_RULES[code].severity);
}

/** `Passes fail: acme and 3 more; 1 event`. The channels add that all conditions are resolved. */
function titleOf(
  firing: readonly Condition[],
  over: readonly Condition[],
  events: readonly NotificationEvent[],
): string {
  const ofCondition = ({ fact }: Condition) => [CONDITION_RULES[fact.code].title, nameOf(fact)] as const;
  const ofEvent = ({ code, organization }: NotificationEvent) => [EVENT_TITLES[code], organization] as const;
  if (firing.length + over.length === 0) {
    return subjectOf('event', events.map(ofEvent));
  }
  return [
    subjectOf('condition', (firing.length === 0 ? over : firing).map(ofCondition)),
    ...(firing.length === 0 || over.length === 0 ? [] : [`${over.length} resolved`]),
    ...(events.length === 0 ? [] : [counted(events.length, 'event')]),
  ].join('; ');
}

/** Returns the name of the source or channel, else of the organization, else the address of the platform. */
function nameOf({ subject, scope }: Fact): string {
  return (
    [scope.organization, subject].filter((name) => name !== null && name !== '').join(' ') || (scope.platform ?? '')
  );
}

/** Returns the title that all have, with their names; only their number if they have several titles. */
function subjectOf(noun: string, all: readonly (readonly [title: string, name: string])[]): string {
  const [title, other] = new Set(all.map(([each]) => each));
  if (title === undefined || other !== undefined) {
    return counted(all.length, noun);
  }
  const names = [...new Set(all.map(([, name]) => name))].filter((name) => name !== '');
  const others = names.length === 2 ? ` and ${names[1]}` : names.length > 2 ? ` and ${names.length - 1} more` : '';
  return names[0] === undefined ? title : `${title}: ${names[0]}${others}`;
}

/** Item whose texts are as long as they come. */
interface DraftItem extends Omit<MessageItem, 'url'> {
  readonly code: Notification['code'];
  /** Name of the source or channel; otherwise empty. */
  readonly subject: string;
  /** Address of the platform; empty if it is not about a platform. */
  readonly platform: string;
  readonly path: string | null;
}

function draftOfCondition(condition: Condition): DraftItem {
  const { fact, starts, resolvedAt, clearSince } = condition;
  const isOver = isResolved(condition);
  const times = counted(starts.length, 'time');
  const flapping =
    isFlapping(condition) && !isOver
      ? [`It has begun ${times} within an hour; it counts as resolved after half an hour without it`]
      : [];
  return {
    code: fact.code,
    state: isOver ? 'resolved' : 'firing',
    organization: fact.scope.organization,
    subject: fact.subject,
    platform: fact.scope.platform ?? '',
    summary: fact.summary,
    details: [...flapping, ...fact.details],
    path: fact.path,
    since: fact.since,
    resolvedAt: isOver ? (clearSince ?? resolvedAt) : null,
  };
}

function draftOfEvent({ code, organization, at, summary, details, path }: NotificationEvent): DraftItem {
  const place = { organization, subject: '', platform: '', path };
  return { ...place, code, state: 'event', summary, details, since: at, resolvedAt: null };
}

type TemplateValues = Readonly<Record<NotificationName, string>>;

function fillIn(template: string, values: TemplateValues): string {
  return parseTemplate(template)
    .parts.map(({ text, name }) => text ?? values[name as NotificationName] ?? '')
    .join('');
}

/** Values of one item in templates. */
function valuesOf(item: DraftItem, now: number): Omit<TemplateValues, 'title' | 'severity' | 'count' | 'url'> {
  const { code, state, organization, subject, platform, summary, details, since, resolvedAt } = item;
  const time = clockWords(since, now);
  return {
    summary,
    details: details.join('; '),
    code,
    state,
    since: time,
    time,
    duration: spanWords((resolvedAt ?? now) - since),
    organization: organization ?? '',
    platform,
    source: subject,
    channel: subject,
  };
}

/**
 * Formats a time as `14:02 UTC`; on another day `Nov 22, 14:02 UTC`; in another year `Nov 22, 2025, 14:02 UTC`. Times are
 * UTC, because the people who read a message are in several zones.
 */
export function clockWords(at: number, now: number): string {
  const [time, today] = [new Date(at), new Date(now)];
  const clock = `${time.toISOString().slice(11, 16)} UTC`;
  const isThisYear = time.getUTCFullYear() === today.getUTCFullYear();
  if (isThisYear && time.toISOString().slice(0, 10) === today.toISOString().slice(0, 10)) {
    return clock;
  }
  const date = time.toLocaleDateString('en', {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' }),
    timeZone: 'UTC',
  });
  return `${date}, ${clock}`;
}

/**
 * Returns a text from elsewhere as one line of at most `most` characters. `redact` removes secrets, before the text is
 * cut.
 */
export function messageLine(text: string, most: number, redact: (text: string) => string): string {
  const line = plainLine(redact(text), Number.MAX_SAFE_INTEGER);
  // Again, because characters that cannot be seen may have divided a secret.
  return plainLine(maskUrls(redact(line)), most);
}
