import { z } from 'zod';
import type { JsonObject } from '../../core/json.ts';
import { ok } from '../answers.ts';
import { customizationSettings, viewCustomization } from '../customization.ts';
import { siteAt } from '../lookup.ts';
import { type Operation, operation } from '../operation.ts';
import { flag } from '../schema.ts';
import { refuseLater } from '../versions.ts';

const CUSTOMIZATION = '/orgs/{organizationId}/sites/{siteId}/customization';

/**
 * Operations on a site's customization, which is read and written as a whole.
 * Source: docs/platform-notes.md#customization
 */
export const customizationOperations: readonly Operation[] = [
  operation({
    name: 'getSiteCustomization',
    method: 'GET',
    path: CUSTOMIZATION,
    // Deprecated, without effect. Source: docs/platform-notes.md#customization
    query: z.strictObject({ unmasked: flag.optional() }),
    handle: (call) => ok(viewCustomization(siteAt(call.store, call.params.organizationId, call.params.siteId))),
  }),
  operation({
    name: 'setSiteCustomization',
    method: 'PUT',
    path: CUSTOMIZATION,
    body: customizationSettings,
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      refuseLater(call, 'systemTheme', [call.body.themes.default], 'body.themes.default');
      const customization = call.body as unknown as JsonObject;
      return ok(viewCustomization(call.store.sites.put({ ...site, customization })));
    },
  }),
];
