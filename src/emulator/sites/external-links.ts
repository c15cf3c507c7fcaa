// Operations on external links in the structure of a site.

import { z } from 'zod';
import { created, deleted, found, invalid, ok, referenced } from '../model/answers.ts';
import { type ApiOperation, type Context, operation, SITE } from '../model/operation.ts';
import { omitUndefined, patched } from '../model/patch.ts';
import { condition, icon, id, text, url } from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import type { ExternalLinkRecord, SiteRecord } from './records.ts';
import { structureType } from './tree.ts';
import { findExternalLink, findSectionGroup, requireSite, viewExternalLink } from './views.ts';

const LINK = `${SITE}/external-links/{siteExternalLinkId}` as const;

const fields = {
  title: text(2, 128),
  url: url(),
  description: text(0, 256).nullable().optional(),
  icon: icon.nullable().optional(),
  draft: z.boolean().optional(),
  condition: condition.nullable().optional(),
};

const linkCreation = z.strictObject({ ...fields, parent: id.optional() });
const linkUpdate = z.strictObject({ ...fields, parent: id.nullable().optional() }).partial();

function location(context: Context, site: SiteRecord, link: ExternalLinkRecord): string {
  return `${context.base}/v1/orgs/${site.organization}/sites/${site.id}/external-links/${link.id}`;
}

function requireGroup(store: EmulatorStore, site: SiteRecord, group: string | null | undefined): void {
  if (group !== undefined && group !== null) {
    referenced(findSectionGroup(store, site, group), 'body.parent', 'site section group', group);
  }
}

/**
 * Operations on external links in a site's structure, from 0.201. They are placed among sections and groups, at the
 * root or in a group. Source: docs/platform-notes.md#external-links
 */
export const externalLinkOperations: readonly ApiOperation[] = [
  operation(
    'createExternalLink',
    'POST',
    `${SITE}/external-links`,
    { feature: 'externalLinks', body: linkCreation },
    (call) => {
      const { store, body } = call;
      const site = requireSite(call);
      if (structureType(store, site) !== 'sections') {
        throw invalid('path.siteId', 'the site has no sections; an external link needs at least one');
      }
      requireGroup(store, site, body.parent);
      const identity = store.identify('sitelk');
      const link = store.externalLinks.put({
        ...identity,
        rank: identity.seq,
        site: site.id,
        group: body.parent,
        title: body.title,
        url: body.url,
        description: body.description ?? undefined,
        icon: body.icon ?? undefined,
        draft: body.draft ?? false,
        condition: body.condition ?? undefined,
      });
      return created(viewExternalLink(link), location(call, site, link));
    },
  ),
  operation(
    'updateExternalLink',
    'PATCH',
    LINK,
    { feature: 'externalLinks', body: linkUpdate, minimal: true },
    (call) => {
      const { store, body } = call;
      const site = requireSite(call);
      const { siteExternalLinkId } = call.params;
      const link = found(findExternalLink(store, site, siteExternalLinkId), 'Site external link', siteExternalLinkId);
      requireGroup(store, site, body.parent);
      const group = patched(link.group, body.parent);
      const updated = store.externalLinks.put({
        ...link,
        ...(group === link.group ? {} : { group, rank: store.next() }),
        ...omitUndefined({ title: body.title, url: body.url, draft: body.draft }),
        description: patched(link.description, body.description),
        icon: patched(link.icon, body.icon),
        condition: patched(link.condition, body.condition),
      });
      return ok(viewExternalLink(updated));
    },
  ),
  operation('deleteExternalLink', 'DELETE', LINK, { feature: 'externalLinks' }, (call) => {
    const site = requireSite(call);
    const link = findExternalLink(call.store, site, call.params.siteExternalLinkId);
    return deleted(link !== undefined && call.store.externalLinks.remove(link.id));
  }),
];
