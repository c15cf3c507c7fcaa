/** Requests of people that the daemon carries out: the one table that the control socket, forms and commands of replicas read. */
import type { z } from 'zod';
import { clusterRequest } from '../clusters/control-api.ts';
import { conversationRequest } from '../conversations/control-api.ts';
import type { JsonObject } from '../core/json.ts';
import { deliveryRequest } from '../notify/deliveries.ts';
import { actionRequest } from '../reconcile/approvals.ts';
import type { Actor } from '../store/history.ts';
import { sessionRequest } from '../store/sessions.ts';

/** Path on the control socket, and schema, of each kind of request. */
export const REQUESTS = {
  /** Approve, reject, pause, resume and reconcile. */
  act: { path: 'actions', schema: actionRequest },
  conversations: { path: 'conversations', schema: conversationRequest },
  clusters: { path: 'clusters', schema: clusterRequest },
  deliveries: { path: 'deliveries', schema: deliveryRequest },
  sessions: { path: 'sessions', schema: sessionRequest },
} as const;

export type RequestKind = keyof typeof REQUESTS;
export type RequestOf<Kind extends RequestKind> = z.output<(typeof REQUESTS)[Kind]['schema']>;

/**
 * Handler of a kind of request: what changes something is recorded in the audit. Returns what the command prints, and may
 * throw any AppError. `organization` null: the only one there is; deliveries and sessions belong to none.
 */
export type RequestHandler<Kind extends RequestKind> = (
  by: Actor,
  organization: string | null,
  request: RequestOf<Kind>,
) => Promise<JsonObject>;
export type RequestHandlers = { readonly [Kind in RequestKind]: RequestHandler<Kind> };

/** Carries out a request that was read. */
export type CarryOut = (handlers: RequestHandlers, by: Actor, organization: string | null) => Promise<JsonObject>;

/** Reads a request. Returns what carries it out; a list of problems if its schema does not accept it. */
export function readRequest(kind: RequestKind, value: unknown): CarryOut | readonly string[] {
  const { data, error } = REQUESTS[kind].schema.safeParse(value);
  return error === undefined
    ? (handlers, by, organization) => handlers[kind](by, organization, data as never)
    : error.issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
}

/** Returns the subcommands of a kind. */
export function subcommandsOf(kind: RequestKind): readonly string[] {
  return REQUESTS[kind].schema.options.map(({ shape }) => shape.subcommand.value);
}
