/** Operations on the resources that manifests declare: a plan needs no others, and does not create their schemas. */
import { collectionOperations } from './content/collections.ts';
import { spaceOperations } from './content/spaces.ts';
import { translationOperations } from './content/translations.ts';
import { memberOperations } from './organization/members.ts';
import { openApiOperations } from './organization/openapi.ts';
import { organizationOperations } from './organization/organizations.ts';
import { samlOperations } from './organization/saml.ts';
import { teamOperations } from './organization/teams.ts';
import {
  sectionGroupOperations,
  sectionOperations,
  siteSpaceOperations,
  structureOperations,
} from './sites/site-structure.ts';
import { siteOperations } from './sites/sites.ts';

export type { OpenApiSpec } from './organization/openapi.ts';
export type { PublishResult, Site } from './sites/sites.ts';
export type { Section, SectionGroup, SiteSpace, StructureItem } from './sites/structure-shapes.ts';

/** Operations on declared resources, by name. */
export const resourceOperations = {
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
};
