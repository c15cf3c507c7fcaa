/** Records in the audit what people did. An entry that the store does not take is written when it works again. */
import type { Clock } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { Logger } from '../log.ts';
import type { Actor, History, NewAuditEntry } from '../store/history.ts';
import type { NotificationEvent } from '../store/notifications.ts';
import { untilStored } from '../store/until-stored.ts';

export interface AuditWriterOptions {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  /** Aborts when the daemon stops: what cannot be recorded then is lost. */
  readonly stopping: AbortSignal;
}

/** Action of a person. */
export interface AuditedAction {
  readonly actor: Actor;
  readonly action: string;
  readonly subject: string;
  readonly reason: string;
  /** Returns the detail of the entry from the result. Absent: empty. */
  readonly detail?: (result: JsonObject) => string;
  /** Returns the events of an action that was carried out. Absent: none. */
  readonly events?: (entry: NewAuditEntry) => readonly NotificationEvent[];
}

type AuditTable = Pick<History, 'addAudit'>;

export class AuditWriter {
  readonly #options: AuditWriterOptions;

  constructor(options: AuditWriterOptions) {
    this.#options = options;
  }

  /** Carries out an action and records it: as refused if it fails, with its error, which is thrown. */
  async carryOut(
    history: AuditTable,
    { detail = () => '', events = () => [], ...about }: AuditedAction,
    work: () => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const { clock } = this.#options;
    let result: JsonObject;
    try {
      result = await work();
    } catch (error) {
      await this.write(history, { ...about, at: clock.now(), outcome: 'refused', detail: messageOf(error) });
      throw error;
    }
    const entry = { ...about, at: clock.now(), outcome: 'done', detail: detail(result) } as const;
    await this.write(history, entry, events(entry));
    return result;
  }

  /**
   * Records an entry. Resolves when it is stored, or when the store failed: then it is written later. Throws
   * LeaseLostError.
   */
  async write(history: AuditTable, entry: NewAuditEntry, events: readonly NotificationEvent[] = []): Promise<void> {
    const { clock, log, stopping } = this.#options;
    const { action } = entry;
    let hasFailed = false;
    const failed = Promise.withResolvers<void>();
    const stored = untilStored((isRepeated) => history.addAudit(entry, events, isRepeated), {
      ...{ clock, signal: stopping },
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
}
