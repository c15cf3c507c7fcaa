/** Webhooks of all organizations: those of conversations, and those of repositories. */
import type { FastifyInstance } from 'fastify';
import { addHooks, type HookReceiver, type PushHook } from '../server/hooks.ts';
import type { DaemonContext } from './organization/feature.ts';

/** Receivers of the webhooks of an organization. */
export interface HookedOrganization {
  readonly conversations: HookReceiver;
  /** Null if no webhook of the repository is configured. */
  readonly pushes: PushHook | null;
}

/** Serves the webhooks, and counts their requests. */
export function serveHooks(
  app: FastifyInstance,
  find: (organization: string) => HookedOrganization | undefined,
  { clock, metrics, events }: Pick<DaemonContext, 'clock' | 'metrics' | 'events'>,
): void {
  addHooks(app, {
    receiver: (organization) => find(organization)?.conversations,
    pushHook: (organization) => find(organization)?.pushes ?? undefined,
    clock,
    onOutcome: (...outcome) => metrics.conversations.hook(...outcome),
    onPush: (organization, outcome) => {
      metrics.push(organization, outcome, clock.now());
      if (outcome !== 'refused') {
        events.publish.onChange?.(organization, false);
      }
    },
  });
}
