import { z } from 'zod';
import { ok } from '../answers.ts';
import { pageAt, placeAt } from '../content-family.ts';
import { PRINT_LIFE } from '../downloads.ts';
import { type Operation, operation } from '../operation.ts';
import { flag } from '../schema.ts';

/** A decision of this emulator: `only` requires a page. Source: docs/platform-notes.md#change-requests */
const printQuery = z
  .strictObject({ only: flag.optional(), page: z.string().optional() })
  .refine((query) => query.only !== true || query.page !== undefined, { error: 'must have a page with only' });

/**
 * Operations that print a change request as PDF: all pages, or one page with its child pages.
 * Source: docs/platform-notes.md#change-requests
 */
export const printOperations: readonly Operation[] = [
  operation({
    name: 'getChangeRequestPdf',
    method: 'GET',
    path: '/spaces/{spaceId}/change-requests/{changeRequestId}/pdf',
    query: printQuery,
    handle: (call) => {
      const place = placeAt(call, call.params);
      const { page, only } = call.query;
      const asked = {
        ...(page === undefined ? {} : { page: pageAt(call, place, page).id }),
        ...(only === true ? { only: 'true' } : {}),
        until: new Date(call.now + PRINT_LIFE).toISOString(),
      };
      const id = place.changeRequest?.id ?? '';
      return ok({ url: `${call.base}/app/print/${place.space.id}/${id}?${new URLSearchParams(asked)}` });
    },
  }),
];
