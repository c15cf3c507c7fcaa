/** Responses about docs sites and their structure. */
import * as z from 'zod';
import { space } from './content.ts';
import { gitSync, optionalFlag, optionalNumber, optionalText, permissions, string, urls } from './model/shapes.ts';
import { list, read, write } from './table.ts';

const site = z.looseObject({
  id: string,
  type: optionalText,
  title: optionalText,
  hostname: optionalText,
  basename: optionalText,
  /** Read as an object, written as host plus path. */
  proxy: z.looseObject({ origin: optionalText, target: optionalText }).nullish(),
  visibility: optionalText,
  published: optionalFlag,
  siteSpaces: optionalNumber,
  adaptiveContent: z.looseObject({ enabled: optionalFlag }).nullish(),
  agentsContext: optionalText,
  defaultLevel: optionalText,
  permissions,
  gitSync,
  urls,
});
/** Docs site, as read. */
export type Site = z.output<typeof site>;

const publishResult = z.looseObject({
  /** `checkout` if an upgrade is required; nothing was published then. Source: docs/platform-notes.md#publishing */
  type: optionalText,
  id: optionalText,
  published: optionalFlag,
});
/** Result of publishing: the site, or a checkout. */
export type PublishResult = z.output<typeof publishResult>;

const adaptiveSchema = z.looseObject({
  jsonSchema: z.record(string, z.unknown()).nullish(),
  updatedAt: optionalText,
});

const siteSpace = z.looseObject({
  object: z.literal('site-space').optional(),
  id: string,
  path: optionalText,
  section: optionalText,
  space,
  title: optionalText,
  default: optionalFlag,
  condition: optionalText,
  hidden: optionalFlag,
  draft: optionalFlag,
  pageId: optionalText,
  urls,
});
/** A space on a site, as read. */
export type SiteSpace = z.output<typeof siteSpace>;

/** Texts by language. */
const localized = z.record(string, z.unknown()).nullish();

const section = z.looseObject({
  object: z.literal('site-section').optional(),
  id: string,
  title: optionalText,
  localizedTitle: localized,
  description: optionalText,
  localizedDescription: localized,
  draft: optionalFlag,
  default: optionalFlag,
  path: optionalText,
  condition: optionalText,
  sectionGroup: optionalText,
  siteSpaces: z.array(siteSpace).nullish(),
  icon: optionalText,
  urls,
});
/** A section of a site, as read. */
export type Section = z.output<typeof section>;

/** A group of sections, as read. Its children are sections or groups. Source: docs/platform-notes.md#section-groups */
export interface SectionGroup {
  readonly object?: 'site-section-group';
  readonly id: string;
  readonly title: string;
  readonly localizedTitle?: Readonly<Record<string, unknown>> | null;
  readonly draft?: boolean | null;
  readonly icon?: string | null;
  readonly sectionGroup?: string | null;
  readonly children?: readonly StructureItem[] | null;
  readonly [field: string]: unknown;
}

const externalLink = z.looseObject({
  object: z.literal('site-external-link').optional(),
  id: string,
  title: string,
  localizedTitle: localized,
  url: optionalText,
  description: optionalText,
  localizedDescription: localized,
  icon: optionalText,
  sectionGroup: optionalText,
  draft: optionalFlag,
  condition: optionalText,
});
/** A link to another address in a structure, as read. */
export type ExternalLink = z.output<typeof externalLink>;

/** An item of an unknown type; it is ignored. */
export interface UnknownItem {
  readonly object?: string;
  readonly id?: string;
  readonly [field: string]: unknown;
}

/** Item of a site's structure or of a group. */
export type StructureItem = Section | SectionGroup | SiteSpace | ExternalLink | UnknownItem;

const sectionGroup: z.ZodType<SectionGroup> = z.looseObject({
  object: z.literal('site-section-group').optional(),
  id: string,
  title: string,
  localizedTitle: localized,
  draft: optionalFlag,
  icon: optionalText,
  sectionGroup: optionalText,
  get children(): z.ZodType<readonly StructureItem[] | null | undefined> {
    return z.array(structureItem).nullish();
  },
});

const KNOWN_ITEMS: readonly string[] = ['site-section', 'site-section-group', 'site-space', 'site-external-link'];

const structureItem: z.ZodType<StructureItem> = z.lazy(() =>
  z.union([
    section.extend({ object: z.literal('site-section') }),
    sectionGroup.refine((item) => item.object === 'site-section-group'),
    siteSpace.extend({ object: z.literal('site-space') }),
    externalLink.extend({ object: z.literal('site-external-link') }),
    // A known type that is not as documented is an error: if it were skipped, it would look deleted.
    z
      .looseObject({ object: string.optional(), id: string.optional() })
      .refine(({ object = '' }) => !KNOWN_ITEMS.includes(object)),
  ]),
);

/** A site's structure, as read; order is display order. */
const siteStructure = z.looseObject({
  /** `sections` or `siteSpaces`. */
  type: string,
  structure: z.array(structureItem),
});

const redirect = z.looseObject({
  id: string,
  source: string,
  destination: z.looseObject({
    kind: string,
    siteSectionId: optionalText,
    siteSpaceId: optionalText,
    pageId: optionalText,
    url: optionalText,
  }),
  draft: optionalFlag,
  captureWildcard: optionalFlag,
  permanent: optionalFlag,
});
/** A redirect of a site, as read. */
export type SiteRedirect = z.output<typeof redirect>;

const redirectResults = z.looseObject({
  results: z.array(
    z.looseObject({ status: string, source: string, draft: optionalFlag, id: optionalText, error: optionalText }),
  ),
});
const shareLink = z.looseObject({ id: string, name: optionalText, active: optionalFlag });

/** Sign-in of visitors. The platform also returns the key that signs their tokens. */
const visitorAuth = z.looseObject({ backend: optionalText, fallbackURL: optionalText, logoutURL: optionalText });

/** A customization as a whole; its members are in the table of operations. */
const customization = z.record(string, z.unknown());

const mcpServer = z.looseObject({
  id: string,
  name: optionalText,
  url: optionalText,
  /** From 0.181. */
  transport: optionalText,
  headers: z.record(string, z.unknown()).nullish(),
  condition: optionalText,
});
/** MCP server of a site, as read. */
export type McpServer = z.output<typeof mcpServer>;
/** Git Sync of a site or a space; undefined or null without one. */
export type GitSyncState = z.output<typeof gitSync>;

const gitInstallation = z.looseObject({
  id: string,
  priority: optionalText,
  projectDirectory: optionalText,
  providerConfiguration: z.looseObject({ branch: optionalText }).nullish(),
  repositoryConnection: z.looseObject({ repositoryName: optionalText }).nullish(),
  repositoryRef: z.looseObject({ name: optionalText }).nullish(),
});
/** Installation of Git Sync, as read: its settings may hold a token, which no code reads. */
export type GitInstallation = z.output<typeof gitInstallation>;

/** Operations on docs sites and the items of their structure. */
export const siteOperations = {
  listSites: list('listSites', site),
  createSite: write('createSite', site),
  updateSite: write('updateSite', site),
  deleteSite: write('deleteSite'),
  publishSite: write('publishSite', publishResult),
  unpublishSite: write('unpublishSite', site),
  getGitSyncInstallationById: read('getGitSyncInstallationById', gitInstallation),
  getAdaptiveSchema: read('getAdaptiveSchema', adaptiveSchema),
  updateAdaptiveSchema: write('updateAdaptiveSchema', adaptiveSchema),
  getSiteStructure: read('getSiteStructure', siteStructure),
  sortSiteStructure: write('sortSiteStructure', z.unknown()),
  addSiteSpace: write('addSiteSpace', siteSpace.optional()),
  updateSiteSpace: write('updateSiteSpace', siteSpace.optional()),
  deleteSiteSpace: write('deleteSiteSpace'),
  createSection: write('createSection', section),
  updateSection: write('updateSection', section.optional()),
  deleteSection: write('deleteSection'),
  listSectionGroups: list('listSectionGroups', sectionGroup),
  createSectionGroup: write('createSectionGroup', sectionGroup),
  updateSectionGroup: write('updateSectionGroup', sectionGroup.optional()),
  deleteSectionGroup: write('deleteSectionGroup'),
  getSiteCustomization: read('getSiteCustomization', customization),
  updateSiteCustomization: write('updateSiteCustomization', customization),
  getSitePublishingAuthById: read('getSitePublishingAuthById', visitorAuth),
  updateSitePublishingAuthById: write('updateSitePublishingAuthById', visitorAuth),
  regenerateSitePublishingAuthById: write('regenerateSitePublishingAuthById', visitorAuth),
  listSiteShareLinks: list('listSiteShareLinks', shareLink),
  createSiteShareLink: write('createSiteShareLink', shareLink),
  updateSiteShareLinkById: write('updateSiteShareLinkById', shareLink),
  deleteSiteShareLinkById: write('deleteSiteShareLinkById'),
  listSiteMcpServers: list('listSiteMcpServers', mcpServer),
  createSiteMcpServer: write('createSiteMcpServer', mcpServer),
  updateSiteMcpServerById: write('updateSiteMcpServerById', mcpServer),
  deleteSiteMcpServerById: write('deleteSiteMcpServerById'),
  addSectionToGroup: write('addSectionToGroup', sectionGroup),
  removeSectionFromGroup: write('removeSectionFromGroup'),
  listSiteRedirects: list('listSiteRedirects', redirect),
  createSiteRedirect: write('createSiteRedirect', redirect),
  updateSiteRedirectById: write('updateSiteRedirectById', redirect),
  deleteSiteRedirectById: write('deleteSiteRedirectById'),
  bulkUpsertSiteRedirects: write('bulkUpsertSiteRedirects', redirectResults),
  createExternalLink: write('createExternalLink', externalLink),
  updateExternalLink: write('updateExternalLink', externalLink.optional()),
  deleteExternalLink: write('deleteExternalLink'),
};

/** Returns true if an item of a structure is a section. */
export function isSection(item: StructureItem): item is Section {
  return item.object === 'site-section';
}

/** Returns true if an item of a structure is a group of sections. */
export function isSectionGroup(item: StructureItem): item is SectionGroup {
  return item.object === 'site-section-group';
}

/** Returns true if an item of a structure is a site space. */
export function isSiteSpace(item: StructureItem): item is SiteSpace {
  return item.object === 'site-space';
}
