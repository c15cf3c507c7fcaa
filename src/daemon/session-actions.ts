/** Actions of people on sessions of the web page. Every session that is ended is recorded in the audit. */
import type { Clock } from '../core/clock.ts';
import { ConfigError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { LAST_TIME } from '../core/last-time.ts';
import { counted } from '../plan/render/words.ts';
import { type Actor, DAEMON_HISTORY } from '../store/history.ts';
import { type SessionRecord, type SessionRequest, sessionRequest } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import type { AuditWriter } from './audit-writer.ts';

export interface SessionActionOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly audit: AuditWriter;
  /** Called after every action that is in the audit. */
  readonly onAudited: () => void;
}

/** Lists and ends sessions. */
export class SessionActions {
  readonly #options: SessionActionOptions;

  constructor(options: SessionActionOptions) {
    this.#options = options;
  }

  /** Handles a request. Throws ConfigError and StoreError. */
  async handle(by: Actor, request: SessionRequest): Promise<JsonObject> {
    const { store, clock } = this.#options;
    const parsed = sessionRequest.parse(request);
    const sessions = await store.sessions().list(clock.now());
    return parsed.subcommand === 'list'
      ? { sessions: sessions.map(describeSession) }
      : this.#end(by, sessions, parsed.user, parsed.reason);
  }

  async #end(
    actor: Actor,
    sessions: readonly SessionRecord[],
    user: string | null,
    reason: string,
  ): Promise<JsonObject> {
    const { store, clock, audit, onAudited } = this.#options;
    const meant = sessions.filter(({ data }) => user === null || data.name === user);
    if (user !== null && meant.length === 0) {
      throw new ConfigError(
        `${JSON.stringify(user)} has no session; list the names of people who have one with octavo sessions list`,
      );
    }
    let ended = 0;
    for (const { id } of meant) {
      ended += Number(await store.sessions().remove(id));
    }
    const about = { action: 'sessions end', subject: user ?? 'everybody', reason, actor };
    const detail = counted(ended, 'session');
    await audit.write(store.history(DAEMON_HISTORY), { ...about, at: clock.now(), outcome: 'done', detail });
    onAudited();
    return { ended };
  }
}

/** Describes a session, without what could be used to sign in. */
function describeSession({ data, expiresAt }: SessionRecord): JsonObject {
  const { name, method } = data;
  return { name: name ?? null, method: method ?? null, until: new Date(Math.min(expiresAt, LAST_TIME)).toISOString() };
}
