/** Carries out actions of people, each with its entry in the audit. */
import { messageOf } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { History, NewAuditEntry } from '../../store/history.ts';
import type { NotificationEvent } from '../../store/notifications.ts';
import { untilStored } from '../../store/until-stored.ts';
import type { DaemonContext } from './feature.ts';

type AuditContext = Pick<DaemonContext, 'clock' | 'log' | 'stopping'>;
type AuditTable = Pick<History, 'addAudit'>;

/**
 * Carries out an action and records it: as refused if it fails, with its error, which is thrown. `events` returns the events
 * of an action that was carried out.
 */
export async function carryOut(
  context: AuditContext,
  history: AuditTable,
  about: Pick<NewAuditEntry, 'actor' | 'action' | 'subject' | 'reason'>,
  work: () => Promise<JsonObject>,
  events: (entry: NewAuditEntry) => readonly NotificationEvent[],
): Promise<JsonObject> {
  const { clock } = context;
  let result: JsonObject;
  try {
    result = await work();
  } catch (error) {
    const refused = { at: clock.now(), outcome: 'refused', detail: messageOf(error) } as const;
    await recordAction(context, history, { ...about, ...refused });
    throw error;
  }
  const entry = { ...about, at: clock.now(), outcome: 'done', detail: '' } as const;
  await recordAction(context, history, entry, events(entry));
  return result;
}

/**
 * Records an entry of the audit. Resolves when it is stored, or when the store failed: then it is written later, unless the
 * daemon stops. Throws LeaseLostError.
 */
export async function recordAction(
  { clock, log, stopping }: AuditContext,
  history: AuditTable,
  entry: NewAuditEntry,
  events: readonly NotificationEvent[] = [],
): Promise<void> {
  const { action } = entry;
  let hasFailed = false;
  const failed = Promise.withResolvers<void>();
  const stored = untilStored((isRepeated) => history.addAudit(entry, events, isRepeated), {
    clock,
    signal: stopping,
    onError: (error) => {
      hasFailed = true;
      log.warn({ action, reason: error.message }, 'cannot record an action in the audit; retrying');
      failed.resolve();
    },
  }).catch((error: unknown) => {
    if (!hasFailed) {
      throw error;
    }
    log.error({ action, reason: messageOf(error) }, 'cannot record an action in the audit');
  });
  await Promise.race([stored, failed.promise]);
}
