/** Fills in the templates of the configuration. */
import type { NotificationName } from '../../config/notification-template.ts';
import type { Severity } from '../../core/condition-codes.ts';
import { parseTemplate } from '../../core/text/template.ts';
import { spanWords } from '../../plan/render/words.ts';
import type { DraftItem } from './draft.ts';
import { clockWords } from './times.ts';

/** Values of a message that its items share. */
export interface SharedValues {
  readonly title: string;
  readonly severity: Severity;
  /** Number of items of the message. */
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Fills in a template for one item. `url` is its absolute URL. */
export function fillOwnTemplate(template: string, item: DraftItem, url: string | null, shared: SharedValues): string {
  const values = valuesOf(item, url, shared);
  return parseTemplate(template)
    .parts.map(({ text, name }) => text ?? values[name as NotificationName] ?? '')
    .join('');
}

function valuesOf(
  item: DraftItem,
  url: string | null,
  { title, severity, count, now }: SharedValues,
): Readonly<Record<NotificationName, string>> {
  const { code, state, organization, subject, platform, summary, details, since, resolvedAt } = item;
  const time = clockWords(since, now);
  return {
    title,
    summary,
    details: details.join('; '),
    url: url ?? '',
    code,
    severity,
    state,
    count: String(count),
    since: time,
    time,
    duration: spanWords((resolvedAt ?? now) - since),
    organization: organization ?? '',
    platform,
    source: subject,
    channel: subject,
  };
}
