/** The families of the API: their operations, tables and reactions. */

import { commentOperations, reviewTables } from './change-requests/comments.ts';
import { changeRequestOperations } from './change-requests/operations.ts';
import { reviewOperations } from './change-requests/reviews.ts';
import { contentOperations } from './content/operations.ts';
import { contentTables } from './content/records.ts';
import { searchOperations } from './content/search.ts';
import { conversationOperations } from './conversations/conversations.ts';
import { processDue } from './conversations/processing.ts';
import { conversationTables } from './conversations/records.ts';
import { completeDrafts, siteContextOperations } from './conversations/site-context.ts';
import { installationOperations } from './integrations/installations.ts';
import { integrationOperations } from './integrations/integrations.ts';
import { integrationTables, notifyRevision } from './integrations/lifecycle.ts';
import type { ApiOperation } from './model/operation.ts';
import { createStoreOf, type EmulatorStore, type StoreFamily } from './model/store.ts';
import { openapiOperations, openapiStore } from './openapi/openapi.ts';
import { memberOperations } from './organizations/members.ts';
import { organizationOperations } from './organizations/organizations.ts';
import { organizationTables } from './organizations/people.ts';
import { permissionOperations } from './permissions/permissions.ts';
import { askOperations } from './sites/ask.ts';
import { customizationOperations } from './sites/customization.ts';
import { gitSyncOperations } from './sites/git-sync.ts';
import { mcpServerOperations } from './sites/mcp-servers.ts';
import { readerOperations } from './sites/readers.ts';
import { siteTables } from './sites/records.ts';
import { redirectOperations } from './sites/redirects.ts';
import { siteOperations } from './sites/sites.ts';
import { siteStructureOperations } from './sites/structure.ts';
import { removeFromSites } from './sites/tree.ts';
import { spaceOperations } from './spaces/spaces.ts';
import { spaceTables } from './spaces/views.ts';
import { translationOperations, translationStore } from './translations/translations.ts';

/** Tables of all families, and their reactions to each other. Work that is due is completed in this order. */
const STORES: readonly StoreFamily[] = [
  { tables: organizationTables },
  { tables: spaceTables },
  openapiStore,
  translationStore,
  { tables: contentTables },
  { tables: reviewTables },
  { tables: siteTables, spaceDeleted: removeFromSites },
  { tables: conversationTables, settle: settleConversations },
  { tables: integrationTables, revisionAdded: notifyRevision },
];

function settleConversations(store: EmulatorStore, now: number): void {
  processDue(store, now);
  completeDrafts(store, now);
}

/** Creates an empty store of all families. */
export function createStore(): EmulatorStore {
  return createStoreOf(STORES);
}

/** Every operation of the API that the emulator has. A new resource is one file and one line here. */
export const OPERATIONS: readonly ApiOperation[] = [
  ...organizationOperations,
  ...memberOperations,
  ...spaceOperations,
  ...siteOperations,
  ...customizationOperations,
  ...mcpServerOperations,
  ...readerOperations,
  ...askOperations,
  ...siteStructureOperations,
  ...redirectOperations,
  ...permissionOperations,
  ...gitSyncOperations,
  ...openapiOperations,
  ...translationOperations,
  ...conversationOperations,
  ...siteContextOperations,
  ...changeRequestOperations,
  ...reviewOperations,
  ...commentOperations,
  ...contentOperations,
  ...searchOperations,
  ...integrationOperations,
  ...installationOperations,
];
