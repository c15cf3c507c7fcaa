import { changeRequestOperations } from './content/change-requests.ts';
import { collectionOperations } from './content/collections.ts';
import { changeRequestCommentOperations, spaceCommentOperations } from './content/comments.ts';
import { changeRequestContentOperations, spaceContentOperations } from './content/content.ts';
import { reviewOperations } from './content/reviews.ts';
import { searchOperations } from './content/search.ts';
import { spaceOperations } from './content/spaces.ts';
import { translationOperations } from './content/translations.ts';
import { askOperations } from './organization/ask.ts';
import { conversationOperations } from './organization/conversations.ts';
import { installationOperations, integrationOperations } from './organization/integrations.ts';
import { invitationOperations } from './organization/invitations.ts';
import { memberOperations } from './organization/members.ts';
import { openApiOperations } from './organization/openapi.ts';
import { organizationOperations } from './organization/organizations.ts';
import { samlOperations } from './organization/saml.ts';
import { teamOperations } from './organization/teams.ts';
import { externalLinkOperations } from './sites/external-links.ts';
import { siteContextOperations } from './sites/site-context.ts';
import {
  sectionGroupOperations,
  sectionOperations,
  siteSpaceOperations,
  structureOperations,
} from './sites/site-structure.ts';
import { siteOperations } from './sites/sites.ts';

export type { StructureItem } from './sites/structure-shapes.ts';
export { isSection, isSectionGroup, isSiteSpace } from './sites/structure-shapes.ts';

/**
 * Every operation of the platform, by name. Paths of the platform are written nowhere else.
 * Source: docs/platform-notes.md#operations-beyond-the-api-document
 */
export const operations = {
  ...organizationOperations,
  ...memberOperations,
  ...invitationOperations,
  ...teamOperations,
  ...samlOperations,
  ...collectionOperations,
  ...spaceOperations,
  ...spaceContentOperations,
  ...spaceCommentOperations,
  ...changeRequestOperations,
  ...changeRequestContentOperations,
  ...changeRequestCommentOperations,
  ...reviewOperations,
  ...searchOperations,
  ...siteOperations,
  ...structureOperations,
  ...siteSpaceOperations,
  ...sectionOperations,
  ...sectionGroupOperations,
  ...externalLinkOperations,
  ...askOperations,
  ...openApiOperations,
  ...translationOperations,
  ...conversationOperations,
  ...siteContextOperations,
  ...integrationOperations,
  ...installationOperations,
};
