import { askOperations } from './ask.ts';
import { changeRequestOperations } from './change-requests.ts';
import { collectionOperations } from './collections.ts';
import { changeRequestCommentOperations, spaceCommentOperations } from './comments.ts';
import { changeRequestContentOperations, spaceContentOperations } from './content.ts';
import { conversationOperations } from './conversations.ts';
import { externalLinkOperations } from './external-links.ts';
import { installationOperations, integrationOperations } from './integrations.ts';
import { invitationOperations } from './invitations.ts';
import { memberOperations } from './members.ts';
import { openApiOperations } from './openapi.ts';
import { organizationOperations } from './organizations.ts';
import { reviewOperations } from './reviews.ts';
import { samlOperations } from './saml.ts';
import { searchOperations } from './search.ts';
import { siteContextOperations } from './site-context.ts';
import {
  sectionGroupOperations,
  sectionOperations,
  siteSpaceOperations,
  structureOperations,
} from './site-structure.ts';
import { siteOperations } from './sites.ts';
import { spaceOperations } from './spaces.ts';
import { teamOperations } from './teams.ts';
import { translationOperations } from './translations.ts';

export type { OpenApiSpec } from './openapi.ts';
export type { PublishResult, Site } from './sites.ts';
export type { Section, SectionGroup, SiteSpace, SiteStructure, StructureItem } from './structure-shapes.ts';
export { isSection, isSectionGroup, isSiteSpace } from './structure-shapes.ts';

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
