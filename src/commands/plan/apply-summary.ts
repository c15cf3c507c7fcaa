/** Summary line of an apply: the number of changes by result, and what is still pending. */

import type { ChangeResult, Plan } from '../../core/change.ts';
import { kinds } from '../../kinds/registry.ts';
import { PeopleAddresses } from '../../plan/model/people.ts';
import { summaryLine } from '../../plan/render/text.ts';
import { counted, printable } from '../../plan/render/words.ts';
import type { ApplyResult } from '../../reconcile/apply.ts';

/** Maximum number of pending resources that the line lists. */
const SHOWN = 3;

interface Effort {
  readonly writes: number;
  /** Milliseconds from the last write to the end of the wait; null without a wait. */
  readonly waited: number | null;
}

/** Renders the line, such as `12 applied, 1 still pending after 5 minutes: translation/guides-fr; 14 writes`. */
export function resultLine(
  plan: Plan,
  { results, pending }: Pick<ApplyResult, 'results' | 'pending'>,
  { writes, waited }: Effort,
): string {
  const ended = (status: ChangeResult['status']) => results.filter((result) => result.status === status).length;
  const parts = (['applied', 'failed', 'skipped', 'held'] as const)
    .filter((status) => ended(status) > 0)
    .map((status) => `${ended(status)} ${status}`);
  const open = pending.length === 0 ? [] : [pendingText(pending, waited)];
  return parts.length === 0
    ? `${[summaryLine(plan), ...open].join(', ')}\n`
    : `${[...parts, ...open].join(', ')}; ${counted(writes, 'write')}\n`;
}

const people = new PeopleAddresses(kinds);

/** Reports whether the platform's own work makes a resource available. Nobody waits for people to join. */
export function isAwaited({ address }: Plan['pending'][number]): boolean {
  return !people.isPerson(address);
}

function pendingText(pending: Plan['pending'], waited: number | null): string {
  const names = pending.slice(0, SHOWN).map(({ address }) => printable(address));
  const rest = pending.length - names.length;
  const list = rest === 0 ? names.join(', ') : `${names.join(', ')} and ${rest} more`;
  return waited === null || !pending.some(isAwaited)
    ? `${pending.length} pending: ${list}`
    : `${pending.length} still pending after ${elapsed(waited)}: ${list}`;
}

/** Formats milliseconds, such as `5 minutes` or `12 seconds`. */
export function elapsed(milliseconds: number): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1000));
  return seconds < 120 ? counted(seconds, 'second') : counted(Math.round(seconds / 60), 'minute');
}
