/** Operations that code calls, with the responses that it reads. `octavo api` sends any operation of the table. */
import { contentOperations } from './content.ts';
import { conversationOperations } from './conversations.ts';
import { organizationOperations } from './organization.ts';
import { permissionOperations } from './permissions.ts';
import { siteOperations } from './sites.ts';

export type { OpenApiSpec } from './organization.ts';
export type { TeamPermission, UserPermission } from './permissions.ts';
export { permissionsOf } from './permissions.ts';
export type {
  ExternalLink,
  GitInstallation,
  GitSyncState,
  McpServer,
  PublishResult,
  Section,
  SectionGroup,
  Site,
  SiteRedirect,
  SiteSpace,
  StructureItem,
} from './sites.ts';
export { isSection, isSectionGroup, isSiteSpace } from './sites.ts';

/** Operations that code calls, by name. */
export const operations = {
  ...organizationOperations,
  ...contentOperations,
  ...permissionOperations,
  ...siteOperations,
  ...conversationOperations,
};
