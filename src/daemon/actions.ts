/** Actions of people: approve, reject, pause, resume, reconcile, retry deliveries and end sessions, each with its entry in the audit. */

import { requestSubject } from '../conversations/control-api.ts';
import type { Address } from '../core/address.ts';
import type { Plan } from '../core/change.ts';
import { type Clock, LAST_TIME } from '../core/clock.ts';
import { ConfigError, messageOf, RefusedPlanError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { Logger } from '../log.ts';
import { type DeliveryRequest, deliveryRequest } from '../notify/deliveries.ts';
import { counted } from '../plan/render/words.ts';
import type { ActionRequest } from '../reconcile/approvals.ts';
import type { OrganizationReconciler } from '../reconcile/organization.ts';
import type { ControlHandlers } from '../server/control.ts';
import { type Actor, DAEMON_HISTORY, type History, type NewAuditEntry } from '../store/history.ts';
import type { NotificationEvent } from '../store/notifications.ts';
import { type SessionRecord, type SessionRequest, sessionRequest } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import { untilStored } from '../store/until-stored.ts';
import { decisionEvents } from './facts/reporting.ts';
import type { DaemonNotifications } from './notifications.ts';
import { chooseOrganization, heldChecksums } from './organization/held-plans.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';

interface AuditWriterOptions {
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
}

interface DeliveryActionOptions {
  readonly store: Store;
  /** Names of the channels. */
  readonly channels: readonly string[];
  readonly clock: Pick<Clock, 'now'>;
  readonly audit: AuditWriter;
  readonly notifications: Pick<DaemonNotifications, 'wake'>;
  /** Called after every action. */
  readonly onAudited: () => void;
}

export class DeliveryActions {
  readonly #options: DeliveryActionOptions;

  constructor(options: DeliveryActionOptions) {
    this.#options = options;
  }

  /** Handles a request. Throws ConfigError and StoreError. */
  async handle(actor: Actor, request: DeliveryRequest): Promise<JsonObject> {
    const { channel } = deliveryRequest.parse(request);
    const { store, channels, clock, audit, notifications, onAudited } = this.#options;
    if (channel !== null && !channels.includes(channel)) {
      throw new ConfigError(`no channel ${JSON.stringify(channel)} is configured; channels: ${channels.join(', ')}`);
    }
    const events = await store.notifications().retryEvents(channel);
    notifications.wake();
    const about = { action: 'notify retry', subject: channel ?? 'all channels', reason: '', actor };
    const detail = counted(events, 'event');
    await audit.write(store.history(DAEMON_HISTORY), { ...about, at: clock.now(), outcome: 'done', detail });
    onAudited();
    return { events };
  }
}

interface SessionActionOptions {
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

interface ActionOptions {
  /** Returns the organizations of this replica. */
  readonly organizations: () => readonly ManagedOrganization[];
  readonly store: Store;
  readonly clock: Clock;
  readonly audit: AuditWriter;
  /** Called with the organization after every action, also after a refused one: it is in the audit. */
  readonly onAudited: (organization: string) => void;
  readonly deliveries: DeliveryActions;
  readonly sessions: SessionActions;
}

interface AuditSubject {
  readonly action: string;
  readonly subject: string;
  readonly reason: string;
}

/** Requests that only read, and are not recorded. */
const READS: ReadonlySet<string> = new Set(['status', 'dead list', 'list']);

/** Carries out actions and records them. An action that fails is recorded as refused, with its error. */
export class Actions implements ControlHandlers {
  readonly #options: ActionOptions;

  constructor(options: ActionOptions) {
    this.#options = options;
  }

  /**
   * Handles a request about plans or passes. `organization` null: the only one, and for a checksum the one that has the
   * plan. Throws ConfigError, RefusedPlanError and StoreError.
   */
  async act(by: Actor, organization: string | null, request: ActionRequest): Promise<JsonObject> {
    const subject = 'checksum' in request ? request.checksum : 'address' in request ? (request.address ?? '') : '';
    const target = this.#target(organization, request);
    const about = { action: request.subcommand, subject, reason: request.reason ?? '' };
    return this.#audited(by, target, about, () => this.#act(by, target, request));
  }

  async conversations(
    by: Actor,
    organization: string | null,
    request: Parameters<ControlHandlers['conversations']>[2],
  ) {
    const target = chooseOrganization(this.#options.organizations(), organization);
    const about = { action: `conversations ${request.subcommand}`, subject: requestSubject(request), reason: '' };
    const work = () => target.conversations.handle(request);
    return READS.has(request.subcommand) ? work() : this.#audited(by, target, about, work);
  }

  async clusters(by: Actor, organization: string | null, request: Parameters<ControlHandlers['clusters']>[2]) {
    const target = chooseOrganization(this.#options.organizations(), organization);
    const subject = 'cluster' in request ? request.cluster : '';
    const verb = request.subcommand === 'mute' && !request.muted ? 'unmute' : request.subcommand;
    const work = () => target.clusters.handle(request);
    const isRead = READS.has(request.subcommand) || ('dryRun' in request && request.dryRun);
    return isRead ? work() : this.#audited(by, target, { action: `clusters ${verb}`, subject, reason: '' }, work);
  }

  deliveries(by: Actor, request: DeliveryRequest): Promise<JsonObject> {
    return this.#options.deliveries.handle(by, request);
  }

  sessions(by: Actor, request: SessionRequest): Promise<JsonObject> {
    return this.#options.sessions.handle(by, request);
  }

  async #audited(by: Actor, target: ManagedOrganization, about: AuditSubject, work: () => Promise<JsonObject>) {
    const { id } = target;
    const action = { ...about, actor: by, events: (done: NewAuditEntry) => decisionEvents(id, done) };
    try {
      return await this.#options.audit.carryOut(this.#history(target), action, work);
    } finally {
      this.#options.onAudited(id);
    }
  }

  /** Returns the history of an organization, which is written only while this replica has it. */
  #history({ id, lease }: ManagedOrganization): History {
    return this.#options.store.fenced(lease).history(id);
  }

  /** Finds the organization of a request: by its id, or by the plan that it names. */
  #target(id: string | null, request: ActionRequest): ManagedOrganization {
    const organizations = this.#options.organizations();
    const holder =
      'checksum' in request
        ? organizations.find((each) => heldChecksums(lastPlan(each), 'any').includes(request.checksum))
        : undefined;
    if (id === null && 'checksum' in request && holder === undefined) {
      throw noSuchPlan(request.checksum, organizations);
    }
    return id === null && holder !== undefined ? holder : chooseOrganization(organizations, id);
  }

  async #act(by: Actor, target: ManagedOrganization, request: ActionRequest): Promise<JsonObject> {
    const reconciler = target.reconciliation?.reconciler;
    if (reconciler === undefined) {
      throw new ConfigError(`organization ${target.id} has no source of manifests, so it has no plans`);
    }
    switch (request.subcommand) {
      case 'approve':
        return this.#approve(by, reconciler, target, request);
      case 'reject': {
        const plan = await reconciler.reject(request.checksum, by, request.reason ?? '');
        if (plan === null) {
          throw noSuchPlan(request.checksum, [target]);
        }
        return { organization: target.id, checksum: request.checksum };
      }
      case 'pause':
        return this.#pause(by, reconciler, target, request);
      case 'resume':
        return this.#resume(reconciler, target, request.address ?? '');
      default:
        void reconciler.trigger('manual');
        return { organization: target.id };
    }
  }

  async #approve(
    by: Actor,
    reconciler: OrganizationReconciler,
    target: ManagedOrganization,
    { checksum, reason = '' }: Extract<ActionRequest, { subcommand: 'approve' }>,
  ): Promise<JsonObject> {
    const approval = await reconciler.approve(checksum, by, reason);
    if (approval === null) {
      throw noSuchPlan(checksum, [target]);
    }
    if (approval.isComplete) {
      void reconciler.trigger('approval');
    }
    const approved = approval.plan.changes.filter((change) => change.held !== null).map((change) => change.address);
    return { organization: target.id, checksum, approved, isComplete: approval.isComplete };
  }

  async #pause(
    by: Actor,
    reconciler: OrganizationReconciler,
    target: ManagedOrganization,
    { address = '', reason, until }: Extract<ActionRequest, { subcommand: 'pause' }>,
  ): Promise<JsonObject> {
    const { clock } = this.#options;
    const now = clock.now();
    if (until !== null && until <= now) {
      throw new ConfigError('the end of the pause is in the past; choose a later one');
    }
    requireAddress(reconciler, address);
    await this.#history(target).pause({ address, reason, by, since: now, until });
    await reconciler.readPauses();
    return { organization: target.id, address, until: until === null ? null : new Date(until).toISOString() };
  }

  async #resume(reconciler: OrganizationReconciler, target: ManagedOrganization, address: string): Promise<JsonObject> {
    if (!(await this.#history(target).resume(address))) {
      throw new ConfigError(`${address === '' ? `organization ${target.id}` : address} is not paused`);
    }
    await reconciler.readPauses();
    void reconciler.trigger('manual');
    return { organization: target.id, address };
  }
}

/** Throws ConfigError unless the address is declared, or is part of the last plan. */
function requireAddress({ lastDesired, lastPlan }: OrganizationReconciler, address: string): void {
  const isKnown =
    address === '' ||
    lastDesired?.state.declared.has(address as Address) === true ||
    lastPlan?.changes.some((each) => each.address === address) === true;
  if (!isKnown) {
    throw new ConfigError(`no manifest declares ${JSON.stringify(address)}; use an address such as team/docs`);
  }
}

function noSuchPlan(checksum: string, organizations: readonly ManagedOrganization[]): RefusedPlanError {
  const held = organizations.flatMap((organization) => heldChecksums(lastPlan(organization), 'one'));
  const now = held.length === 0 ? 'nothing is held now' : `held now: ${held.join(', ')}`;
  return new RefusedPlanError(`no held plan has the checksum ${checksum}; ${now}`);
}

function lastPlan({ reconciliation }: ManagedOrganization): Plan | null {
  return reconciliation?.reconciler.lastPlan ?? null;
}
