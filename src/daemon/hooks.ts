/** Webhooks of all organizations: those of conversations, and those of repositories. */
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../core/clock.ts';
import { addHooks } from '../server/hooks.ts';
import type { Metrics } from '../server/metrics.ts';
import type { ChangeNotifier } from './backend.ts';
import type { ManagedOrganization } from './managed-organization.ts';

interface HookParts {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly changes: ChangeNotifier;
}

/** Serves the webhooks, and counts their requests. */
export function serveHooks(
  app: FastifyInstance,
  organizations: readonly ManagedOrganization[],
  { clock, metrics, changes }: HookParts,
): void {
  addHooks(app, {
    receivers: new Map(organizations.map(({ id, conversations }) => [id, conversations])),
    pushes: new Map(
      organizations.flatMap(({ id, reconciliation }) =>
        reconciliation?.pushes == null ? [] : [[id, reconciliation.pushes]],
      ),
    ),
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
