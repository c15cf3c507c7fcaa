// Operations on the events of an integration.

import { found, ok } from '../model/answers.ts';
import { type ApiOperation, operation } from '../model/operation.ts';
import { list } from '../model/paging.ts';
import { listQuery } from '../model/schema.ts';
import { requireOwnIntegration } from './lifecycle.ts';
import { viewIntegrationEvent } from './views.ts';

const EVENTS = '/integrations/{integrationName}/events';

/**
 * Operations on the events of an integration, for members of the organization that owns it.
 * Source: docs/platform-notes.md#integration-events
 */
export const integrationEventOperations: readonly ApiOperation[] = [
  operation(
    'listIntegrationEvents',
    'GET',
    EVENTS,
    { query: listQuery }, // Newest first: a decision of this emulator, since no order is documented.
    (call) =>
      list(call, {
        items: call.store.integrationEvents.by('integration', requireOwnIntegration(call).id),
        key: (event) => [event.seq, 0],
        descending: true,
        view: viewIntegrationEvent,
      }),
  ),
  operation('getIntegrationEvent', 'GET', `${EVENTS}/{eventId}`, {}, (call) => {
    const integration = requireOwnIntegration(call);
    const event = call.store.integrationEvents.get(call.params.eventId);
    const known = found(event?.integration === integration.id ? event : undefined, 'Event', call.params.eventId);
    return ok({ event: viewIntegrationEvent(call, known), trace: { logs: known.logs } });
  }),
];
