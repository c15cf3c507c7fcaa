/** Opens the features of an organization, and what follows them. */

import { randomBytes } from 'node:crypto';
import { SEND_MARGIN } from '../config/store.ts';
import { loadIdPseudonymizer, type PseudonymizeId } from '../conversations/private-ids.ts';
import { type AppError, CancelledError, LeaseLostError } from '../core/errors.ts';
import { EventBus } from '../core/event-bus.ts';
import type { SendingTerms } from '../platform/connection.ts';
import { ConversationsProbe } from '../platform/conversations-probe.ts';
import type { Lease } from '../store/leases.ts';
import { recordedTitles } from '../store/record.ts';
import type { OrganizationOpener } from './fleet/organizations.ts';
import type { TokenConnections } from './fleet/token-connections.ts';
import { OrganizationClusters } from './organization/clusters.ts';
import { OrganizationCommentApprovals } from './organization/comment-approvals.ts';
import { OrganizationCommitStatuses } from './organization/commit-statuses.ts';
import { OrganizationConversations } from './organization/conversations.ts';
import type { DaemonContext, OrganizationContext, OrganizationEvents } from './organization/feature.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';
import { Reconciliation } from './organization/reconciliation.ts';
import { type OrganizationSubscribers, subscribeToOrganization } from './subscribe.ts';

/** Creates the opener of the organizations of a replica; `replica` null: the state is in a file. */
export function createOpener(
  context: DaemonContext,
  connections: TokenConnections,
  replica: string | null,
  subscribers: OrganizationSubscribers,
): OrganizationOpener {
  const { config, version, log } = context;
  return {
    async open({ config: organization, lease, stopping, abort }) {
      const store = context.store.fenced(lease);
      const connection = await connections.acquire(organization, store);
      try {
        const pseudonymizeId = await loadIdPseudonymizer(store, organization.id, randomBytes);
        const agent = userAgent(version, replica, lease);
        const terms = sendingTerms(lease, stopping, config.platform.timeout, agent);
        const own: OrganizationContext = {
          ...context,
          organization,
          lease,
          store,
          stopping,
          abort,
          connection: { ...connection, terms },
          events: new EventBus<OrganizationEvents>(),
          daemon: context.events,
          probe: new ConversationsProbe(),
          log: log.child({ organization: organization.id }),
          checkSend: (milliseconds) => {
            const refusal = leaseRefusal(lease, milliseconds);
            if (refusal !== null) {
              throw refusal;
            }
          },
        };
        const titles = await recordedTitles(store.organization(organization.id));
        return assemble(own, pseudonymizeId, titles, subscribers);
      } catch (error) {
        await connections.release(organization);
        throw error;
      }
    },
    close: (organization) => connections.release(organization.config),
  };
}

function assemble(
  context: OrganizationContext,
  pseudonymizeId: PseudonymizeId,
  titles: readonly string[],
  subscribers: OrganizationSubscribers,
): ManagedOrganization {
  const { organization, lease, connection } = context;
  const { id, source } = organization;
  const statuses = OrganizationCommitStatuses.open(context);
  const reconciliation = source === null ? null : new Reconciliation(context, source);
  const comments = reconciliation && OrganizationCommentApprovals.open(context, reconciliation);
  const conversations = new OrganizationConversations(context, pseudonymizeId, titles);
  const clusters = new OrganizationClusters(context, reconciliation);
  subscribeToOrganization(context, { reconciliation, statuses, comments, clusters }, subscribers);
  const features = [reconciliation, statuses, comments, conversations, clusters].filter((feature) => feature !== null);
  const { queue } = connection;
  return {
    id,
    config: organization,
    lease,
    queue,
    reconciliation,
    statuses,
    comments,
    conversations,
    clusters,
    features,
  };
}

/**
 * Returns the error of a request that might still be on its way when the lease has ended; null if it may be sent.
 * `timeout`: milliseconds after which the request is given up.
 */
export function leaseRefusal(lease: Pick<Lease, 'name' | 'left'>, timeout: number): AppError | null {
  return lease.left() >= timeout + SEND_MARGIN ? null : new LeaseLostError(lease.name, 'short');
}

/**
 * Returns the terms of an organization: nothing is sent once `stopping` aborts, and no write that the lease may not outlast.
 * `timeout`: that of a request, in milliseconds.
 */
export function sendingTerms(
  lease: Pick<Lease, 'name' | 'left'>,
  stopping: AbortSignal,
  timeout: number,
  userAgent: string,
): SendingTerms {
  const readRefusal = () =>
    stopping.aborted ? new CancelledError('the request was not sent: the organization is stopping') : null;
  return { readRefusal, writeRefusal: () => readRefusal() ?? leaseRefusal(lease, timeout), userAgent };
}

/** Returns the user agent of requests; in a fleet it names the replica and the epoch of the lease. */
export function userAgent(version: string, replica: string | null, { epoch }: Pick<Lease, 'epoch'>): string {
  // A header has no characters outside of ASCII.
  const name = replica?.replaceAll(/[^\w.:-]/g, '_');
  return name === undefined ? `octavo/${version}` : `octavo/${version} (replica ${name}; epoch ${epoch})`;
}
