import { changeRequestOperations } from './change-requests.ts';
import { collectionOperations } from './collections.ts';
import { commentOperations } from './comments.ts';
import { conversationOperations } from './conversations.ts';
import { memberOperations } from './members.ts';
import { openApiOperations } from './openapi.ts';
import { organizationOperations } from './organizations.ts';
import { samlOperations } from './saml.ts';
import { searchOperations } from './search.ts';
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
export type { Section, SectionGroup, SiteSpace, SiteStructure, StructureItem } from './site-structure.ts';
export { isSection, isSectionGroup, isSiteSpace } from './site-structure.ts';
export type { PublishResult, Site } from './sites.ts';

/** Every operation that Octavo uses, by name. */
export const operations = {
  ...organizationOperations,
  ...memberOperations,
  ...teamOperations,
  ...samlOperations,
  ...collectionOperations,
  ...spaceOperations,
  ...siteOperations,
  ...structureOperations,
  ...siteSpaceOperations,
  ...sectionOperations,
  ...sectionGroupOperations,
  ...openApiOperations,
  ...translationOperations,
  ...conversationOperations,
  ...changeRequestOperations,
  ...commentOperations,
  ...searchOperations,
};
