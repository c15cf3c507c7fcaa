/** Forms of the pages, by which people ask the daemon to do something: their fields, roles and routes. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import type { UiConfig } from '../../config/ui.ts';
import { readDuration } from '../../config/values.ts';
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
import { type CarryOut, type RequestHandlers, type RequestKind, readRequest } from '../../server/requests.ts';
import { type Actor, findDone } from '../../store/history.ts';
import { type KnownPerson, viewerOf } from '../auth/authenticator.ts';
import { differenceSection } from '../html/changes.ts';
import { isLocalPath, link } from '../html/elements.ts';
import {
  type Backend,
  canOperate,
  includesRole,
  type OrganizationState,
  PageError,
  type ViewerRole,
} from '../model/page.ts';
import { organizationPath, planPath } from '../model/words.ts';
import { isPlan, planDifference, presentPlan } from '../pages/plan.ts';
import { checkOrigin, formOf, notFound, wantsJson } from './respond.ts';

/** Fields of a form. */
type FormFields = Readonly<Record<string, string>>;

/** Action of a form: the role that it needs, and the request that its fields mean. `now`: milliseconds since the epoch. */
interface FormAction {
  readonly role: ViewerRole;
  readonly kind: RequestKind;
  readonly request: (fields: FormFields, now: number) => object;
}

const onPlan = (role: ViewerRole, request: FormAction['request']): FormAction => ({ role, kind: 'act', request });
const onDeadLetters = (subcommand: 'dead retry' | 'dead drop'): FormAction => ({
  role: 'operator',
  kind: 'conversations',
  request: ({ key, source }) => ({ subcommand, ...(key ? { key } : {}), ...(source ? { source } : {}) }),
});
const onCluster = (request: FormAction['request']): FormAction => ({
  role: 'operator',
  kind: 'clusters',
  request: (fields, now) => ({ ...request(fields, now), dryRun: false }),
});

/** Actions on an organization, by the field `action`. */
const ON_ORGANIZATION: Readonly<Record<string, FormAction>> = {
  approve: onPlan('approver', ({ checksum = '', reason }) => ({ subcommand: 'approve', checksum, reason })),
  reject: onPlan('approver', ({ checksum = '', reason }) => ({ subcommand: 'reject', checksum, reason })),
  pause: onPlan('operator', ({ address, reason = '', for: length }, now) => ({
    subcommand: 'pause',
    address,
    reason,
    until: endOf(length, now),
  })),
  resume: onPlan('operator', ({ address, reason }) => ({ subcommand: 'resume', address, reason })),
  reconcile: onPlan('operator', ({ reason }) => ({ subcommand: 'reconcile', reason })),
  'dead-retry': onDeadLetters('dead retry'),
  'dead-drop': onDeadLetters('dead drop'),
  'cluster-open': onCluster(({ cluster = '', space }) => ({ subcommand: 'open', cluster, space: space || null })),
  'cluster-mute': onCluster(({ cluster = '', muted = 'true', reason = '', for: length = 'forever' }, now) => {
    const until = muted === 'true' ? endOf(length || 'forever', now) : null;
    const rest = { ...(reason === '' ? {} : { reason }), ...(until === null ? {} : { until }) };
    return { subcommand: 'mute', cluster, muted: muted === 'true', ...rest };
  }),
};

/** Actions on deliveries, which are about all organizations. */
const ON_DELIVERIES: Readonly<Record<string, FormAction>> = {
  'delivery-retry': {
    role: 'operator',
    kind: 'deliveries',
    request: ({ channel }) => ({ subcommand: 'retry', channel: channel || null }),
  },
};

/** Reads an action. Throws PageError (422) for an invalid one. */
function readAction(actions: Readonly<Record<string, FormAction>>, fields: FormFields, now: number) {
  const { action: name = '' } = fields;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) {
    const names = Object.keys(actions);
    const known = `${names.length > 1 ? 'one of ' : ''}${names.join(', ')}`;
    throw new PageError(422, `The action ${JSON.stringify(name)} is not known. Use ${known}.`);
  }
  const carryOut = readRequest(action.kind, action.request(fields, now));
  if (typeof carryOut !== 'function') {
    throw new PageError(422, `The request is not valid: ${carryOut.join('; ')}.`);
  }
  return { role: action.role, carryOut };
}

/** Length of a pause, if the form names none. */
const USUAL_PAUSE = '4h';

/** Returns the end of a pause; null for one without an end. */
function endOf(length: string | undefined, now: number): number | null {
  if (length === 'forever') {
    return null;
  }
  const duration = readDuration(length || USUAL_PAUSE);
  if (duration === undefined || duration === 0) {
    throw new PageError(
      422,
      `The length ${JSON.stringify(length)} is not valid. Use one such as 30m, 4h or 1d, or forever.`,
    );
  }
  return now + duration;
}

/** Milliseconds in which the same request again, such as a second click, gets the answer of the first one. */
const SAME_CLICK = 10_000;

/** Carries out an action on a subject, such as an organization; of two equal ones in a row, only the first. */
type Once = (by: Actor, subject: string, fields: FormFields, work: () => Promise<JsonObject>) => Promise<JsonObject>;

function rememberActions(clock: Pick<Clock, 'monotonic'>): Once {
  /** Last action by person and subject. */
  const last = new Map<string, { readonly key: string; readonly at: number; readonly answer: Promise<JsonObject> }>();
  return async (by, subject, fields, work) => {
    const person = JSON.stringify([by.method, by.name, subject]);
    const key = JSON.stringify(Object.entries(fields).toSorted());
    for (const [each, { at }] of last) {
      if (clock.monotonic() - at >= SAME_CLICK) {
        last.delete(each);
      }
    }
    const before = last.get(person);
    if (before?.key === key) {
      return before.answer;
    }
    const answer = work();
    last.set(person, { key, at: clock.monotonic(), answer });
    answer.catch(() => last.delete(person));
    return answer;
  };
}

/** Finds out who sends a form of a page of this server. Throws PageError. */
export async function senderOf(
  request: FastifyRequest,
  identify: (request: FastifyRequest) => Promise<KnownPerson | null>,
  config: UiConfig,
): Promise<KnownPerson> {
  const identity = await identify(request);
  if (identity === null) {
    throw new PageError(401, 'Sign in first.', { 'www-authenticate': 'Bearer' });
  }
  checkOrigin(request.headers, identity.isAmbient, config.publicUrl);
  return identity;
}

/** Adds the routes for actions on an organization and on deliveries. `identify` returns null if nobody has signed in. */
export function addForms(
  app: FastifyInstance,
  backend: Backend,
  handlers: RequestHandlers,
  config: UiConfig,
  log: Pick<Logger, 'warn'>,
  identify: (request: FastifyRequest) => Promise<KnownPerson | null>,
): void {
  const once = rememberActions(backend.clock);
  const personOf = async (request: FastifyRequest) => {
    const identity = await senderOf(request, identify, config);
    return { viewer: viewerOf(identity, config), actor: identity.actor };
  };
  const refuse = (organization: string | null, actor: Actor, { action }: FormFields, message: string) => {
    log.warn({ organization, actor: actor.name, action }, 'action refused');
    return new PageError(403, message);
  };
  const answer = (request: FastifyRequest, reply: FastifyReply, result: JsonObject, path: string) =>
    wantsJson(request) ? reply.send(result) : reply.redirect(backOf(formOf(request), path), 303);

  app.post('/o/:organization/actions', async (request, reply) => {
    const { viewer, actor } = await personOf(request);
    const { organization: id = '' } = request.params as { organization?: string };
    await backend.refresh();
    const state = backend.organizations().find((each) => each.id === id);
    const role = viewer.role(id);
    if (state === undefined || role === null) {
      throw notFound();
    }
    const fields = formOf(request);
    const action = readAction(ON_ORGANIZATION, fields, backend.clock.now());
    if (!includesRole(role, action.role)) {
      throw refuse(id, actor, fields, `This needs the role ${action.role}; you have the role ${role}.`);
    }
    const result = await once(actor, id, fields, () => run(handlers, actor, state, fields, action.carryOut));
    return answer(request, reply, result, organizationPath(id));
  });

  // Sends events again whose delivery was given up. Deliveries are about all organizations.
  app.post('/deliveries', async (request, reply) => {
    const { viewer, actor } = await personOf(request);
    const fields = formOf(request);
    const { carryOut } = readAction(ON_DELIVERIES, fields, backend.clock.now());
    if (!canOperate(backend, viewer)) {
      const all = 'every organization that there is, as messages are about several';
      throw refuse(null, actor, fields, `This needs the role operator for ${all}.`);
    }
    const result = await once(actor, '/deliveries', fields, () =>
      carryOut(handlers, actor, null).catch((error: unknown) => {
        throw toPageError(error);
      }),
    );
    return answer(request, reply, result, '/deliveries');
  });
}

async function run(
  handlers: RequestHandlers,
  by: Actor,
  state: OrganizationState,
  fields: FormFields,
  carryOut: CarryOut,
): Promise<JsonObject> {
  const { checksum = '' } = fields;
  const isDecision = fields.action === 'approve' || fields.action === 'reject';
  if (isDecision && !isPresent(state, checksum)) {
    // The plan may have been applied since.
    const isPlan = (subject: string) => subject === checksum;
    if ((await findDone(state.history, fields.action ?? '', isPlan, by)) !== null) {
      return { organization: state.id, checksum };
    }
    throw await moved(state, checksum);
  }
  try {
    return await carryOut(handlers, by, state.id);
  } catch (error) {
    throw isDecision && !isPresent(state, checksum) ? await moved(state, checksum) : toPageError(error);
  }
}

/** Returns true if the present plan has this checksum, or its held changes have. */
function isPresent(state: OrganizationState, checksum: string): boolean {
  const plan = presentPlan(state);
  return plan !== null && isPlan(plan, checksum);
}

/** Returns the error for a plan that is not the present one any more, with what differs. */
async function moved(state: OrganizationState, checksum: string): Promise<PageError> {
  const message = 'The plan has changed since this page was made. Nothing was approved or rejected.';
  const plan = presentPlan(state);
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
