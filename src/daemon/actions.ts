/** Actions of people: approve, reject, pause, resume, reconcile, retry deliveries and end sessions, each with its entry in the audit. */

import type { Address } from '../core/address.ts';
import type { Plan } from '../core/change.ts';
import { LAST_TIME } from '../core/clock.ts';
import { ConfigError, RefusedPlanError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { approvalChoices, approvedPart, chosenApproval, meantApprovals } from '../plan/approval-choice.ts';
import { approvalSentence } from '../plan/render/sentence.ts';
import { counted } from '../plan/render/words.ts';
import type { OrganizationReconciler } from '../reconcile/organization.ts';
import type { RequestHandlers, RequestKind, RequestOf } from '../server/requests.ts';
import { type Actor, DAEMON_HISTORY, type NewAuditEntry } from '../store/history.ts';
import type { SessionRecord } from '../store/sessions.ts';
import { decisionEvents } from './facts/reporting.ts';
import { carryOut, recordAction } from './organization/audit.ts';
import type { DaemonContext } from './organization/feature.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';
import type { DaemonParts } from './parts.ts';

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
  readonly dryRun?: boolean;
}

/** Returns what the audit says of a request. */
export function describeRequest(kind: string, request: AuditedRequest) {
  const { subcommand, reason = '', checksum, address, cluster, account, key, source = '', muted } = request;
  const verb = subcommand === 'mute' && muted === false ? 'unmute' : subcommand;
  const subject = checksum ?? address ?? cluster ?? account ?? (key || source);
  return { action: kind === 'act' ? verb : `${kind} ${verb}`, subject, reason };
}

/** Describes a session, without what could be used to sign in. */
function describeSession({ data, expiresAt }: SessionRecord): JsonObject {
  const { name, method } = data;
  return { name: name ?? null, method: method ?? null, until: new Date(Math.min(expiresAt, LAST_TIME)).toISOString() };
}

/** Requests that only read, and are not recorded. */
const READS: ReadonlySet<string> = new Set(['status', 'dead list', 'list']);

type ActionParts = Pick<DaemonParts, 'context' | 'notifications' | 'organizations'>;

/** Returns what carries out requests on the organizations of this replica. */
export function openActions({ context, notifications, organizations }: ActionParts): RequestHandlers {
  const { store, clock, config, events } = context;
  /** Carries out a request on an organization, and records it while this replica has it, unless it only reads. */
  const onOrganization = async (
    kind: RequestKind,
    by: Actor,
    { id, lease }: ManagedOrganization,
    request: AuditedRequest,
    work: () => Promise<JsonObject>,
  ) => {
    if (kind !== 'act' && (READS.has(request.subcommand) || request.dryRun === true)) {
      return work();
    }
    const about = { ...describeRequest(kind, request), actor: by };
    try {
      return await carryOut(context, store.fenced(lease).history(id), about, work, (done) => decisionEvents(id, done));
    } finally {
      events.publish.onStateChange?.(id);
      // An approval was stored with its event.
      notifications.wake();
    }
  };
  /** Records an action that belongs to no organization. */
  const recordShared = async (about: Omit<NewAuditEntry, 'at' | 'outcome'>) => {
    await recordAction(context, store.history(DAEMON_HISTORY), { ...about, at: clock.now(), outcome: 'done' });
    events.publish.onChange?.('audit');
  };
  return {
    /** Handles a request about plans or passes. Throws ConfigError, RefusedPlanError and StoreError. */
    async act(by, organization, request) {
      const target = targetOf(organizations.open, organization, request);
      // Everything after this has the whole checksum: the audit, the record and the comparison with the plan.
      const named = withWholeChecksum(request, target);
      return onOrganization('act', by, target, named, () => act(context, by, target, named));
    },
    async conversations(by, organization, request) {
      const target = chooseOrganization(organizations.open, organization);
      return onOrganization('conversations', by, target, request, () => target.conversations.handle(request));
    },
    async clusters(by, organization, request) {
      const target = chooseOrganization(organizations.open, organization);
      return onOrganization('clusters', by, target, request, () => target.clusters.handle(request));
    },
    /** Sends again what channels refused. Throws ConfigError and StoreError. */
    async deliveries(by, _none, { channel }) {
      const channels = Object.keys(config.notifications.channels);
      if (channel !== null && !channels.includes(channel)) {
        throw new ConfigError(`no channel ${JSON.stringify(channel)} is configured; channels: ${channels.join(', ')}`);
      }
      const retried = await store.notifications().retryEvents(channel);
      notifications.wake();
      events.publish.onChange?.('notifications');
      const about = { action: 'notify retry', subject: channel ?? 'all channels', reason: '' };
      await recordShared({ ...about, actor: by, detail: counted(retried, 'event') });
      return { events: retried };
    },
    /** Lists or ends sessions. Throws ConfigError and StoreError. */
    async sessions(by, _none, request) {
      const sessions = await store.sessions().list(clock.now());
      if (request.subcommand === 'list') {
        return { sessions: sessions.map(describeSession) };
      }
      const { user, reason } = request;
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
      await recordShared({ ...about, actor: by, detail: counted(ended, 'session') });
      return { ended };
    },
  };
}

/** Finds the organization of a request: by its id, or by the plan that it names. */
function targetOf(
  organizations: readonly ManagedOrganization[],
  id: string | null,
  request: RequestOf<'act'>,
): ManagedOrganization {
  return id === null && 'checksum' in request
    ? chosenApproval(request.checksum, organizations.flatMap(choicesIn)).target
    : chooseOrganization(organizations, id);
}

async function act(
  { store, clock }: DaemonContext,
  by: Actor,
  target: ManagedOrganization,
  request: RequestOf<'act'>,
): Promise<JsonObject> {
  const { id, lease, reconciliation } = target;
  if (reconciliation === null) {
    throw new ConfigError(`organization ${id} has no source of manifests, so it has no plans`);
  }
  const { reconciler } = reconciliation;
  const history = store.fenced(lease).history(id);
  switch (request.subcommand) {
    case 'approve': {
      const { checksum, reason } = request;
      const approval = await reconciler.approve(checksum, by, reason);
      const about = describeApproval(approval?.plan ?? null, checksum, target);
      const { plan, isComplete = false } = approval ?? {};
      if (isComplete) {
        void reconciler.trigger('approval');
      }
      const approved = plan?.changes.filter(({ held }) => held !== null).map(({ address }) => address) ?? [];
      return { organization: id, ...about, approved, isComplete };
    }
    case 'reject': {
      const { checksum, reason } = request;
      const plan = await reconciler.reject(checksum, by, reason);
      return { organization: id, ...describeApproval(plan, checksum, target) };
    }
    case 'pause': {
      const { address, reason, until } = request;
      const now = clock.now();
      if (until !== null && until <= now) {
        throw new ConfigError('the end of the pause is in the past; choose a later one');
      }
      requireAddress(reconciler, address);
      await history.pause({ address, reason, by, since: now, until });
      await reconciler.readPauses();
      return { organization: id, address, until: until === null ? null : new Date(until).toISOString() };
    }
    case 'resume': {
      const { address } = request;
      if (!(await history.resume(address))) {
        throw new ConfigError(`${address === '' ? `organization ${id}` : address} is not paused`);
      }
      await reconciler.readPauses();
      void reconciler.trigger('manual');
      return { organization: id, address };
    }
    default:
      void reconciler.trigger('manual');
      return { organization: id };
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

/** Replaces what a person typed by the whole checksum, if it means one thing that this organization holds now. */
function withWholeChecksum(request: RequestOf<'act'>, target: ManagedOrganization): RequestOf<'act'> {
  const [meant, other] = 'checksum' in request ? meantApprovals(request.checksum, choicesIn(target)) : [];
  return meant === undefined || other !== undefined || !('checksum' in request)
    ? request
    : { ...request, checksum: meant.checksum };
}

/** Returns what can be approved in an organization, as messages name it. */
function choicesIn(target: ManagedOrganization) {
  return approvalChoices(lastPlan(target)).map(({ checksum, what }) => {
    return { checksum, what: `${what} of ${target.id}`, target };
  });
}

/** Says what was decided on. Throws RefusedPlanError, which names the choices, if there is no such plan. */
function describeApproval(plan: Plan | null, checksum: string, target: ManagedOrganization): JsonObject {
  if (plan === null) {
    chosenApproval(checksum, choicesIn(target));
    throw new RefusedPlanError('the plan has just changed; review it again');
  }
  return { checksum, part: approvedPart(checksum, plan), sentence: approvalSentence(plan, checksum) };
}

function lastPlan({ reconciliation }: ManagedOrganization): Plan | null {
  return reconciliation?.reconciler.lastPlan ?? null;
}
