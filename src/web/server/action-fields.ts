/** Reads what a form or a program asks the daemon to do. */

import type { ZodType } from 'zod';
import { clusterRequest } from '../../clusters/control-api.ts';
import { readDuration } from '../../config/values.ts';
import { conversationRequest } from '../../conversations/control-api.ts';
import type { JsonObject } from '../../core/json.ts';
import { type DeliveryRequest, deliveryRequest } from '../../notify/deliveries.ts';
import { actionRequest } from '../../reconcile/approvals.ts';
import type { Actor } from '../../store/history.ts';
import type { ActionHandlers } from '../model/backend.ts';
import type { ViewerRole } from '../page.ts';
import { PageError } from '../page-error.ts';

/** Fields of a form. */
export type FormFields = Readonly<Record<string, string>>;

/** An action that was read, but not carried out. */
export interface RequestedAction {
  readonly role: ViewerRole;
  run(handlers: ActionHandlers, by: Actor, organization: string): Promise<JsonObject>;
}

/** Length of a pause, if the form names none. */
const USUAL_PAUSE = '4h';

/** Reads an action. `now`: milliseconds since the epoch. Throws PageError (422) for an invalid one. */
export function readAction(fields: FormFields, now: number): RequestedAction {
  const read = ACTIONS.get(fields.action ?? '');
  if (read === undefined) {
    const known = [...ACTIONS.keys()].join(', ');
    throw new PageError(422, `The action ${JSON.stringify(fields.action ?? '')} is not known. Use one of ${known}.`);
  }
  return read(fields, now);
}

const ACTIONS: ReadonlyMap<string, (fields: FormFields, now: number) => RequestedAction> = new Map([
  ['approve', ({ checksum = '', reason }) => onPlan('approver', { subcommand: 'approve', checksum, reason })],
  ['reject', ({ checksum = '', reason }) => onPlan('approver', { subcommand: 'reject', checksum, reason })],
  [
    'pause',
    ({ address, reason = '', for: length }, now) =>
      onPlan('operator', { subcommand: 'pause', address, reason, until: endOf(length, now) }),
  ],
  ['resume', ({ address, reason }) => onPlan('operator', { subcommand: 'resume', address, reason })],
  ['reconcile', ({ reason }) => onPlan('operator', { subcommand: 'reconcile', reason })],
  ['dead-retry', (fields) => onDeadLetters('dead retry', fields)],
  ['dead-drop', (fields) => onDeadLetters('dead drop', fields)],
  [
    'cluster-open',
    ({ cluster = '', space }) => onCluster({ subcommand: 'open', cluster, space: space || null, dryRun: false }),
  ],
  [
    'cluster-mute',
    ({ cluster = '', muted = 'true' }) =>
      onCluster({ subcommand: 'mute', cluster, muted: muted === 'true', dryRun: false }),
  ],
]);

/** Reads what a form of the deliveries asks for. Throws PageError (422) for something else. */
export function readDeliveryAction({ action = '', channel }: FormFields): DeliveryRequest {
  if (action !== 'delivery-retry') {
    throw new PageError(422, `The action ${JSON.stringify(action)} is not known. Use delivery-retry.`);
  }
  return parseRequest(deliveryRequest, { subcommand: 'retry', channel: channel || null });
}

function onPlan(role: ViewerRole, value: object): RequestedAction {
  const request = parseRequest(actionRequest, value);
  return { role, run: (handlers, by, organization) => handlers.act(by, organization, request) };
}

function onDeadLetters(subcommand: 'dead retry' | 'dead drop', { key, source }: FormFields): RequestedAction {
  const filter = { ...(key ? { key } : {}), ...(source ? { source } : {}) };
  const request = parseRequest(conversationRequest, { subcommand, ...filter });
  return { role: 'operator', run: (handlers, by, organization) => handlers.conversations(by, organization, request) };
}

function onCluster(value: object): RequestedAction {
  const request = parseRequest(clusterRequest, value);
  return { role: 'operator', run: (handlers, by, organization) => handlers.clusters(by, organization, request) };
}

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

/** Parses a request by its schema. Throws PageError (422). */
function parseRequest<Request>(schema: ZodType<Request>, value: object): Request {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new PageError(422, `The request is not valid: ${problems.join('; ')}.`);
  }
  return parsed.data;
}
