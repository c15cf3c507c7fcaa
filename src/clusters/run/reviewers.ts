import { AuthError, RejectedError } from '../../core/errors.ts';
import { operations } from '../../platform/operations/index.ts';
import type { OwnRequest } from '../read/cluster-store.ts';
import { isNotFound } from '../read/spaces.ts';
import type { RunContext } from './context.ts';

const TEAM = 'team/';

/** Asks for reviews, by users who are looked up once. */
export class Reviewers {
  readonly #context: RunContext;
  #users: Promise<readonly string[]> | null = null;

  constructor(context: RunContext) {
    this.#context = context;
  }

  /**
   * Asks the configured reviewers. `isAgain`: they may have been asked before, and who was is not asked a second time.
   * What the platform refuses is told and not tried again. Throws AppError.
   */
  async ask(entry: OwnRequest, isAgain: boolean): Promise<void> {
    const { writer, book, events } = this.#context;
    const path = { spaceId: entry.space, changeRequestId: entry.id ?? '' };
    try {
      this.#users ??= this.#lookUp();
      const asked = isAgain ? await this.#asked(path) : new Set<string>();
      const users = (await this.#users).filter((user) => !asked.has(user));
      if (users.length > 0) {
        await writer?.send(operations.requestReviewers, { path, body: { users } });
      }
    } catch (error) {
      if (!(error instanceof RejectedError || error instanceof AuthError)) {
        throw error;
      }
      events.onTrouble?.({ cluster: entry.cluster, message: `cannot request reviews: ${error.message}` });
    }
    await book.put({ ...entry, reviewersDue: false });
  }

  async #asked(path: { readonly spaceId: string; readonly changeRequestId: string }): Promise<ReadonlySet<string>> {
    const asked = new Set<string>();
    for await (const { user } of this.#context.reader.pages(operations.listRequestedReviewers, { path })) {
      asked.add(user?.id ?? '');
    }
    return asked;
  }

  async #lookUp(): Promise<readonly string[]> {
    const users = new Set<string>();
    for (const name of this.#context.config.changeRequest.reviewers) {
      const found = await this.#usersOf(name);
      if (found.length === 0) {
        this.#context.events.onTrouble?.({ cluster: null, message: `${name} is not a possible reviewer` });
      }
      for (const id of found) {
        users.add(id);
      }
    }
    return [...users];
  }

  async #usersOf(name: string): Promise<readonly string[]> {
    try {
      return name.startsWith(TEAM) ? await this.#team(name.slice(TEAM.length)) : await this.#member(name);
    } catch (error) {
      if (isNotFound(error)) {
        return [];
      }
      throw error;
    }
  }

  /** A team's members, by the key of its manifest or by its id. */
  async #team(name: string): Promise<readonly string[]> {
    const { reader, names } = this.#context;
    const teamId = (await names.recorded('team')).get(name) ?? name;
    const users: string[] = [];
    for await (const { organization } of reader.pages(operations.listTeamMembers, { path: { teamId } })) {
      users.push(organization.user?.id ?? organization.id);
    }
    return users;
  }

  async #member(email: string): Promise<readonly string[]> {
    const query = { search: email };
    for await (const { id, user } of this.#context.reader.pages(operations.listMembers, { query })) {
      if (user?.email?.toLowerCase() === email.toLowerCase()) {
        return [user.id ?? id];
      }
    }
    return [];
  }
}
