/** Titles of messages. */
import { CONDITION_RULES, type EventCode } from '../../core/condition-codes.ts';
import { counted } from '../../plan/render/words.ts';
import type { Condition, DeliveryKind, Fact, NotificationEvent } from '../../store/notifications.ts';

const EVENT_TITLES: Readonly<Record<EventCode, string>> = {
  applied: 'Changes applied',
  approved: 'Plan approved',
  rejected: 'Plan rejected',
  'change-request-opened': 'Change request opened',
  'change-request-merged': 'Change request merged',
};

/** Words before the title of a delivery. */
const PREFIXES: Readonly<Partial<Record<DeliveryKind, string>>> = { reminder: 'Reminder: ', test: 'Test: ' };

/** Title of conditions: `Passes fail: acme and 3 more`. The channels add that all of them are resolved. */
export function conditionTitle(conditions: readonly Condition[], kind: DeliveryKind): string {
  const firing = conditions.filter(({ state }) => state !== 'resolved');
  const isOver = firing.length === 0;
  const shown = (isOver ? conditions : firing).map(({ fact }) => fact);
  const [code, other] = new Set(shown.map((fact) => fact.code));
  const subject =
    code === undefined || other !== undefined
      ? counted(shown.length, 'condition')
      : withNames(CONDITION_RULES[code].title, shown.map(nameOf));
  const also = isOver || shown.length === conditions.length ? '' : `; ${conditions.length - shown.length} resolved`;
  return `${PREFIXES[kind] ?? ''}${subject}${also}`;
}

/** Title of events: `Changes applied: acme`. */
export function eventTitle(events: readonly NotificationEvent[], kind: DeliveryKind): string {
  const [code, other] = new Set(events.map((event) => event.code));
  const subject =
    code === undefined || other !== undefined
      ? counted(events.length, 'event')
      : withNames(
          EVENT_TITLES[code],
          events.map(({ organization }) => organization),
        );
  return `${PREFIXES[kind] ?? ''}${subject}`;
}

/** Returns the name of the source or channel, else of the organization, else the address of the platform. */
function nameOf({ subject, scope }: Fact): string {
  return (
    [scope.organization, subject].filter((name) => name !== null && name !== '').join(' ') || (scope.platform ?? '')
  );
}

function withNames(title: string, all: readonly string[]): string {
  const names = [...new Set(all)].filter((name) => name !== '');
  const [first, second] = names;
  if (first === undefined) {
    return title;
  }
  const others = names.length === 2 ? ` and ${second}` : ` and ${names.length - 1} more`;
  return `${title}: ${first}${names.length === 1 ? '' : others}`;
}
