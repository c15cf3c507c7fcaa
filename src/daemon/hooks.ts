/** Webhooks of all organizations: those of conversations, and those of repositories. */
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../core/clock.ts';
import { addHooks, type HookReceiver, type PushHook } from '../server/hooks.ts';
import type { Metrics } from '../server/metrics.ts';
import type { ChangeNotifier } from './backend.ts';

interface HookParts {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly changes: ChangeNotifier;
}

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
  { clock, metrics, changes }: HookParts,
): void {
  addHooks(app, {
    receiver: (organization) => find(organization)?.conversations,
    pushHook: (organization) => find(organization)?.pushes ?? undefined,
    clock,
    onOutcome: (...outcome) => metrics.conversations.hook(...outcome),
    onPush: (organization, outcome) => {
      metrics.push(organization, outcome, clock.now());
      if (outcome !== 'refused') {
        changes.notify(organization);
      }
    },
  });
}
