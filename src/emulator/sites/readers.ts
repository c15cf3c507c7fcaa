/**
 * Operations on who reads a site with a secret: share links, and the sign-in of visitors.
 * Source: docs/platform-notes.md#share-links, docs/platform-notes.md#visitor-authentication
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { created, deleted, invalid, ok } from '../model/answers.ts';
import { refuseUnknown } from '../model/features.ts';
import { type ApiOperation, type Context, operation, SITE } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { containsText, omitUndefined, patched, pick } from '../model/patch.ts';
import { listQuery, text, url } from '../model/schema.ts';
import type { ShareLinkRecord, SiteRecord, VisitorAuthRecord } from './records.ts';
import { findPart, requirePart, requireSite, siteLocation } from './views.ts';

const LINKS = `${SITE}/share-links` as const;
const LINK = `${LINKS}/{shareLinkId}` as const;
const AUTH = `${SITE}/publishing/auth` as const;

const linkQuery = listQuery.extend({ search: z.string().optional() });
const linkUpdate = z
  .strictObject({ name: text(0, 50).optional(), active: z.boolean().optional() })
  .refine((body) => Object.keys(body).length > 0, { error: 'must have at least one field' });
const authUpdate = z.strictObject({
  backend: z.enum(['custom', 'integration']),
  fallbackURL: url().nullable().optional(),
  logoutURL: url().nullable().optional(),
});

/** A secret that differs for each purpose, and is the same in each run. */
function secretOf(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join(' ')).digest('base64url').slice(0, 24);
}

function viewLink(context: Context, link: ShareLinkRecord): unknown {
  return {
    object: 'share-link',
    ...pick(link, 'id', 'name', 'active', 'createdAt'),
    urls: { published: `${context.base}/docs/${link.site}/share/${link.secret}` },
  };
}

function authOf({ id, visitorAuth }: SiteRecord): VisitorAuthRecord {
  return visitorAuth ?? { backend: 'custom', privateKey: secretOf('key', id) };
}

function viewAuth(context: Context, site: SiteRecord): unknown {
  const { logoutURL, ...auth } = authOf(site);
  return { object: 'publishing-auth', ...auth, ...(context.features.visitorLogout ? { logoutURL } : {}) };
}

/** Share links, and the sign-in of visitors. */
export const readerOperations: readonly ApiOperation[] = [
  operation('listSiteShareLinks', 'GET', LINKS, { query: linkQuery }, (call) => {
    const { search = '' } = call.query;
    if (call.query.search !== undefined && !call.features.shareLinkSearch) {
      throw invalid('query.search', 'unknown parameter');
    }
    const links = call.store.shareLinks.by('site', requireSite(call).id);
    return listBySeq(
      call,
      links.filter(({ name }) => containsText(name, search)),
      viewLink,
    );
  }),
  operation('createSiteShareLink', 'POST', LINKS, { body: z.strictObject({ name: text(0, 50) }) }, (call) => {
    const site = requireSite(call);
    const { id, seq } = call.store.identify('shl');
    const secret = secretOf('link', id);
    const link = { id, seq, site: site.id, name: call.body.name, active: true, createdAt: call.at, secret };
    const location = `${siteLocation(call, site)}/share-links/${id}`;
    return created(viewLink(call, call.store.shareLinks.put(link)), location);
  }),
  operation('updateSiteShareLinkById', 'PATCH', LINK, { body: linkUpdate }, (call) => {
    const link = requirePart(call, call.store.shareLinks, 'Share link', call.params.shareLinkId);
    return ok(viewLink(call, call.store.shareLinks.put({ ...link, ...omitUndefined(call.body) })));
  }),
  operation('deleteSiteShareLinkById', 'DELETE', LINK, {}, (call) => {
    const link = findPart<ShareLinkRecord>(call.store.shareLinks, requireSite(call), call.params.shareLinkId);
    return deleted(link !== undefined && call.store.shareLinks.remove(link.id));
  }),
  operation('getSitePublishingAuthById', 'GET', AUTH, {}, (call) => ok(viewAuth(call, requireSite(call)))),
  operation('updateSitePublishingAuthById', 'PATCH', AUTH, { body: authUpdate }, (call) => {
    const site = requireSite(call);
    refuseUnknown(call, 'visitorLogout', call.body, 'logoutURL');
    const now = authOf(site);
    const visitorAuth = {
      ...now,
      backend: call.body.backend,
      fallbackURL: patched(now.fallbackURL, call.body.fallbackURL),
      logoutURL: patched(now.logoutURL, call.body.logoutURL),
    };
    return ok(viewAuth(call, call.store.sites.put({ ...site, visitorAuth })));
  }),
  operation('regenerateSitePublishingAuthById', 'POST', `${AUTH}/regenerate`, {}, (call) => {
    const site = requireSite(call);
    const visitorAuth = { ...authOf(site), privateKey: secretOf('key', site.id, call.store.next()) };
    return ok(viewAuth(call, call.store.sites.put({ ...site, visitorAuth })));
  }),
];
