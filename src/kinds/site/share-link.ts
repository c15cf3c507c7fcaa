/** Kind of the share links of a site. Their addresses are secrets, which only the platform shows. */
import { z } from 'zod';
import type { AccessRule } from '../../plan/rules.ts';
import { operations } from '../../platform/operations/index.ts';
import { access } from '../model/field-table.ts';
import { line } from '../model/schema.ts';
import { siteItems } from './site-items.ts';

/** Access of everyone who has the address of a link, while the link is active. A new one is. */
const linkAccess: AccessRule = ({ fields: { name, active } }) =>
  name === undefined || active === false
    ? []
    : [{ who: `everyone with the share link ${JSON.stringify(name)}`, role: 'read' }];

/** Share links of a site, for the visibility `share-link`. Source: docs/platform-notes.md#share-links */
export const shareLink = siteItems({
  name: 'share-link',
  member: 'shareLinks',
  summary: 'Links with a secret address, by key. The platform makes the address, and only its application shows it.',
  title: 'name',
  deletionNeedsApproval: true,
  operations: {
    list: operations.listSiteShareLinks,
    create: operations.createSiteShareLink,
    update: operations.updateSiteShareLinkById,
    delete: operations.deleteSiteShareLinkById,
  },
  fields: {
    name: line({ min: 1, max: 50, example: 'Partners' }).describe('The name of the link.'),
    active: access(z.boolean().describe('Whether the address works.'), linkAccess),
  },
  impact: () => ({ weight: 20, text: 'its address stops working, and cannot be restored' }),
});
