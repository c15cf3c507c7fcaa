/** Actions of people on silences. Each of them is recorded in the audit. */
import type { Clock } from '../core/clock.ts';
import { ConfigError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { type SilenceRequest, silenceRequest } from '../notify/model/silence-request.ts';
import { type Actor, DAEMON_HISTORY } from '../store/history.ts';
import type { Silence } from '../store/notifications.ts';
import type { Store } from '../store/store.ts';
import type { AuditWriter } from './audit-writer.ts';
import type { DaemonNotifications } from './notifications.ts';

export interface SilenceActionOptions {
  readonly store: Store;
  /** Returns the ids of the organizations of the configuration. */
  readonly organizations: () => readonly string[];
  readonly clock: Pick<Clock, 'now'>;
  readonly audit: AuditWriter;
  readonly notifications: Pick<DaemonNotifications, 'silence' | 'endSilence'>;
  /** Called after every action, with the organization that it is about; null: all of them. */
  readonly onAudited: (organization: string | null) => void;
}

/** Number of silences among which the one to end is searched. */
const SEARCHED = 10_000;

/** Adds and ends silences. An action that fails is recorded as refused, with its error. */
export class SilenceActions {
  readonly #options: SilenceActionOptions;

  constructor(options: SilenceActionOptions) {
    this.#options = options;
  }

  /** Handles a request. Throws ConfigError and StoreError. */
  async handle(by: Actor, request: SilenceRequest): Promise<JsonObject> {
    const parsed = silenceRequest.parse(request);
    const ended = parsed.subcommand === 'end' ? await this.#find(parsed.id) : null;
    const { organization, code } = ended ?? (parsed as Extract<typeof parsed, { subcommand: 'add' }>);
    const { store, audit, onAudited } = this.#options;
    if (organization !== null && !this.#options.organizations().includes(organization)) {
      throw new ConfigError(
        `organization ${JSON.stringify(organization)} is not configured; name one that is, or none`,
      );
    }
    const history = store.history(organization ?? DAEMON_HISTORY);
    const reason = parsed.subcommand === 'add' ? parsed.reason : '';
    const entry = { action: `silence ${parsed.subcommand}`, subject: code ?? 'all conditions', reason, actor: by };
    const work = () => (parsed.subcommand === 'add' ? this.#add(by, parsed) : this.#end(parsed.id));
    try {
      return await audit.carryOut(history, { ...entry, detail: ({ id }) => String(id) }, work);
    } finally {
      onAudited(organization);
    }
  }

  async #add(by: Actor, { code, organization, reason, until }: AddRequest): Promise<JsonObject> {
    const { notifications, clock } = this.#options;
    const now = clock.now();
    if (until <= now) {
      throw new ConfigError('the silence would have ended already; set an end in the future');
    }
    const id = await notifications.silence({ code, organization, reason, by, since: now, until });
    return { id, code, organization, until: new Date(until).toISOString() };
  }

  async #end(id: string): Promise<JsonObject> {
    if (!(await this.#options.notifications.endSilence(id))) {
      throw new ConfigError(`the silence ${id} has already ended`);
    }
    return { id };
  }

  async #find(id: string): Promise<Silence> {
    const silence = (await this.#options.store.notifications().silences(SEARCHED)).find((each) => each.id === id);
    if (silence === undefined) {
      throw new ConfigError(`there is no silence ${JSON.stringify(id)}; list them with octavo silence list`);
    }
    return silence;
  }
}

type AddRequest = Extract<ReturnType<typeof silenceRequest.parse>, { readonly subcommand: 'add' }>;
