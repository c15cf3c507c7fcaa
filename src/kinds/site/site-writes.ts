/** The requests that create, change, publish and delete a site. */
import type { Change } from '../../core/change.ts';
import { RejectedError } from '../../core/errors.ts';
import { type PublishResult, resourceOperations } from '../../platform/operations/resources.ts';
import { writtenFields } from '../model/field-table.ts';
import { hasMembers, type PlannedRequest, present, ref, request, type Writes } from '../model/request.ts';

interface SiteFields {
  title: string;
  type: 'basic' | 'premium' | 'ultimate';
  visibility: 'public' | 'unlisted' | 'share-link' | 'visitor-auth';
  published: boolean;
  basename: string;
  proxy: string | null;
  agentsContext: 'included' | 'excluded';
  adaptiveContent: boolean;
  adaptiveSchema: Record<string, unknown>;
  default: string;
}

/** Returns the requests of one change. */
export function siteWrites(change: Change): Writes {
  const path = { siteId: ref(change.address) };
  if (change.action === 'delete') {
    return { first: [request(resourceOperations.deleteSite, { path })] };
  }
  const { adaptiveSchema, published, default: first, type, ...fields } = writtenFields(change) as Partial<SiteFields>;
  const { title, visibility, adaptiveContent, agentsContext, ...settings } = fields;
  const creates = change.action === 'create';
  const body = {
    ...(creates ? {} : { title, visibility }),
    ...settings,
    agentsContext: creates ? undefined : agentsContext,
    adaptiveContent: adaptiveContent === undefined ? undefined : { enabled: adaptiveContent },
    ...defaultOf(first),
  };
  const requests: PlannedRequest[] = [
    ...(hasMembers(body) ? [request(resourceOperations.updateSite, { path, body: present(body) })] : []),
    // Versions without the setting reject it, and the answer to a creation does not show the version.
    ...(creates && agentsContext !== undefined
      ? [
          request(
            resourceOperations.updateSite,
            { path, body: { agentsContext } },
            { sets: ['agentsContext'], tolerates: [400] },
          ),
        ]
      : []),
    ...(adaptiveSchema === undefined
      ? []
      : [request(resourceOperations.updateAdaptiveSchema, { path, body: { jsonSchema: adaptiveSchema } })]),
    ...publishing(path, published, creates),
  ];
  if (!creates) {
    return { first: requests };
  }
  const create = request(
    resourceOperations.createSite,
    { body: present({ type, title, visibility }) },
    { creates: true, learns: (answer) => [[change.address, answer.id]] },
  );
  return { first: [create], late: requests };
}

function defaultOf(address: string | undefined) {
  if (address === undefined) {
    return {};
  }
  return address.startsWith('section/') ? { defaultSiteSection: ref(address) } : { defaultSiteSpace: ref(address) };
}

/** Publishes or unpublishes a site. New sites are not published. Source: docs/platform-notes.md#publishing */
function publishing(
  path: { siteId: ReturnType<typeof ref> },
  published: boolean | undefined,
  creates: boolean,
): readonly PlannedRequest[] {
  if (published === undefined || (creates && !published)) {
    return [];
  }
  return published
    ? [request(resourceOperations.publishSite, { path }, { learns: mustBePublished })]
    : [request(resourceOperations.unpublishSite, { path })];
}

/** Fails when the answer is a checkout: then nothing was published. Source: docs/platform-notes.md#publishing */
function mustBePublished(answer: PublishResult): [] {
  if (answer.type === 'checkout') {
    throw new RejectedError(
      'publishSite: the site was not published, because the platform requires an upgrade of its plan',
      402,
    );
  }
  return [];
}
