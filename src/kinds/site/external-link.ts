/** Kind of the links to other addresses in the structure of a site. */
import { present } from '../../core/json.ts';
import { type ExternalLink, operations } from '../../platform/operations/index.ts';
import type { Input } from '../../platform/operations/model/operation.ts';
import { writtenFields } from '../model/field-table.ts';
import { creating, ref, request } from '../model/kind.ts';
import { line, url } from '../model/schema.ts';
import { condition, description, draft, icon, localized, sortRequests, structurePart, UNSUPPORTED } from './part.ts';

type Body = Input<typeof operations.createExternalLink>['body'];
type LinkFields = Body & {
  readonly group?: string | null;
};

/** External links, declared in the structure of a site. Source: docs/platform-notes.md#external-links */
export const externalLink = structurePart<ExternalLink>({
  name: 'external-link',
  dependsOn: ['site', 'section-group'],
  // The platform accepts a link only in a site with a section.
  applyAfter: ['section', 'section-group'],
  part: {
    key: { member: 'link', description: 'The key of the link, unique in the site.', example: 'status' },
    heldBy: ['site', 'section-group'],
    holder: 'group',
    noun: 'link',
    requires: { kind: 'section', field: 'sections', problem: 'an external link needs a section in the same site' },
  },
  fields: {
    title: line({ min: 2, max: 128, example: 'Status' }).describe('The title of the link.'),
    localizedTitle: localized('localizedTitle', 'title', 128),
    url: { schema: url('https://status.acme.example').describe('The address that it opens.'), required: true },
    icon,
    description,
    localizedDescription: localized('localizedDescription', 'description', 256),
    condition,
    draft,
    group: { refersTo: ['section-group'], isListed: false, move: true, placement: true },
  },
  pendingReason({ within }, { actualOf, declaredOf, unusable }) {
    const sections = declaredOf(within ?? '')?.fields.sections;
    if (actualOf(within ?? '')?.facts?.externalLinks === UNSUPPORTED) {
      return 'this version of the platform has no external links (0.201 and later have them)';
    }
    const reasons = Array.isArray(sections) ? sections.map((address) => unusable(String(address))) : [];
    return reasons.includes(null) ? null : (reasons[0] ?? null);
  },
  writes(change) {
    const siteId = ref(change.within);
    const path = { siteId, siteExternalLinkId: ref(change.address) };
    if (change.action === 'delete') {
      return { first: [request(operations.deleteExternalLink, { path })] };
    }
    const { group, ...fields } = writtenFields(change) as LinkFields;
    if (change.action === 'create') {
      const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Body;
      const body = present({ ...given, parent: group ? ref(group) : undefined });
      const create = request(operations.createExternalLink, { path: { siteId }, body }, creating(change));
      return { first: [create, ...sortRequests(change)] };
    }
    const body = group === undefined ? fields : { ...fields, parent: group === null ? null : ref(group) };
    const update = request(operations.updateExternalLink, { path, body });
    const isOnlySorted = change.action === 'move' && group === undefined;
    return { first: [...(isOnlySorted ? [] : [update]), ...(change.action === 'move' ? sortRequests(change) : [])] };
  },
});
