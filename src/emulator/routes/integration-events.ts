import { ok } from '../answers.ts';
import { ownIntegrationAt } from '../integration-work.ts';
import { found } from '../lookup.ts';
import { type Operation, operation } from '../operation.ts';
import { list } from '../paging.ts';
import { listQuery } from '../schema.ts';
import { viewIntegrationEvent } from '../views/integration.ts';

const EVENTS = '/integrations/{integrationName}/events';

/**
 * Operations on the events of an integration, for members of the organization that owns it.
 * Source: docs/platform-notes.md#integration-events
 */
export const integrationEventOperations: readonly Operation[] = [
  operation({
    name: 'listIntegrationEvents',
    method: 'GET',
    path: EVENTS,
    query: listQuery,
    // Newest first: a decision of this emulator, since no order is documented.
    handle: (call) =>
      list(call, {
        items: call.store.integrationEvents.by('integration', ownIntegrationAt(call, call.params.integrationName).id),
        key: (event) => [event.seq, 0],
        descending: true,
        view: viewIntegrationEvent,
      }),
  }),
  operation({
    name: 'getIntegrationEvent',
    method: 'GET',
    path: `${EVENTS}/{eventId}`,
    handle: (call) => {
      const integration = ownIntegrationAt(call, call.params.integrationName);
      const event = call.store.integrationEvents.get(call.params.eventId);
      const known = found(event?.integration === integration.id ? event : undefined, 'Event', call.params.eventId);
      return ok({ event: viewIntegrationEvent(known), trace: { logs: known.logs } });
    },
  }),
];
