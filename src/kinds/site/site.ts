import { RejectedError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import type { Actual } from '../../core/resource.ts';
import { reference } from '../../plan/model/diff.ts';
import type { Reader } from '../../platform/client.ts';
import { operations, type PublishResult, type SectionGroup, type Site } from '../../platform/operations/index.ts';
import { writtenFields } from '../model/field-table.ts';
import { collect, type Detail, type Kind } from '../model/kind.ts';
import { manifestRules } from '../model/manifest.ts';
import { hasMembers, type PlannedRequest, present, ref, request } from '../model/request.ts';
import { plainKey } from '../model/schema.ts';
import { describeSite } from './site-description.ts';
import { declareSite, siteSchema } from './site-manifest.ts';
import { mayHideGroups, observeGroups, observeStructure } from './site-structure.ts';

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

/**
 * Docs sites. A site's manifest also declares its sections, groups and site spaces.
 * Source: docs/platform-notes.md#sites
 */
export const site: Kind = {
  name: 'site',
  dependsOn: ['space', 'translation'],
  creatable: true,
  deletable: true,
  deletionNeedsApproval: true,
  fields: {
    title: {},
    type: { fixed: 'create' },
    visibility: { access: true },
    basename: {},
    proxy: {},
    agentsContext: {
      unsupportedNote:
        'agentsContext was not compared: this version of the platform has no such setting (none has from 0.167 on)',
    },
    adaptiveContent: { access: true },
    adaptiveSchema: { access: true },
    default: reference({ afterChildren: true, optionalRef: true }),
    published: { afterChildren: true, access: true },
  },
  manifest: manifestRules({
    section: 'sites',
    single: false,
    key: plainKey,
    entry: siteSchema,
    summary: 'Docs sites with their sections, groups and spaces, in display order.',
    example: `help:
  title: Acme Help
  visibility: public
  default: guides
  structure:
    - section: guides
      title: Guides
      path: guides
      default: en
      spaces:
        - { key: en, space: guides, path: en }
        - { key: fr, space: guides-fr, path: fr, hidden: false }
    - group: developers
      title: Developers
      items:
        - { section: api, title: API, spaces: [{ key: api, space: api }] }`,
    declare: declareSite,
    describe: describeSite,
  }),
  suggestedKeys: ({ title, fields }) => [title, ...(typeof fields.basename === 'string' ? [fields.basename] : [])],
  naturalKeys: (fields) => (typeof fields.title === 'string' ? [{ by: 'title', value: fields.title }] : []),
  actualKeys: (actual) => [{ by: 'title', value: actual.title }],
  renamedKey: (title) => ({ by: 'title', value: title }),
  impact(actual) {
    const count = Number(actual.facts?.siteSpaces ?? 0);
    const spaces = count === 1 ? '1 site space' : `${count} site spaces`;
    return actual.fields.published === true
      ? { weight: 1000 + count, text: `published, ${spaces}` }
      : { weight: 100 + count, text: `not published, ${spaces}` };
  },
  async observe({ reader, add }) {
    await collect(reader.pages(operations.listSites), (each) => add(observed(each)));
  },
  // One request gives all parts of a site, one more its schema.
  details: [
    {
      name: 'structure',
      fields: ['default'],
      parts: 'any',
      read: partsOf,
      next: { name: 'hidden groups', fields: [], parts: 'section-group', read: hiddenGroups },
    },
    { name: 'adaptive schema', fields: ['adaptiveSchema'], read: schemaOf },
  ],
  writes(change) {
    const path = { siteId: ref(change.address) };
    if (change.action === 'delete') {
      return { first: [request(operations.deleteSite, { path })] };
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
      ...(hasMembers(body) ? [request(operations.updateSite, { path, body: present(body) })] : []),
      // Versions without the setting refuse it, and the answer to a creation does not show which version this is.
      ...(creates && agentsContext !== undefined
        ? [
            request(
              operations.updateSite,
              { path, body: { agentsContext } },
              { sets: ['agentsContext'], tolerates: [400] },
            ),
          ]
        : []),
      ...(adaptiveSchema === undefined
        ? []
        : [request(operations.updateAdaptiveSchema, { path, body: { jsonSchema: adaptiveSchema } })]),
      ...publishing(path, published, creates),
    ];
    if (!creates) {
      return { first: requests };
    }
    const create = request(
      operations.createSite,
      { body: present({ type, title, visibility }) },
      { creates: true, learns: (answer) => [[change.address, answer.id]] },
    );
    return { first: [create], late: requests };
  },
};

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
    ? [request(operations.publishSite, { path }, { learns: mustBePublished })]
    : [request(operations.unpublishSite, { path })];
}

/** Fails when the answer is a checkout: then nothing was published. Source: docs/platform-notes.md#publishing */
function mustBePublished(answer: PublishResult): [] {
  if (answer.type === 'checkout') {
    throw new RejectedError(
      'publishSite: the platform asks for an upgrade of the plan first; nothing was published',
      402,
    );
  }
  return [];
}

function observed(each: Site): Actual {
  return {
    kind: 'site',
    id: each.id,
    title: each.title ?? '',
    fields: {
      title: each.title ?? '',
      visibility: each.visibility ?? null,
      published: each.published ?? false,
      basename: each.basename ?? null,
      proxy: withoutScheme(each.proxy?.origin),
      // Every version that has it returns it. Source: docs/platform-notes.md#sites
      ...(each.agentsContext ? { agentsContext: each.agentsContext } : {}),
      adaptiveContent: each.adaptiveContent?.enabled ?? false,
    },
    within: null,
    place: null,
    facts: { siteSpaces: each.siteSpaces ?? 0 },
  };
}

/** Written as host plus path and read as the proxy's origin; its target is where the platform has the site. */
function withoutScheme(address: string | null | undefined): Json {
  return address?.replace(/^https?:\/\//, '').replace(/\/$/, '') ?? null;
}

async function partsOf({ id }: Actual, reader: Reader): Promise<Detail> {
  const { parts, first } = observeStructure(
    id,
    await reader.get(operations.getSiteStructure, { path: { siteId: id } }),
  );
  return { fields: { default: first }, parts };
}

/** Otherwise a group whose creation was not heard of would be made again. */
async function hiddenGroups({ id }: Actual, reader: Reader, { parts = [] }: Detail): Promise<Detail> {
  if (!mayHideGroups(id, parts)) {
    return {};
  }
  const groups: SectionGroup[] = [];
  await collect(reader.pages(operations.listSectionGroups, { path: { siteId: id } }), (each) => groups.push(each));
  return { parts: observeGroups(id, groups) };
}

/** Reads the adaptive schema. A site without one answers 404. Source: docs/platform-notes.md#adaptive-schema */
async function schemaOf({ id }: Actual, reader: Reader): Promise<Detail> {
  try {
    const answer = await reader.get(operations.getAdaptiveSchema, { path: { siteId: id } });
    return { fields: { adaptiveSchema: (answer.jsonSchema ?? null) as Json } };
  } catch (error) {
    if (error instanceof RejectedError && error.status === 404) {
      return { fields: { adaptiveSchema: null } };
    }
    throw error;
  }
}
