/** Lookups and views of sites and of what they consist of. */

import { found } from '../model/answers.ts';
import type { Context, PathContext } from '../model/operation.ts';
import { byRank } from '../model/order.ts';
import { pick } from '../model/patch.ts';
import type { Entity, IndexedTable } from '../model/store.ts';
import { ownedLookup } from '../organizations/people.ts';
import { type DefaultLevel, viewGitSync, viewSpace } from '../spaces/views.ts';
import type { ExternalLinkRecord, SectionGroupRecord, SectionRecord, SiteRecord, SiteSpaceRecord } from './records.ts';

export const requireSite = ownedLookup('Site', 'siteId', ({ sites }) => sites);

/** Finds a part of a site: a site space, section, section group or external link. */
export function findPart<R extends { readonly site: string }>(
  table: Pick<IndexedTable<R & { readonly id: string }, string>, 'get'>,
  site: SiteRecord,
  id: string,
): R | undefined {
  const part = table.get(id);
  return part?.site === site.id ? part : undefined;
}

type SitePath = PathContext<'organizationId' | 'siteId'>;

/** Returns the part of the site that the path names, or throws a 404. */
export function requirePart<R extends { readonly site?: string | undefined }>(
  call: SitePath,
  table: Pick<IndexedTable<R & Entity, string>, 'get'>,
  what: string,
  id: string,
): R {
  const site = requireSite(call);
  const part = table.get(id);
  return found<R>(part?.site === site.id ? part : undefined, what, id);
}

export function requireSiteSpace(call: SitePath & PathContext<'siteSpaceId'>): SiteSpaceRecord {
  return requirePart(call, call.store.siteSpaces, 'Site space', call.params.siteSpaceId);
}

export function requireSection(call: SitePath & PathContext<'siteSectionId'>): SectionRecord {
  return requirePart(call, call.store.sections, 'Site section', call.params.siteSectionId);
}

export function requireSectionGroup(call: SitePath & PathContext<'siteSectionGroupId'>): SectionGroupRecord {
  return requirePart(call, call.store.sectionGroups, 'Site section group', call.params.siteSectionGroupId);
}

/** Returns the address of a site in the API. */
export function siteLocation(context: Pick<Context, 'base'>, site: SiteRecord): string {
  return `${context.base}/v1/orgs/${site.organization}/sites/${site.id}`;
}

/** Returns the site's address on the platform. */
function ownUrl(context: Context, site: SiteRecord): string {
  return `${context.base}/docs/${site.basename ?? site.id}`;
}

/** Returns the address at which the site is, or would be, published. */
function publishedUrl(context: Context, site: SiteRecord): string {
  return site.proxy === undefined ? ownUrl(context, site) : `https://${site.proxy}`;
}

/** Renders the proxy, which is written as one string and read as that string and the address to forward requests to. */
function viewProxy(context: Context, site: SiteRecord): unknown {
  return site.proxy === undefined ? undefined : { origin: site.proxy, target: ownUrl(context, site) };
}

/** Returns the default level of a site; a new one inherits. */
export function levelOf({ defaultLevel }: SiteRecord): DefaultLevel {
  return defaultLevel === undefined ? 'inherit' : defaultLevel;
}

/** Permissions of the caller, which sites have from 0.201. Source: docs/platform-notes.md#changes-by-version */
const SITE_PERMISSIONS = {
  view: true,
  access: true,
  edit: true,
  create: true,
  admin: true,
  installIntegration: true,
  viewAdaptiveSchema: true,
  editAdaptiveSchema: true,
};

/** Site with its count of site spaces. Source: docs/platform-notes.md#sites */
export function viewSite(context: Context, site: SiteRecord): unknown {
  return {
    object: 'site',
    ...pick(site, 'id', 'type', 'title', 'basename', 'visibility', 'published', 'createdAt'),
    proxy: viewProxy(context, site),
    siteSpaces: context.store.siteSpaces.count('site', site.id),
    adaptiveContent: { enabled: site.adaptiveContent },
    ads: { status: 'pending', submittable: false },
    agentsContext: context.features.agentsContext ? site.agentsContext : undefined,
    defaultLevel: context.features.siteDefaultLevel ? levelOf(site) : undefined,
    features: [],
    permissions: context.features.externalLinks ? SITE_PERMISSIONS : undefined,
    gitSync: context.features.gitSync ? viewGitSync(context, site.id) : undefined,
    urls: {
      location: siteLocation(context, site),
      app: `${context.base}/app/o/${site.organization}/sites/${site.id}`,
      published: site.published ? publishedUrl(context, site) : undefined,
    },
  };
}

/**
 * Fields that versions from 0.181 on have: the draft, and localized texts of what has them.
 * Source: docs/platform-notes.md#drafts-and-localized-texts
 */
function viewDraft(
  { features }: Context,
  { draft = false, localizedTitle, localizedDescription }: Partial<SectionRecord>,
) {
  return features.structureDrafts ? { draft, localizedTitle, localizedDescription } : {};
}

/** SiteSpace with its space; `default` is the default of its section, or of a site without sections. */
export function viewSiteSpace(context: Context, siteSpace: SiteSpaceRecord): unknown {
  const { store } = context;
  const site = store.sites.get(siteSpace.site);
  const section = siteSpace.section === undefined ? undefined : store.sections.get(siteSpace.section);
  const chosen = siteSpace.section === undefined ? site?.defaultSiteSpace : section?.defaultSiteSpace;
  const space = store.spaces.get(siteSpace.space);
  const path = section === undefined ? siteSpace.path : `${section.path}/${siteSpace.path}`;
  return {
    object: 'site-space',
    ...pick(siteSpace, 'id', 'path', 'section', 'condition'),
    space: space === undefined ? undefined : viewSpace(context, space),
    title: space?.title ?? '',
    default: chosen === siteSpace.id,
    hasAdvancedCustomizationFeature: false,
    urls: { published: site?.published === true ? `${publishedUrl(context, site)}/${path}` : undefined },
    hidden: context.features.hiddenSiteSpaces ? siteSpace.hidden : undefined,
    draft: context.features.structureDrafts ? (siteSpace.draft ?? false) : undefined,
  };
}

/** Section with its site spaces in display order. Source: docs/platform-notes.md#sections */
export function viewSection(context: Context, section: SectionRecord): unknown {
  const { store } = context;
  const site = store.sites.get(section.site);
  return {
    object: 'site-section',
    ...pick(section, 'id', 'title', 'description', 'path', 'condition', 'icon'),
    ...viewDraft(context, section),
    default: site?.defaultSection === section.id,
    sectionGroup: section.group,
    siteSpaces: store.siteSpaces
      .by('place', section.id)
      .toSorted(byRank)
      .map((siteSpace) => viewSiteSpace(context, siteSpace)),
    urls: { published: site?.published === true ? `${publishedUrl(context, site)}/${section.path}` : undefined },
  };
}

/** SiteSectionGroup with its children, and the deprecated `sections`. Source: docs/platform-notes.md#section-groups */
export function viewSectionGroup(context: Context, group: SectionGroupRecord): unknown {
  return {
    object: 'site-section-group',
    id: group.id,
    title: group.title,
    sectionGroup: group.parent,
    children: viewChildren(context, group.id),
    sections: context.store.sections
      .by('place', group.id)
      .toSorted(byRank)
      .map((section) => viewSection(context, section)),
    icon: group.icon,
    ...viewDraft(context, group),
  };
}

/** An external link, as the structure of a site shows it from 0.201. Source: docs/platform-notes.md#external-links */
export function viewExternalLink(link: ExternalLinkRecord): unknown {
  const { seq: _, rank: __, site: ___, gitKey: ____, group, ...fields } = link;
  return { object: 'site-external-link', ...fields, sectionGroup: group };
}

/** Renders the sections, groups and links of a group, or of the site itself, in display order. */
export function viewChildren(context: Context, place: string): unknown[] {
  const { store } = context;
  const links = context.features.externalLinks ? store.externalLinks.by('place', place) : [];
  const children: (readonly [{ readonly rank: number }, () => unknown])[] = [
    ...store.sections.by('place', place).map((section) => [section, () => viewSection(context, section)] as const),
    ...store.sectionGroups.by('place', place).map((group) => [group, () => viewSectionGroup(context, group)] as const),
    ...links.map((link) => [link, () => viewExternalLink(link)] as const),
  ];
  return children.sort(([a], [b]) => byRank(a, b)).map(([, view]) => view());
}
