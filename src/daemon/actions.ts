/** Actions of people: approve, reject, pause, resume, reconcile, retry deliveries and end sessions, each with its entry in the audit. */

import type { ClusterRequest } from '../clusters/control-api.ts';
import type { ConversationRequest } from '../conversations/control-api.ts';
import type { Address } from '../core/address.ts';
import type { Plan } from '../core/change.ts';
import { LAST_TIME } from '../core/clock.ts';
import { ConfigError, messageOf, RefusedPlanError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { type DeliveryRequest, deliveryRequest } from '../notify/deliveries.ts';
import { heldChecksums } from '../plan/guard.ts';
import { counted } from '../plan/render/words.ts';
import type { ActionRequest } from '../reconcile/approvals.ts';
import type { OrganizationReconciler } from '../reconcile/organization.ts';
import { type Actor, DAEMON_HISTORY, type History, type NewAuditEntry } from '../store/history.ts';
import type { NotificationEvent } from '../store/notifications.ts';
import { type SessionRecord, type SessionRequest, sessionRequest } from '../store/sessions.ts';
import { untilStored } from '../store/until-stored.ts';
import type { ActionHandlers } from '../web/model/backend.ts';
import { decisionEvents } from './facts/reporting.ts';
import type { DaemonNotifications } from './notifications.ts';
import type { DaemonContext } from './organization/feature.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';

/** Members of the requests of people that say what they are about. */
export interface AuditedRequest {
  readonly subcommand: string;
  readonly reason?: string | undefined;
  readonly checksum?: string;
  readonly address?: string | undefined;
  readonly cluster?: string;
  readonly account?: string;
  readonly key?: string | undefined;
  readonly source?: string | undefined;
  readonly muted?: boolean;
}

/** Returns what the audit says of a request. */
export function describeRequest(kind: string, request: AuditedRequest) {
  const { subcommand, reason = '', checksum, address, cluster, account, key, source = '', muted } = request;
  const verb = subcommand === 'mute' && muted === false ? 'unmute' : subcommand;
  const subject = checksum ?? address ?? cluster ?? account ?? (key || source);
  return { action: kind === 'act' ? verb : `${kind} ${verb}`, subject, reason };
}

type AuditTable = Pick<History, 'addAudit'>;

export class AuditWriter {
  readonly #context: Pick<DaemonContext, 'clock' | 'log'>;
  readonly #stopping: AbortSignal;

  /** `stopping` aborts when the daemon stops: what cannot be recorded then is lost. */
  constructor(context: Pick<DaemonContext, 'clock' | 'log'>, stopping: AbortSignal) {
    this.#context = context;
    this.#stopping = stopping;
  }

  /**
   * Carries out an action and records it: as refused if it fails, with its error, which is thrown. `events` returns the events
   * of an action that was carried out.
   */
  async carryOut(
    history: AuditTable,
    about: Pick<NewAuditEntry, 'actor' | 'action' | 'subject' | 'reason'>,
    work: () => Promise<JsonObject>,
    events: (entry: NewAuditEntry) => readonly NotificationEvent[],
  ): Promise<JsonObject> {
    const { clock } = this.#context;
    let result: JsonObject;
    try {
      result = await work();
    } catch (error) {
      await this.write(history, { ...about, at: clock.now(), outcome: 'refused', detail: messageOf(error) });
      throw error;
    }
    const entry = { ...about, at: clock.now(), outcome: 'done', detail: '' } as const;
    await this.write(history, entry, events(entry));
    return result;
  }

  /**
   * Records an entry. Resolves when it is stored, or when the store failed: then it is written later. Throws
   * LeaseLostError.
   */
  async write(history: AuditTable, entry: NewAuditEntry, events: readonly NotificationEvent[] = []): Promise<void> {
    const { clock, log } = this.#context;
    const { action } = entry;
    let hasFailed = false;
    const failed = Promise.withResolvers<void>();
    const stored = untilStored((isRepeated) => history.addAudit(entry, events, isRepeated), {
      clock,
      signal: this.#stopping,
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

/** Describes a session, without what could be used to sign in. */
function describeSession({ data, expiresAt }: SessionRecord): JsonObject {
  const { name, method } = data;
  return { name: name ?? null, method: method ?? null, until: new Date(Math.min(expiresAt, LAST_TIME)).toISOString() };
}

/** Requests that only read, and are not recorded. */
const READS: ReadonlySet<string> = new Set(['status', 'dead list', 'list']);

/** Carries out actions and records them. An action that fails is recorded as refused, with its error. */
export class Actions implements ActionHandlers {
  readonly #context: DaemonContext;
  readonly #audit: AuditWriter;
  readonly #notifications: Pick<DaemonNotifications, 'wake'>;
  readonly #organizations: () => readonly ManagedOrganization[];

  /** `organizations` returns those of this replica. */
  constructor(
    context: DaemonContext,
    audit: AuditWriter,
    notifications: Pick<DaemonNotifications, 'wake'>,
    organizations: () => readonly ManagedOrganization[],
  ) {
    this.#context = context;
    this.#audit = audit;
    this.#notifications = notifications;
    this.#organizations = organizations;
  }

  /**
   * Handles a request about plans or passes. `organization` null: the only one, and for a checksum the one that has the
   * plan. Throws ConfigError, RefusedPlanError and StoreError.
   */
  async act(by: Actor, organization: string | null, request: ActionRequest): Promise<JsonObject> {
    const target = this.#target(organization, request);
    return this.#audited(by, target, describeRequest('act', request), () => this.#act(by, target, request));
  }

  async conversations(by: Actor, organization: string | null, request: ConversationRequest): Promise<JsonObject> {
    const target = chooseOrganization(this.#organizations(), organization);
    const work = () => target.conversations.handle(request);
    return READS.has(request.subcommand)
      ? work()
      : this.#audited(by, target, describeRequest('conversations', request), work);
  }

  async clusters(by: Actor, organization: string | null, request: ClusterRequest): Promise<JsonObject> {
    const target = chooseOrganization(this.#organizations(), organization);
    const work = () => target.clusters.handle(request);
    const isRead = READS.has(request.subcommand) || ('dryRun' in request && request.dryRun);
    return isRead ? work() : this.#audited(by, target, describeRequest('clusters', request), work);
  }

  /** Sends again what channels refused. Throws ConfigError and StoreError. */
  async deliveries(by: Actor, request: DeliveryRequest): Promise<JsonObject> {
    const { channel } = deliveryRequest.parse(request);
    const { store, config } = this.#context;
    const channels = Object.keys(config.notifications.channels);
    if (channel !== null && !channels.includes(channel)) {
      throw new ConfigError(`no channel ${JSON.stringify(channel)} is configured; channels: ${channels.join(', ')}`);
    }
    const events = await store.notifications().retryEvents(channel);
    this.#notifications.wake();
    const about = { action: 'notify retry', subject: channel ?? 'all channels', reason: '' };
    await this.#recordShared({ ...about, actor: by, detail: counted(events, 'event') });
    return { events };
  }

  /** Lists or ends sessions. Throws ConfigError and StoreError. */
  async sessions(by: Actor, request: SessionRequest): Promise<JsonObject> {
    const { store, clock } = this.#context;
    const parsed = sessionRequest.parse(request);
    const sessions = await store.sessions().list(clock.now());
    if (parsed.subcommand === 'list') {
      return { sessions: sessions.map(describeSession) };
    }
    const { user, reason } = parsed;
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
    const about = { action: 'sessions end', subject: user ?? 'everybody', reason };
    await this.#recordShared({ ...about, actor: by, detail: counted(ended, 'session') });
    return { ended };
  }

  async #audited(
    by: Actor,
    target: ManagedOrganization,
    about: ReturnType<typeof describeRequest>,
    work: () => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const { id } = target;
    try {
      return await this.#audit.carryOut(this.#history(target), { ...about, actor: by }, work, (done) =>
        decisionEvents(id, done),
      );
    } finally {
      this.#context.events.publish.onChange?.(id, false);
      // An approval was stored with its event.
      this.#notifications.wake();
    }
  }

  /** Records an action that belongs to no organization. */
  async #recordShared(about: Omit<NewAuditEntry, 'at' | 'outcome'>): Promise<void> {
    const { store, clock, events } = this.#context;
    await this.#audit.write(store.history(DAEMON_HISTORY), { ...about, at: clock.now(), outcome: 'done' });
    events.publish.onChange?.('notifications', false);
  }

  /** Returns the history of an organization, which is written only while this replica has it. */
  #history({ id, lease }: ManagedOrganization): History {
    return this.#context.store.fenced(lease).history(id);
  }

  /** Finds the organization of a request: by its id, or by the plan that it names. */
  #target(id: string | null, request: ActionRequest): ManagedOrganization {
    const organizations = this.#organizations();
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
    const now = this.#context.clock.now();
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

/** Returns the organization with this id, or the only one if `id` is null. Throws ConfigError. */
export function chooseOrganization<T extends { readonly id: string }>(
  organizations: readonly T[],
  id: string | null,
): T {
  const [chosen, other] = organizations.filter((organization) => id === null || organization.id === id);
  if (chosen === undefined || other !== undefined) {
    const known = organizations.map((organization) => organization.id).join(', ');
    throw new ConfigError(
      chosen === undefined
        ? `organization ${JSON.stringify(id)} is not configured; configured organizations: ${known}`
        : `several organizations are configured; select one with --organization: ${known}`,
    );
  }
  return chosen;
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
