import type { Reader, Writer } from '../../platform/client.ts';
import { operations } from '../../platform/operations/index.ts';
import type { ClusterStore, OwnRequest } from '../read/cluster-store.ts';
import { type Names, nullIfNotFound } from '../read/spaces.ts';
import { type ClusterEvents, isRefusal } from './events.ts';

const TEAM = 'team/';

/** Parts that `Reviewers` needs. */
interface ReviewerParts {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly names: Pick<Names, 'recorded'>;
  readonly store: ClusterStore;
  readonly events: Pick<ClusterEvents, 'onTrouble'>;
  /** Email addresses, and teams as `team/KEY`. */
  readonly reviewers: readonly string[];
}

/** Requests reviews from the configured users, who are looked up once. */
export class Reviewers {
  readonly #parts: ReviewerParts;
  #users: Promise<readonly string[]> | null = null;

  constructor(parts: ReviewerParts) {
    this.#parts = parts;
  }

  /** Requests reviews of change requests that are new and still lack them. Throws AppError. */
  async requestFor(opened: readonly OwnRequest[]): Promise<void> {
    for (const own of opened.filter(({ reviewersDue }) => reviewersDue)) {
      await this.#request(own, false);
    }
  }

  /** Requests reviews of open change requests that still lack them, from users who were not asked. Throws AppError. */
  async requestMissing(): Promise<void> {
    const isDue = ({ state, reviewersDue, missingSince }: OwnRequest) =>
      state === 'open' && reviewersDue && missingSince === null;
    for (const own of this.#parts.store.active.filter(isDue)) {
      await this.#request(own, true);
    }
  }

  /** Requests reviews once. A refusal of the platform is reported, and the request is not repeated. */
  async #request(own: OwnRequest, isRepeated: boolean): Promise<void> {
    const { writer, store, events } = this.#parts;
    const path = { spaceId: own.space, changeRequestId: own.id ?? '' };
    try {
      this.#users ??= this.#findUsers();
      const requested = isRepeated ? await this.#requestedUsers(path) : new Set<string>();
      const users = (await this.#users).filter((user) => !requested.has(user));
      if (users.length > 0) {
        await writer.send(operations.requestReviewers, { path, body: { users } });
      }
    } catch (error) {
      if (!isRefusal(error)) {
        throw error;
      }
      events.onTrouble?.({ cluster: own.cluster, message: `cannot request reviews: ${error.message}` });
    }
    await store.put({ ...own, reviewersDue: false });
  }

  async #requestedUsers(path: {
    readonly spaceId: string;
    readonly changeRequestId: string;
  }): Promise<ReadonlySet<string>> {
    const requested = new Set<string>();
    for await (const { user } of this.#parts.reader.pages(operations.listRequestedReviewers, { path })) {
      requested.add(user?.id ?? '');
    }
    return requested;
  }

  async #findUsers(): Promise<readonly string[]> {
    const users = new Set<string>();
    for (const name of this.#parts.reviewers) {
      const search = name.startsWith(TEAM) ? this.#findTeam(name.slice(TEAM.length)) : this.#findMember(name);
      const found = (await nullIfNotFound(search)) ?? [];
      if (found.length === 0) {
        this.#parts.events.onTrouble?.({ cluster: null, message: `${name} is not a possible reviewer` });
      }
      for (const id of found) {
        users.add(id);
      }
    }
    return [...users];
  }

  /** Finds the members of a team, by the key of its manifest or by its id. */
  async #findTeam(name: string): Promise<readonly string[]> {
    const { reader, names } = this.#parts;
    const teamId = (await names.recorded('team')).get(name) ?? name;
    const users: string[] = [];
    for await (const { organization } of reader.pages(operations.listTeamMembers, { path: { teamId } })) {
      users.push(organization.user?.id ?? organization.id);
    }
    return users;
  }

  async #findMember(email: string): Promise<readonly string[]> {
    const query = { search: email };
    for await (const { id, user } of this.#parts.reader.pages(operations.listMembers, { query })) {
      if (user?.email?.toLowerCase() === email.toLowerCase()) {
        return [user.id ?? id];
      }
    }
    return [];
  }
}
