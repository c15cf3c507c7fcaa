/** Records, and requests to the forge: statuses and deployments are sent until it shows what is recorded. */
import PQueue from 'p-queue';
import type { OrganizationConfig } from '../config/config.ts';
import { findStatusForge } from '../config/forge.ts';
import type { Clock, Random, WakeUpSignal } from '../core/clock.ts';
import { messageOf, RateLimitedError, RejectedError, StoreError, toError } from '../core/errors.ts';
import { smallest } from '../core/lists.ts';
import type { CommitStatuses, Deployments, NewDeployment } from '../forge/forge.ts';
import { openForgeStatuses } from '../forge/open-forge.ts';
import { FORGE_TIMEOUT } from '../forge/requests.ts';
import type { CommitStatusRecord, CommitStatusTable, DeploymentRecord } from '../store/commit-statuses.ts';
import { type RepeatOptions, untilStored } from '../store/until-stored.ts';
import { findRecord, type PendingRequest, pendingRequests } from './status-progress.ts';

/** Commit statuses of one organization, as configured. */
export interface OrganizationStatuses {
  readonly forge: CommitStatuses;
  /** Name of the statuses. */
  readonly context: string;
  /** Null: no deployments. */
  readonly environment: string | null;
  /** Milliseconds after which a request is given up. */
  readonly timeout: number;
}

type StatusSettings = Pick<OrganizationConfig, 'source' | 'forge'>;

/** Returns true if the configuration has commit statuses: the forge is known, and has a token. */
export function hasCommitStatuses(settings: StatusSettings): boolean {
  return statusTarget(settings) !== null;
}

/** Returns null if the configuration has no token for them. */
export function openOrganizationStatuses(
  { id, source, forge }: OrganizationConfig,
  signal: AbortSignal,
  userAgent: string,
): OrganizationStatuses | null {
  const target = statusTarget({ source, forge });
  return target === null
    ? null
    : {
        forge: openForgeStatuses(target, signal, userAgent),
        context: forge?.statusContext ?? `octavo/${id}`,
        environment: forge?.environment ?? null,
        timeout: FORGE_TIMEOUT,
      };
}

function statusTarget({ source, forge }: StatusSettings) {
  if (source?.git === undefined || forge?.token === undefined) {
    return null;
  }
  const found = findStatusForge(forge, source.git.url);
  const ref = /^[0-9a-f]{40,64}$/.test(source.git.ref) ? null : source.git.ref;
  return 'type' in found ? { ...found, token: forge.token, ref } : null;
}

/** Returns the records that change. */
export type RecordChange = (
  records: readonly CommitStatusRecord[],
) => readonly CommitStatusRecord[] | Promise<readonly CommitStatusRecord[]>;

interface StatusRecordsOptions {
  readonly table: CommitStatusTable;
  readonly onChange: () => void;
  /** Repeats a change that the store fails, before any later one. */
  readonly repeat: RepeatOptions;
}

/** Records that passes and the sender change at the same time. */
export class StatusRecords {
  readonly #options: StatusRecordsOptions;
  readonly #turns = new PQueue({ concurrency: 1 });

  constructor(options: StatusRecordsOptions) {
    this.#options = options;
  }

  /** Returns the records, newest first. Throws StoreError. */
  list(): Promise<readonly CommitStatusRecord[]> {
    return this.#turns.add(() => this.#options.table.list());
  }

  /** Stores the records that `change` returns; it is called again if the store fails. Throws StoreError. */
  async change(change: RecordChange): Promise<void> {
    const { table, onChange, repeat } = this.#options;
    const store = async (isRepeated: boolean) => {
      const changed = await change(await table.list());
      if (changed.length > 0) {
        await table.put(changed);
      }
      // An earlier attempt may have stored it.
      if (changed.length > 0 || isRepeated) {
        onChange();
      }
    };
    await this.#turns.add(() => untilStored(store, repeat));
  }
}

/** Result of one request. */
export interface StatusRequest {
  readonly commit: string;
  readonly what: PendingRequest;
  /** Null: the forge took it. */
  readonly error: Error | null;
}

interface StatusSenderOptions {
  readonly records: StatusRecords;
  readonly forge: CommitStatuses;
  /** Null: no deployments. */
  readonly environment: string | null;
  /** Notified when records change. */
  readonly wake: WakeUpSignal;
  readonly clock: Clock;
  readonly random: Random;
  /** Starts no request once it aborts. */
  readonly signal: AbortSignal;
  readonly onRequest: (request: StatusRequest) => void;
  /** Throws if nothing must be sent now. Called right before each request that changes something. */
  readonly checkSend: () => void;
}

/** Requests that fail. */
export interface StatusFailure {
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly reason: string;
}

interface Due {
  readonly key: string;
  readonly what: PendingRequest;
  readonly record: CommitStatusRecord;
}

interface Failure extends StatusFailure {
  readonly attempts: number;
  /** On the monotonic clock. */
  readonly retryAt: number;
}

/** Milliseconds for which a status is retried. */
const GIVE_UP = 24 * 3_600_000;
/** Milliseconds before the first retry, doubled for each further one: of what may succeed now, and of what was refused. */
const RETRY = { first: 2000, max: 300_000 } as const;
const RETRY_REFUSED = { first: 60_000, max: 900_000 } as const;
/** Milliseconds before the next attempt if the store failed, or the lease was too short to send. */
const STORE_RETRY = 5000;
/** Milliseconds to wait after a rate limit that names no time. */
const RATE_LIMIT = 60_000;
/** Milliseconds between checks without anything to do. */
const IDLE = 3_600_000;

export class StatusSender {
  readonly #options: StatusSenderOptions;
  readonly #failures = new Map<string, Failure>();
  /** Time before which nothing is sent, on the monotonic clock. */
  #pausedUntil = 0;

  constructor(options: StatusSenderOptions) {
    this.#options = options;
  }

  /** The request that has failed longest; null if none does. */
  get failure(): StatusFailure | null {
    return [...this.#failures.values()].toSorted((a, b) => a.since - b.since)[0] ?? null;
  }

  /** Sends until the signal aborts. */
  async run(): Promise<void> {
    const { wake, clock, signal } = this.#options;
    while (!signal.aborted) {
      const seen = wake.count;
      const wait = await this.sendDue().catch((error: unknown) => {
        if (!(error instanceof StoreError)) {
          throw error;
        }
        return STORE_RETRY;
      });
      await wake.wait(seen, wait ?? IDLE, clock, signal);
    }
  }

  /** Sends what is due. Returns the milliseconds until the next attempt; null if nothing is left. Throws StoreError. */
  async sendDue(): Promise<number | null> {
    const { clock, signal } = this.#options;
    while (!signal.aborted) {
      const due = await this.#due();
      const now = clock.monotonic();
      const next = due.find(({ key }) => this.#readyAt(key) <= now);
      if (next === undefined) {
        return due.length === 0 ? null : Math.max(1, smallest(due.map(({ key }) => this.#readyAt(key))) - now);
      }
      await this.#send(next);
    }
    return null;
  }

  #readyAt(key: string): number {
    return Math.max(this.#pausedUntil, this.#failures.get(key)?.retryAt ?? 0);
  }

  /** Returns the requests that are needed, those of the oldest change first. */
  async #due(): Promise<readonly Due[]> {
    const { records, clock } = this.#options;
    const since = clock.now() - GIVE_UP;
    const recent = (await records.list()).filter(({ changedAt }) => changedAt > since).toReversed();
    const due = recent.flatMap((record) =>
      pendingRequests(record).map((what) => ({ key: `${what} ${record.commit} ${record.context}`, what, record })),
    );
    for (const key of this.#failures.keys()) {
      if (due.every((each) => each.key !== key)) {
        this.#failures.delete(key);
      }
    }
    return due;
  }

  async #send({ key, what, record }: Due): Promise<void> {
    const { onRequest } = this.#options;
    try {
      await (what === 'status' ? this.#sendStatus(record) : this.#sendDeployment(record));
    } catch (error) {
      if (error instanceof StoreError) {
        throw error;
      }
      this.#fail(key, error);
      onRequest({ commit: record.commit, what, error: toError(error) });
      return;
    }
    this.#failures.delete(key);
    onRequest({ commit: record.commit, what, error: null });
  }

  #fail(key: string, error: unknown): void {
    const { clock, random } = this.#options;
    const before = this.#failures.get(key);
    const attempts = (before?.attempts ?? 0) + 1;
    const isRefused = (error as { disposition?: unknown }).disposition === 'stall';
    const { first, max } = isRefused ? RETRY_REFUSED : RETRY;
    const delay = Math.min(max, first * 2 ** Math.min(attempts - 1, 20)) * (0.5 + random() / 2);
    const wait = error instanceof RateLimitedError ? Math.max(error.after ?? RATE_LIMIT, delay) : delay;
    const retryAt = clock.monotonic() + wait;
    this.#failures.set(key, { since: before?.since ?? clock.now(), reason: messageOf(error), attempts, retryAt });
    // Other statuses can succeed after one was rejected, such as that of an unknown commit.
    if (!(error instanceof RejectedError)) {
      this.#pausedUntil = Math.max(this.#pausedUntil, retryAt);
    }
  }

  async #sendStatus({ commit, context, wanted, sent }: CommitStatusRecord): Promise<void> {
    if (sent !== null) {
      // If the answer is lost, the forge may show either.
      await this.#update({ commit, context }, (record) => ({ ...record, sent: null }));
    }
    this.#options.checkSend();
    await this.#options.forge.setStatus(commit, { ...wanted, context });
    await this.#update({ commit, context }, (record) => ({ ...record, sent: wanted }));
  }

  async #sendDeployment(record: CommitStatusRecord): Promise<void> {
    const { deployments } = this.#options.forge;
    const { environment } = this.#options;
    const { deployment, commit, wanted } = record;
    if (deployments === null || environment === null || deployment === null) {
      // The configuration no longer has deployments.
      await this.#update(record, (now) => ({ ...now, deployment: null }));
      return;
    }
    if (deployment.id === null) {
      const id = await this.#create(deployments, record, { commit, environment, description: wanted.description });
      await this.#updateDeployment(record, { id, sent: deployments.createdState });
      return;
    }
    await this.#updateDeployment(record, { sent: null });
    this.#options.checkSend();
    await deployments.setState(deployment.id, deployment.wanted, wanted);
    await this.#updateDeployment(record, { sent: deployment.wanted });
  }

  /** Creates a deployment, unless an earlier attempt whose response was lost has created it. Returns its id. */
  async #create(deployments: Deployments, record: CommitStatusRecord, deployment: NewDeployment): Promise<string> {
    if (record.deployment?.isAttempted === true) {
      const found = await deployments.find(deployment);
      if (found !== null) {
        return found;
      }
    }
    await this.#updateDeployment(record, { isAttempted: true });
    this.#options.checkSend();
    return deployments.create(deployment);
  }

  #updateDeployment(key: CommitStatusRecord, change: Partial<DeploymentRecord>): Promise<void> {
    return this.#update(key, (record) =>
      record.deployment === null ? record : { ...record, deployment: { ...record.deployment, ...change } },
    );
  }

  /** Changes what was sent of a record, and nothing that a pass may have changed in the meantime. */
  #update(
    key: Pick<CommitStatusRecord, 'commit' | 'context'>,
    change: (record: CommitStatusRecord) => CommitStatusRecord,
  ): Promise<void> {
    return this.#options.records.change((records) => {
      const record = findRecord(records, key);
      return record === undefined ? [] : [change(record)];
    });
  }
}
