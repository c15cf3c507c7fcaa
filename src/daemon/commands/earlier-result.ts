/** Result of a command that an owner carried out before it could answer. */
import type { JsonObject } from '../../core/json.ts';
import type { OpenCommand } from '../../store/commands.ts';
import type { Store } from '../../store/store.ts';

/** Number of entries of the audit that are searched. */
const SEARCHED = 100;

/**
 * Returns the result of a command that the audit has as done since it was sent. Every command may be carried out again; the
 * second time, its subject may be gone: a plan was applied, a pause has ended, a dead letter was dropped.
 */
export async function findEarlierResult(
  store: Pick<Store, 'history'>,
  { organization, kind, request, by, at }: OpenCommand,
): Promise<JsonObject | null> {
  if (request === null) {
    return null;
  }
  const verb = String(request.subcommand);
  const action = kind === 'act' ? verb : `${kind} ${verb === 'mute' && request.muted === false ? 'unmute' : verb}`;
  const subjects = [request.checksum, request.address ?? '', request.cluster, request.key, request.source];
  const entries = await store.history(organization).audit({ limit: SEARCHED });
  const isDone = entries.some(
    (entry) =>
      entry.outcome === 'done' &&
      entry.at >= at &&
      entry.action === action &&
      subjects.includes(entry.subject) &&
      entry.actor.name === by.name &&
      entry.actor.method === by.method,
  );
  return isDone ? { organization, ...request, isComplete: true, count: 0, repeated: true } : null;
}
