// The families of the API: their operations, tables and reactions.

import { commenterOperations, commentOperations } from './change-requests/comments.ts';
import { changeRequestOperations } from './change-requests/operations.ts';
import { reviewTables } from './change-requests/records.ts';
import { replyOperations } from './change-requests/replies.ts';
import { requestedReviewerOperations } from './change-requests/requested-reviewers.ts';
import { reviewOperations } from './change-requests/reviews.ts';
import { printOperations } from './content/downloads.ts';
import { linkOperations } from './content/link-operations.ts';
import { contentOperations } from './content/operations.ts';
import { contentTables } from './content/records.ts';
import { searchOperations } from './content/search.ts';
import { spaceCreationOperations } from './content/space-creation.ts';
import { contextRecordOperations, siteTopicOperations } from './conversations/context-records.ts';
import { conversationOperations } from './conversations/conversations.ts';
import { siteFindingOperations, siteIssueOperations } from './conversations/findings.ts';
import { conversationClusterOperations, conversationIssueOperations } from './conversations/issues.ts';
import { processDue } from './conversations/processing.ts';
import { conversationTables } from './conversations/records.ts';
import { completeDrafts } from './conversations/site-context.ts';
import { integrationEventOperations } from './integrations/events.ts';
import { installationOperations, installationPlaceOperations } from './integrations/installations.ts';
import { integrationOperations } from './integrations/integrations.ts';
import { notifyRevision } from './integrations/lifecycle.ts';
import { integrationTables } from './integrations/records.ts';
import type { ApiOperation } from './model/operation.ts';
import { createStoreOf, type EmulatorStore, type StoreFamily } from './model/store.ts';
import { openapiOperations, openapiStore } from './openapi/openapi.ts';
import { agentInstructionOperations } from './organizations/agent-instructions.ts';
import { linkInviteOperations } from './organizations/invite-links.ts';
import { memberOperations } from './organizations/members.ts';
import { organizationOperations, platformOperations } from './organizations/organizations.ts';
import { organizationTables } from './organizations/records.ts';
import { samlOperations } from './organizations/saml.ts';
import { teamMemberOperations, teamOperations } from './organizations/teams.ts';
import { adaptiveSchemaOperations } from './sites/adaptive-schema.ts';
import { askOperations } from './sites/ask.ts';
import { customizationOperations } from './sites/customization.ts';
import { externalLinkOperations } from './sites/external-links.ts';
import { siteTables } from './sites/records.ts';
import { sectionGroupOperations } from './sites/section-groups.ts';
import { sectionOperations } from './sites/sections.ts';
import { siteSpaceOperations } from './sites/site-spaces.ts';
import { siteOperations } from './sites/sites.ts';
import { siteStructureOperations } from './sites/structure.ts';
import { removeFromSites } from './sites/tree.ts';
import { collectionOperations } from './spaces/collections.ts';
import { spaceTables } from './spaces/records.ts';
import { spaceOperations } from './spaces/spaces.ts';
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
export const OPERATIONS: readonly (readonly ApiOperation[])[] = [
  platformOperations,
  organizationOperations,
  linkInviteOperations,
  agentInstructionOperations,
  memberOperations,
  teamOperations,
  teamMemberOperations,
  samlOperations,
  collectionOperations,
  spaceOperations,
  spaceCreationOperations,
  siteOperations,
  adaptiveSchemaOperations,
  customizationOperations,
  askOperations,
  siteStructureOperations,
  siteSpaceOperations,
  sectionOperations,
  sectionGroupOperations,
  externalLinkOperations,
  openapiOperations,
  translationOperations,
  conversationOperations,
  conversationIssueOperations,
  conversationClusterOperations,
  contextRecordOperations,
  siteTopicOperations,
  siteIssueOperations,
  siteFindingOperations,
  changeRequestOperations,
  requestedReviewerOperations,
  reviewOperations,
  commentOperations,
  replyOperations,
  commenterOperations,
  contentOperations,
  linkOperations,
  printOperations,
  searchOperations,
  integrationOperations,
  installationOperations,
  installationPlaceOperations,
  integrationEventOperations,
];
