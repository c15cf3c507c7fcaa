import type { Operation } from '../operation.ts';
import { adaptiveSchemaOperations } from './adaptive-schema.ts';
import { agentInstructionOperations } from './agent-instructions.ts';
import { askOperations } from './ask.ts';
import { changeRequestOperations } from './change-requests.ts';
import { collectionOperations } from './collections.ts';
import { commenterOperations } from './commenters.ts';
import { commentOperations } from './comments.ts';
import { contentOperations } from './content.ts';
import { conversationClusterOperations, conversationIssueOperations } from './conversation-issues.ts';
import { conversationOperations } from './conversations.ts';
import { customizationOperations } from './customization.ts';
import { externalLinkOperations } from './external-links.ts';
import { installationPlaceOperations } from './installation-places.ts';
import { installationOperations } from './installations.ts';
import { integrationEventOperations } from './integration-events.ts';
import { integrationOperations } from './integrations.ts';
import { linkInviteOperations } from './link-invites.ts';
import { linkOperations } from './links.ts';
import { memberOperations } from './members.ts';
import { openapiOperations } from './openapi.ts';
import { organizationOperations } from './organizations.ts';
import { platformOperations } from './platform.ts';
import { printOperations } from './prints.ts';
import { replyOperations } from './replies.ts';
import { requestedReviewerOperations } from './requested-reviewers.ts';
import { reviewOperations } from './reviews.ts';
import { samlOperations } from './saml.ts';
import { searchOperations } from './search.ts';
import { sectionGroupOperations } from './section-groups.ts';
import { sectionOperations } from './sections.ts';
import { contextRecordOperations, siteTopicOperations } from './site-context.ts';
import { siteFindingOperations, siteIssueOperations } from './site-findings.ts';
import { siteSpaceOperations } from './site-spaces.ts';
import { siteStructureOperations } from './site-structure.ts';
import { siteOperations } from './sites.ts';
import { spaceOperations } from './spaces.ts';
import { teamMemberOperations } from './team-members.ts';
import { teamOperations } from './teams.ts';
import { translationOperations } from './translations.ts';

/** Every operation of the API that the emulator has. A new resource is one file and one line here. */
export const OPERATIONS: readonly (readonly Operation[])[] = [
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
