/** Actions on organizations of any replica: carries them out here, or asks the owner. */
import type { ClusterRequest } from '../../clusters/control-api.ts';
import type { ConversationRequest } from '../../conversations/ingestion/control-api.ts';
import { ConfigError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { DeliveryRequest } from '../../notify/deliveries.ts';
import type { ActionRequest } from '../../reconcile/approvals.ts';
import type { CommandKind } from '../../store/commands.ts';
import type { Actor } from '../../store/history.ts';
import type { SessionRequest } from '../../store/sessions.ts';
import type { ActionHandlers, OrganizationOwner, OrganizationState } from '../../web/model/backend.ts';
import { chooseOrganization, heldChecksums } from '../organization/held-plans.ts';
import type { CommandSender } from './command-sender.ts';

export interface RoutedActionsOptions {
  /** Actions on the organizations of this replica. */
  readonly local: ActionHandlers;
  /** Returns true for the organizations of this replica. */
  readonly isLocal: (organization: string) => boolean;
  /** Returns the organizations of all replicas, with their plans. Throws StoreError. */
  readonly organizations: () => Promise<readonly OrganizationState[]>;
  readonly owner: (organization: string) => OrganizationOwner;
  readonly sender: CommandSender;
  /** Called after the owner has answered. */
  readonly onAnswered: (organization: string) => void;
}

export class RoutedActions implements ActionHandlers {
  readonly #options: RoutedActionsOptions;

  constructor(options: RoutedActionsOptions) {
    this.#options = options;
  }

  async act(by: Actor, organization: string | null, request: ActionRequest): Promise<JsonObject> {
    const id = await this.#target(organization, 'checksum' in request ? request.checksum : null);
    const { local } = this.#options;
    return this.#options.isLocal(id) ? local.act(by, id, request) : this.#send(id, 'act', request, by);
  }

  async conversations(by: Actor, organization: string | null, request: ConversationRequest): Promise<JsonObject> {
    const id = await this.#target(organization, null);
    const { local, owner } = this.#options;
    if (this.#options.isLocal(id)) {
      return local.conversations(by, id, request);
    }
    if (request.subcommand === 'push') {
      throw new ConfigError(
        `files are read by the replica that has organization ${id}, which is not this one; run the command at ${place(owner(id))}`,
      );
    }
    return this.#send(id, 'conversations', request, by);
  }

  async clusters(by: Actor, organization: string | null, request: ClusterRequest): Promise<JsonObject> {
    const id = await this.#target(organization, null);
    const { local } = this.#options;
    return this.#options.isLocal(id) ? local.clusters(by, id, request) : this.#send(id, 'clusters', request, by);
  }

  // Deliveries and sessions belong to no replica.

  deliveries(by: Actor, request: DeliveryRequest): Promise<JsonObject> {
    return this.#options.local.deliveries(by, request);
  }

  sessions(by: Actor, request: SessionRequest): Promise<JsonObject> {
    return this.#options.local.sessions(by, request);
  }

  async #send(organization: string, kind: CommandKind, request: object, by: Actor): Promise<JsonObject> {
    const { sender, onAnswered } = this.#options;
    try {
      return await sender.send(organization, kind, request as JsonObject, by);
    } finally {
      onAnswered(organization);
    }
  }

  /** Finds the organization of a request: by its id, or by the plan that it names. */
  async #target(id: string | null, checksum: string | null): Promise<string> {
    const states = await this.#options.organizations();
    const holder =
      id !== null || checksum === null
        ? undefined
        : states.find(({ reconciler }) => heldChecksums(reconciler?.lastCheck?.plan ?? null, 'any').includes(checksum));
    return (holder ?? chooseOrganization(states, id)).id;
  }
}

function place(owner: OrganizationOwner): string {
  return owner.kind === 'replica' ? owner.address : 'the one that claims it';
}
