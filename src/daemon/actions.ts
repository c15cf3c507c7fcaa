/** Actions of people on plans, passes, conversations and clusters. Each of them is recorded in the audit. */
import { requestSubject } from '../conversations/ingestion/control-api.ts';
import type { Address } from '../core/address.ts';
import type { Plan } from '../core/change.ts';
import type { Clock } from '../core/clock.ts';
import { ConfigError, RefusedPlanError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { DeliveryRequest } from '../notify/deliveries.ts';
import type { ActionRequest } from '../reconcile/approvals.ts';
import type { OrganizationReconciler } from '../reconcile/organization.ts';
import type { ControlHandlers } from '../server/control.ts';
import type { Actor, History, NewAuditEntry } from '../store/history.ts';
import type { SessionRequest } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import type { AuditWriter } from './audit-writer.ts';
import type { DeliveryActions } from './delivery-actions.ts';
import { decisionEvents } from './facts/events.ts';
import { chooseOrganization, heldChecksums } from './organization/held-plans.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';
import type { SessionActions } from './session-actions.ts';

export interface ActionOptions {
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
