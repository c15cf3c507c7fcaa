/** Webhooks of all organizations: those of conversations, and those of repositories. */
import type { FastifyInstance } from 'fastify';
import { addHooks } from '../server/hooks.ts';
import type { DaemonParts } from './parts.ts';
import type { Webhooks } from './states/remote-organizations.ts';

type HookParts = Pick<DaemonParts, 'context' | 'organizations' | 'remote'>;

/** Serves the webhooks, and counts their requests. */
export function serveHooks(app: FastifyInstance, parts: HookParts): void {
  const { clock, metrics, events } = parts.context;
  addHooks(app, {
    receiver: (organization) => webhooksOf(parts, organization)?.conversations,
    pushHook: (organization) => webhooksOf(parts, organization)?.pushes ?? undefined,
    clock,
    onOutcome: (...outcome) => metrics.conversations.hook(...outcome),
    onPush: (organization, outcome) => {
      metrics.push(organization, outcome, clock.now());
      if (outcome !== 'refused') {
        events.publish.onStateChange?.(organization);
      }
    },
  });
}

/** Returns the webhooks of an organization: its own, or those that store for the owner. */
function webhooksOf({ organizations, remote }: HookParts, id: string): Webhooks | undefined {
  const managed = organizations.find(id);
  if (managed !== undefined) {
    return { conversations: managed.conversations.ingestion, pushes: managed.reconciliation?.pushes ?? null };
  }
  const config = organizations.configured.find((each) => each.id === id);
  return config === undefined ? undefined : remote.of(config);
}
