/** Route for what people ask the daemon to do. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import type { UiConfig } from '../../config/ui.ts';
import type { Clock } from '../../core/clock.ts';
import {
  AppError,
  ConfigError,
  messageOf,
  RateLimitedError,
  RefusedPlanError,
  RejectedError,
  StoreError,
  TransientError,
} from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Logger } from '../../log.ts';
import type { Actor } from '../../store/history.ts';
import { type KnownPerson, viewerOf } from '../auth/authenticator.ts';
import { includesRole } from '../auth/roles.ts';
import { differenceSection } from '../html/changes.ts';
import { isLocalPath, link, pathTo } from '../html/link.ts';
import { canOperate } from '../html/visibility.ts';
import type { Backend, OrganizationState } from '../model/backend.ts';
import { planPath } from '../model/paths.ts';
import { PageError } from '../page-error.ts';
import { planDifference } from '../pages/plan.ts';
import { type FormFields, type RequestedAction, readAction, readDeliveryAction } from './action-fields.ts';
import { checkOrigin } from './request-checks.ts';
import { formOf, notFound, wantsJson } from './respond.ts';

/** Milliseconds in which the same request again, such as a second click, gets the answer of the first one. */
const SAME_CLICK = 10_000;

interface LastAction {
  readonly key: string;
  readonly at: number;
  readonly answer: Promise<JsonObject>;
}

class RepeatedActions {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Last action by person and subject. */
  readonly #last = new Map<string, LastAction>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Carries out an action on a subject, such as an organization; of two equal ones in a row, only the first. */
  async once(by: Actor, subject: string, fields: FormFields, work: () => Promise<JsonObject>): Promise<JsonObject> {
    const person = JSON.stringify([by.method, by.name, subject]);
    const key = JSON.stringify(Object.entries(fields).toSorted());
    const last = this.#last.get(person);
    if (last?.key === key && this.#clock.monotonic() - last.at < SAME_CLICK) {
      return last.answer;
    }
    const answer = work();
    this.#last.set(person, { key, at: this.#clock.monotonic(), answer });
    answer.catch(() => this.#last.delete(person));
    for (const [each, { at }] of this.#last) {
      if (this.#clock.monotonic() - at >= SAME_CLICK) {
        this.#last.delete(each);
      }
    }
    return answer;
  }
}

interface ActionRouteOptions {
  readonly backend: Backend;
  readonly config: UiConfig;
  readonly log: Pick<Logger, 'warn'>;
  /** Finds out who sends a request; null if nobody has signed in. */
  readonly identify: (request: FastifyRequest) => Promise<KnownPerson | null>;
}

/** Number of entries of the audit that are searched for an approval that was already given. */
const SEARCHED = 100;

/** An action that belongs to no single organization. */
interface GlobalAction {
  readonly identity: KnownPerson;
  readonly fields: FormFields;
  /** Path of the page that has the form. */
  readonly path: string;
  readonly run: () => Promise<JsonObject>;
}

export class ActionRoute {
  readonly #options: ActionRouteOptions;
  readonly #repeated: RepeatedActions;

  constructor(options: ActionRouteOptions) {
    this.#options = options;
    this.#repeated = new RepeatedActions(options.backend.clock);
  }

  addTo(app: FastifyInstance): void {
    app.post('/o/:organization/actions', (request, reply) => this.#handle(request, reply));
    app.post('/deliveries', (request, reply) => this.#handleDeliveries(request, reply));
  }

  async #handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { backend, config } = this.#options;
    const identity = await this.#person(request);
    const { organization: id = '' } = request.params as { organization?: string };
    await backend.refresh();
    const state = backend.organizations().find((each) => each.id === id);
    const role = viewerOf(identity, config).role(id);
    if (state === undefined || role === null) {
      throw notFound();
    }
    const fields = formOf(request);
    const action = readAction(fields, backend.clock.now());
    if (!includesRole(role, action.role)) {
      this.#options.log.warn({ organization: id, actor: identity.actor.name, action: fields.action }, 'action refused');
      throw new PageError(403, `This needs the role ${action.role}; you have the role ${role}.`);
    }
    const { actor } = identity;
    const result = await this.#repeated.once(actor, id, fields, () => this.#run(actor, state, fields, action));
    return wantsJson(request) ? reply.send(result) : reply.redirect(backOf(fields, pathTo(['o', id])), 303);
  }

  /** Sends events again whose delivery was given up. Deliveries are about all organizations. */
  async #handleDeliveries(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { backend } = this.#options;
    const identity = await this.#person(request);
    const fields = formOf(request);
    const retry = readDeliveryAction(fields);
    this.#requireOperator(identity, fields, null, 'there is, as messages are about several');
    const run = () => backend.actions.deliveries(identity.actor, retry);
    return this.#answer(request, reply, { identity, fields, path: '/deliveries', run });
  }

  /** Throws PageError (403) unless the person is an operator of an organization, or of all of them (null). */
  #requireOperator(identity: KnownPerson, fields: FormFields, about: string | null, which: string): void {
    const { backend, config, log } = this.#options;
    if (!canOperate(backend, viewerOf(identity, config), about)) {
      log.warn({ organization: about, actor: identity.actor.name, action: fields.action }, 'action refused');
      throw new PageError(403, `This needs the role operator for every organization that ${which}.`);
    }
  }

  /** Runs an action that belongs to no single organization, once for two clicks, and answers. */
  async #answer(
    request: FastifyRequest,
    reply: FastifyReply,
    { identity, fields, path, run }: GlobalAction,
  ): Promise<FastifyReply> {
    const work = () =>
      run().catch((error: unknown) => {
        throw toPageError(error);
      });
    const result = await this.#repeated.once(identity.actor, path, fields, work);
    return wantsJson(request) ? reply.send(result) : reply.redirect(backOf(fields, path), 303);
  }

  /** Finds out who sends a request from a page of this server. Throws PageError. */
  async #person(request: FastifyRequest): Promise<KnownPerson> {
    const identity = await this.#options.identify(request);
    if (identity === null) {
      throw new PageError(401, 'Sign in first.', { 'www-authenticate': 'Bearer' });
    }
    checkOrigin(request.headers, identity.isAmbient, this.#options.config.publicUrl);
    return identity;
  }

  async #run(by: Actor, state: OrganizationState, fields: FormFields, action: RequestedAction): Promise<JsonObject> {
    const { checksum = '' } = fields;
    const isDecision = fields.action === 'approve' || fields.action === 'reject';
    if (isDecision && !isPresent(state, checksum)) {
      if (await hasDecided(state, by, fields)) {
        return { organization: state.id, checksum };
      }
      throw await moved(state, checksum);
    }
    try {
      return await action.run(this.#options.backend.actions, by, state.id);
    } catch (error) {
      throw isDecision && !isPresent(state, checksum) ? await moved(state, checksum) : toPageError(error);
    }
  }
}

/** Returns true if the present plan has this checksum, or its held changes have. */
function isPresent({ reconciler }: OrganizationState, checksum: string): boolean {
  const plan = reconciler?.lastCheck?.plan ?? null;
  return plan !== null && (plan.checksum === checksum || plan.heldChecksum === checksum);
}

/** Returns true if the person already made this decision, and the plan was applied since. */
async function hasDecided(
  { history }: OrganizationState,
  by: Actor,
  { action, checksum }: FormFields,
): Promise<boolean> {
  const entries = await history.audit({ limit: SEARCHED });
  return entries.some(
    ({ actor, outcome, ...entry }) =>
      entry.action === action &&
      entry.subject === checksum &&
      outcome === 'done' &&
      actor.name === by.name &&
      actor.method === by.method,
  );
}

/** Returns the error for a plan that is not the present one any more, with what differs. */
async function moved(state: OrganizationState, checksum: string): Promise<PageError> {
  const message = 'The plan has changed since this page was made. Nothing was approved or rejected.';
  const plan = state.reconciler?.lastCheck?.plan ?? null;
  if (plan === null) {
    return new PageError(409, message);
  }
  const path = planPath(state.id, plan.checksum);
  const difference = await planDifference(state, checksum);
  return new PageError(
    409,
    message,
    {},
    {
      html:
        difference === null
          ? html`<p>${link(path, 'Open the present plan')}</p>`
          : differenceSection({ path, difference }),
      json: { checksum: plan.checksum, difference: difference as unknown as JsonObject | null },
    },
  );
}

/** Converts an error of an action. Its message is for people, and has no secrets. */
function toPageError(error: unknown): unknown {
  if (!(error instanceof AppError)) {
    return error;
  }
  const message = messageOf(error);
  if (error instanceof RefusedPlanError) {
    return new PageError(403, message);
  }
  if (error instanceof ConfigError) {
    return new PageError(422, message);
  }
  if (error instanceof RejectedError) {
    return new PageError(error.status === 409 ? 409 : 422, message);
  }
  if (error instanceof RateLimitedError || error instanceof TransientError || error instanceof StoreError) {
    return new PageError(503, message);
  }
  return new PageError(502, message);
}

/** Returns the page to open afterwards, which says that the action was carried out. */
function backOf({ back = '', action = '' }: FormFields, usual: string): string {
  const url = new URL(isLocalPath(back) ? back : usual, 'http://host');
  url.searchParams.set('done', action);
  return `${url.pathname}${url.search}${url.hash}`;
}
