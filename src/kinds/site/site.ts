/** Sites: their settings, the schema of visitor claims, their structure, and the requests that publish them. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Address } from '../../core/address.ts';
import type { Change } from '../../core/change.ts';
import { RejectedError } from '../../core/errors.ts';
import { canonicalJson, type Json, present, shownJson } from '../../core/json.ts';
import { type Actual, type Declared, idRef, isIdRef } from '../../core/resource.ts';
import { counted } from '../../plan/render/words.ts';
import type { DecidedElsewhere } from '../../plan/rules.ts';
import type { Reader } from '../../platform/client.ts';
import { operations, type PublishResult, type Site, type StructureItem } from '../../platform/operations/index.ts';
import type { Input } from '../../platform/operations/model/operation.ts';
import { checkTitle, listedKind } from '../model/derived-kind.ts';
import {
  access,
  type FieldTable,
  fieldTable,
  listedElsewhere,
  ofExisting,
  defaultLevel as siteLevel,
  titleField,
  writtenFields,
} from '../model/field-table.ts';
import { describeGitSync, docsFileWords, gitSyncFacts, gitSyncOf, withInstallation } from '../model/git-sync.ts';
import {
  creating,
  type Detail,
  type DetailRequest,
  hasMembers,
  type Kind,
  type PlannedRequest,
  ref,
  request,
  unlessMissing,
  type Writes,
} from '../model/kind.ts';
import {
  type CommonFields,
  commonFields,
  type DeclareContext,
  type DescribeContext,
  type Described,
  type EntryPath,
  Reference,
  resourceOf,
  type WrittenResource,
} from '../model/manifest.ts';
import { permissionFields } from '../model/permissions.ts';
import { commonShape, key, line, objectOrFile, text } from '../model/schema.ts';
import { customizationField, customizationWrite, readCustomization } from './customization.ts';
import { itemType, PART_KEY, readersOf, type StructurePart, UNSUPPORTED } from './part.ts';
import type { SiteItems } from './site-items.ts';
import { readVisitorAuth, visitorAuthField, visitorAuthWrites } from './visitor-auth.ts';

/** Required description of the unsigned claims of visitors. */
const UNSIGNED = 'Unsigned claims of the site visitor.';

const description = z.string({ error: 'needs a description' });
const closed = z.literal(false, { error: 'is required and must be false' });
const kindOfClaim = 'must be boolean, string, number, array or object';

const primitives = [
  z.strictObject({ type: z.literal('boolean'), description }),
  z.strictObject({ type: z.literal('string'), description, enum: z.array(z.string()).optional() }),
  z.strictObject({ type: z.literal('number'), description }),
] as const;
const primitive = z.discriminatedUnion('type', primitives, { error: 'must be boolean, string or number' });

const claim: z.ZodType<object> = z.lazy(() =>
  z.discriminatedUnion(
    'type',
    [
      ...primitives,
      z.strictObject({ type: z.literal('array'), description, items: primitive }),
      z.strictObject({
        type: z.literal('object'),
        description,
        properties: z.record(z.string(), claim),
        additionalProperties: closed,
      }),
    ],
    { error: kindOfClaim },
  ),
);

const unsigned = z.strictObject({
  type: z.literal('object'),
  description: z.literal(UNSIGNED, { error: `must be ${JSON.stringify(UNSIGNED)}` }),
  properties: z.record(z.string(), claim),
  additionalProperties: closed,
});

/**
 * The rules of `SiteAdaptiveJSONSchema` in the vendor's OpenAPI documents.
 * Source: docs/platform-notes.md#adaptive-schema
 */
export const adaptiveSchema = z.strictObject({
  $schema: z.literal('http://json-schema.org/draft-07/schema#').optional(),
  type: z.literal('object', { error: 'must be object' }),
  properties: z.object({ unsigned: unsigned.optional() }).catchall(claim),
  additionalProperties: closed,
});

/** Host and path, without a scheme. Source: docs/platform-notes.md#limits */
const PROXY = /^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(\/[\w-]+)+$/;

const fields: FieldTable<Site> = {
  title: titleField(line({ min: 2, max: 128, example: 'Acme Help' }).describe('The title of the site.')),
  type: {
    schema: z
      .enum(['basic', 'premium', 'ultimate'])
      .describe('The plan of a new site. Octavo sets it on create only, and does not compare it.'),
    fixed: 'create',
  },
  visibility: {
    schema: z
      .enum(['public', 'unlisted', 'share-link', 'visitor-auth'])
      .describe(
        'Who can read the site: anyone (`public`); anyone, but not indexed by search engines (`unlisted`); visitors with a secret link (`share-link`); visitors with a token (`visitor-auth`).',
      ),
    access: ({ fields, otherFields }) => {
      const reader = readersOf(fields);
      if (fields.published === true) {
        return [reader];
      }
      return fields.visibility === undefined || otherFields.published === true
        ? []
        : [{ ...reader, role: `${reader.role}, once it is published` }];
    },
  },
  published: {
    // The rule of `visibility` says who can read a published site.
    ...access(z.boolean().describe('Whether the site is live.'), listedElsewhere),
    afterChildren: true,
  },
  basename: {
    schema: line({ min: 1, max: 100, example: 'help' }).describe('A short name for the path of the site.'),
  },
  proxy: {
    schema: text({
      max: 512,
      pattern: PROXY,
      words: 'a host and a path without a scheme, such as acme.example/docs',
      example: 'acme.example/docs',
    })
      .nullable()
      .describe('Host and path of a proxy that serves the site; `null` removes it.'),
    read: ({ proxy }) => withoutScheme(proxy?.origin),
  },
  agentsContext: {
    schema: z
      .enum(['included', 'excluded'])
      .describe('Whether the agent can read the site. Platform 0.167 and later do not have this setting.'),
    unsupportedNote:
      'agentsContext was not compared: this version of the platform has no such setting (removed in 0.167)',
    // Every platform version that has this setting returns it. Source: docs/platform-notes.md#sites
    read: ({ agentsContext }) => agentsContext || undefined,
    access: ({ fields }) => (fields.agentsContext === 'included' ? [{ who: 'the agent', role: 'read' }] : []),
    toEntry: (value) => (value === 'included' ? undefined : (value ?? undefined)),
  },
  adaptiveContent: {
    schema: z
      .strictObject({ enabled: z.boolean().describe('Whether content adapts to the visitor.') })
      .describe('Adaptive content.'),
    access: ofExisting(({ fields }) => [
      {
        who: 'visitors whom a condition excludes',
        role: fields.adaptiveContent === true ? 'conditions apply' : 'conditions do not apply',
      },
    ]),
    read: ({ adaptiveContent }) => adaptiveContent?.enabled ?? false,
    fromEntry: (value) => (value as { readonly enabled: boolean }).enabled,
    toEntry: (value, { includeDefaults }) =>
      value === true || includeDefaults ? { enabled: value === true } : undefined,
  },
  adaptiveSchema: {
    schema: objectOrFile(adaptiveSchema).describe(
      'The schema of visitor claims, usually `{ file: schemas/visitor.json }`: each claim has a type and a description, and each object has `additionalProperties: false`.',
    ),
    access: ofExisting(({ fields }) => [
      {
        who: 'visitors, by their claims',
        role:
          fields.adaptiveSchema == null
            ? 'no schema'
            : `schema ${createHash('sha256').update(canonicalJson(fields.adaptiveSchema)).digest('hex').slice(0, 12)}`,
      },
    ]),
    isListed: false,
    toEntry: (value, context) => (value ? context.file('schemas', 'json', `${shownJson(value)}\n`) : undefined),
  },
  defaultLevel: {
    ...siteLevel,
    // Every platform version that has this setting returns it. Source: docs/platform-notes.md#permissions
    unsupportedNote: 'defaultLevel was not compared: this version of the platform has no such setting (before 0.181)',
    // A new site inherits.
    toEntry: (value, { includeDefaults }) => (value === 'inherit' && !includeDefaults ? undefined : value),
  },
  ...permissionFields('site'),
  visitorAuth: visitorAuthField,
  customization: customizationField,
  default: {
    schema: key(
      'The key of the section that is shown first, or of the site space if there are no sections.',
      'section',
      'site-space',
    ),
    isRelative: true,
    isListed: false,
    afterChildren: true,
    optionalRef: true,
  },
  // Whether manifests or `docs.yaml` declare the structure.
  structure: { declarationOnly: true },
  // Declared sections, if an external link requires one.
  sections: { declarationOnly: true },
};

/** An item of a structure, as written. */
type WrittenItem = CommonFields & Described;
type Entry = WrittenItem & {
  readonly default?: string;
  readonly structure?: readonly WrittenItem[] | typeof GIT_SYNC;
};

/** Value of `structure` for a site whose structure comes from the `docs.yaml` of Git Sync. */
const GIT_SYNC = 'git-sync';
/** Value of the field `structure` of a site whose manifest has a structure. */
const IN_MANIFEST = 'manifest';

/**
 * Docs sites. A site's manifest also declares the parts of its structure.
 * Source: docs/platform-notes.md#sites
 */
export function siteKind(parts: readonly StructurePart[], items: readonly SiteItems[]): Kind {
  const table = fieldTable(fields);
  const structure = z
    .union([z.enum([GIT_SYNC]), structureSchema(parts)])
    .optional()
    .describe(
      'Sections, groups and links, or spaces if the site has no sections, in display order; `git-sync` if the structure comes from the `docs.yaml` of Git Sync.',
    );
  return listedKind({
    name: 'site',
    section: 'sites',
    summary: 'Docs sites with their sections, groups and spaces, in display order.',
    dependsOn: ['space', 'team', 'translation', 'member'],
    deletionNeedsApproval: true,
    operations: { list: operations.listSites, delete: operations.deleteSite },
    fields,
    permissions: 'site',
    facts: ({ siteSpaces, permissions, defaultLevel, visibility, urls, gitSync }) => ({
      siteSpaces: siteSpaces ?? 0,
      // The address of another site may hold its secret.
      address: visibility === 'public' || visibility === 'unlisted' ? (urls?.published ?? null) : null,
      ...gitSyncFacts(gitSync),
      // Versions from 0.181 on return the default level. Source: docs/platform-notes.md#visitor-authentication
      ...(defaultLevel === undefined ? {} : { hasLevel: true }),
      // Sites have permissions since the version that added external links: docs/platform-notes.md#changes-by-version
      ...(permissions ? {} : { externalLinks: UNSUPPORTED }),
    }),
    manifest: {
      entry: z.strictObject({
        ...table.shape,
        ...Object.fromEntries(items.map(({ member, schema }) => [member, schema])),
        structure,
        ...commonShape,
      }) as unknown as z.ZodType<Entry>,
      declare(name, entry: Entry, context) {
        checkTitle(entry, 'title', 'site', (problem) => context.problem([], problem));
        const isSynced = entry.structure === GIT_SYNC;
        const inside = entry.structure === GIT_SYNC ? [] : (entry.structure ?? []);
        if (isSynced && entry.default !== undefined) {
          context.problem(['default'], 'default comes from docs.yaml where structure is git-sync; remove it');
        }
        const isSectioned = inside.some((item) => partOf(parts, item)?.isPlain !== true);
        const kind = isSectioned ? 'section' : 'site-space';
        const first = entry.default ? new Reference([kind], entry.default, ['default'], `${name}/`) : undefined;
        const from = entry.structure === undefined ? undefined : isSynced ? GIT_SYNC : IN_MANIFEST;
        const required = requiredParts(parts, name, inside);
        const own = { ...table.declare(entry, [], name), default: isSynced ? undefined : first, structure: from };
        context.add(resourceOf('site', name, { ...own, ...Object.fromEntries(required) }, entry));
        const structure = declareStructure(parts, name, inside, isSectioned, required, context);
        for (const resource of structure) {
          context.add(resource);
        }
        for (const { declare } of items) {
          declare(name, entry, context, structure);
        }
      },
      describe: (actual, context) => {
        const own = Object.fromEntries(items.map(({ member, describe }) => [member, describe(actual, context)]));
        return describeSite(parts, { ...table.describe(actual, context), ...own }, actual, context);
      },
    },
    suggestedKeys: ({ title, fields: { basename } }) => [title, ...(typeof basename === 'string' ? [basename] : [])],
    impact: siteImpact,
    // One request returns all parts of a site, another its schema.
    details: [
      {
        name: 'structure',
        fields: ['default'],
        parts: parts.map(({ kind }) => kind.name),
        read: (site, reader) => readParts(parts, site, reader),
        ...hiddenParts(parts),
      },
      { name: 'git sync', fields: ['structure'], read: readInstallation },
      ...items.map(({ details }) => details),
      { name: 'visitor authentication', fields: ['visitorAuth'], read: readVisitorAuth },
      { name: 'customization', fields: ['customization'], read: readCustomization },
      { name: 'adaptive schema', fields: ['adaptiveSchema'], read: readAdaptiveSchema },
    ],
    decidedElsewhere,
    notes: gitSyncNotes,
    writes: siteWrites,
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
  });
}

function describeSite(
  parts: readonly StructurePart[],
  own: Described,
  actual: Actual,
  context: DescribeContext,
): Described {
  if (gitSyncOf(actual) !== null) {
    return context.resource(actual, { ...own, default: undefined, structure: GIT_SYNC });
  }
  const { structure, keyOf } = describeStructure(parts, actual, context);
  const { published, default: first } = actual.fields;
  return context.resource(actual, {
    ...own,
    // A site without content cannot be published, so `published: false` can be omitted.
    published: published === true || structure.length > 0 ? published : undefined,
    default: keyOf(first),
    structure: structure.length > 0 ? structure : undefined,
  });
}

/** Reads the branch of Git Sync and which side wins, with one request for a site that has Git Sync. */
async function readInstallation(actual: Actual, reader: Reader): Promise<Detail> {
  const sync = gitSyncOf(actual);
  if (sync === null || sync.installation === null) {
    return {};
  }
  const path = { installationId: sync.installation };
  const found = await unlessMissing(reader.get(operations.getGitSyncInstallationById, { path }));
  return { facts: { gitSync: withInstallation(sync, found) } };
}

/** The structure, title and default of a site with Git Sync come from its `docs.yaml`. */
function decidedElsewhere({ fields, source }: Declared, actual: Actual | undefined): DecidedElsewhere | null {
  const sync = actual === undefined ? null : gitSyncOf(actual);
  if (sync === null) {
    const none = { by: 'docs.yaml', fields: [], reason: null };
    return fields.structure === GIT_SYNC ? none : null;
  }
  const file = docsFileWords(sync);
  const reason = `${source.file}:${source.line} and ${file} both declare the structure; write structure: git-sync in the manifest, or remove Git Sync from the site`;
  return {
    by: file,
    fields: ['title', 'default'],
    reason: fields.structure === IN_MANIFEST ? reason : null,
  };
}

/** Lines about Git Sync for the reader of a plan. */
function gitSyncNotes(declared: Declared, actual: Actual): readonly string[] {
  const sync = gitSyncOf(actual);
  const from = declared.fields.structure;
  if (sync === null) {
    return from === GIT_SYNC
      ? [
          'structure: git-sync, but the site has no active Git Sync; a person sets it up in the application, in the settings of the site under Git Sync',
        ]
      : [];
  }
  return [`${describeGitSync(sync)}; ${docsFileWords(sync)} decides its structure`];
}

function siteImpact(actual: Actual) {
  const count = Number(actual.facts?.siteSpaces ?? 0);
  const isPublished = actual.fields.published === true;
  const text = `${isPublished ? 'published' : 'not published'}, ${counted(count, 'site space')}`;
  return { weight: (isPublished ? 1000 : 100) + count, text };
}

async function readParts(parts: readonly StructurePart[], { id }: Actual, reader: Reader): Promise<Detail> {
  const { structure } = await reader.get(operations.getSiteStructure, { path: { siteId: id } });
  return observeStructure(parts, id, structure);
}

/** Returns a chain of requests for parts that the structure does not show. */
function hiddenParts(parts: readonly StructurePart[]): Pick<DetailRequest, 'next'> {
  let next: DetailRequest | undefined;
  for (const { kind, hidden } of parts.toReversed()) {
    if (hidden !== undefined) {
      next = {
        name: hidden.name,
        fields: [],
        parts: [kind.name],
        read: async ({ id }, reader, before) =>
          hidden.mayExist(id, before.parts ?? []) ? { parts: await hidden.read(id, reader) } : {},
        ...(next ? { next } : {}),
      };
    }
  }
  return next === undefined ? {} : { next };
}

/** Converts the proxy's origin, as the platform returns it, to a host and a path. */
function withoutScheme(address: string | null | undefined): Json {
  return address?.replace(/^https?:\/\//, '').replace(/\/$/, '') ?? null;
}

/** Reads the adaptive schema. A site without one answers 404. Source: docs/platform-notes.md#adaptive-schema */
async function readAdaptiveSchema({ id }: Actual, reader: Reader): Promise<Detail> {
  const answer = await unlessMissing(reader.get(operations.getAdaptiveSchema, { path: { siteId: id } }));
  return { fields: { adaptiveSchema: (answer?.jsonSchema ?? null) as Json } };
}

type SiteFields = Omit<Input<typeof operations.updateSite>['body'], 'adaptiveContent'> & {
  readonly type?: Input<typeof operations.createSite>['body']['type'];
  readonly published?: boolean;
  readonly adaptiveContent?: boolean;
  readonly adaptiveSchema?: Record<string, unknown>;
  readonly customization?: Json;
  readonly visitorAuth?: Json;
  readonly default?: string;
  readonly structure?: string;
  readonly sections?: readonly Address[];
};

/** Returns the requests of one change. */
function siteWrites(change: Change): Writes {
  const path = { siteId: ref(change.address) };
  if (change.action === 'delete') {
    return { first: [request(operations.deleteSite, { path })] };
  }
  const {
    adaptiveSchema,
    customization,
    visitorAuth,
    published,
    default: first,
    type,
    ...fields
  } = writtenFields(change) as SiteFields;
  const { title, visibility, basename, proxy, adaptiveContent, agentsContext, defaultLevel } = fields;
  const creates = change.action === 'create';
  const ofSomeVersions = { agentsContext, defaultLevel };
  const body = {
    ...(creates ? {} : { title, visibility, ...ofSomeVersions }),
    basename,
    proxy,
    adaptiveContent: adaptiveContent === undefined ? undefined : { enabled: adaptiveContent },
    ...defaultOf(first),
  };
  const requests: PlannedRequest[] = [
    ...(hasMembers(body) ? [request(operations.updateSite, { path, body: present(body) })] : []),
    // Versions without a setting reject it, and the answer to a creation does not show the version.
    ...Object.entries(creates ? ofSomeVersions : {}).flatMap(([name, value]) =>
      value === undefined
        ? []
        : [request(operations.updateSite, { path, body: { [name]: value } }, { sets: [name], tolerates: [400] })],
    ),
    ...(adaptiveSchema === undefined
      ? []
      : [request(operations.updateAdaptiveSchema, { path, body: { jsonSchema: adaptiveSchema } })]),
    ...(visitorAuth === undefined ? [] : visitorAuthWrites(path, change, visitorAuth)),
    ...(customization === undefined ? [] : [customizationWrite(path, customization)]),
    ...publishing(path, published, creates),
  ];
  if (!creates) {
    return { first: requests };
  }
  const create = request(operations.createSite, { body: present({ type, title, visibility }) }, creating(change));
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
    ? [request(operations.publishSite, { path }, { learns: mustBePublished })]
    : [request(operations.unpublishSite, { path })];
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

/** Returns the schema of the list of parts at the top level of a site. */
function structureSchema(parts: readonly StructurePart[]): z.ZodType<WrittenItem[]> {
  const entries = new Map<StructurePart, z.ZodType>();
  const lists = new Map<string, z.ZodType>();
  const itemsOf = (holder: string): z.ZodType => {
    const known = lists.get(holder);
    if (known !== undefined) {
      return known;
    }
    const held = parts.filter(({ heldBy }) => heldBy.includes(holder));
    const schemas = () => held.flatMap((part) => entries.get(part) ?? []);
    const error = `must be a mapping with ${alternatives(held.map((part) => part.words ?? part.key.member))}`;
    const [only] = schemas();
    const schema =
      held.length === 1 && only !== undefined ? only : z.lazy(() => z.union(schemas() as [z.ZodType], { error }));
    lists.set(holder, schema);
    return schema;
  };
  for (const part of parts) {
    entries.set(part, entryOf(part, itemsOf));
  }
  return z.array(itemsOf('site')) as unknown as z.ZodType<WrittenItem[]>;
}

function entryOf({ kind, key, table, holds }: StructurePart, itemsOf: (holder: string) => z.ZodType): z.ZodType {
  const { member, description, example } = key;
  const own = z
    .string()
    .regex(PART_KEY.pattern, { error: PART_KEY.error })
    .meta({ description, examples: [example] });
  if (holds === undefined) {
    return z.strictObject({ [member]: own, ...table.shape, ...commonShape });
  }
  const shape: Record<string, z.ZodType> = { [member]: own, ...table.shape };
  Object.defineProperty(shape, holds.member, { get: () => holds.schema(itemsOf(kind.name)), enumerable: true });
  return z.strictObject(Object.defineProperties(shape, Object.getOwnPropertyDescriptors(commonShape)));
}

function alternatives(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 3 ? words.join(' or ') : `${words.slice(0, -1).join(', ')}, or ${last}`;
}

function partOf(parts: readonly StructurePart[], item: WrittenItem): StructurePart | undefined {
  return parts.find(({ key }) => Object.hasOwn(item, key.member));
}

/** Declared parts, with the kind and the address of each. */
function partsIn(
  parts: readonly StructurePart[],
  site: string,
  items: readonly WrittenItem[],
): readonly (readonly [part: StructurePart, address: Address])[] {
  return items.flatMap((item) => {
    const part = partOf(parts, item);
    if (part === undefined) {
      return [];
    }
    const { kind, key, holds } = part;
    const inside = holds === undefined ? [] : ((item[holds.member] as readonly WrittenItem[] | undefined) ?? []);
    const address = `${kind.name}/${site}/${String(item[key.member])}`;
    return [[part, address] as const, ...partsIn(parts, site, inside)];
  });
}

/** Returns the parts that other declared parts of the site require, by the field of the site that lists them. */
function requiredParts(
  parts: readonly StructurePart[],
  site: string,
  items: readonly WrittenItem[],
): ReadonlyMap<string, readonly Address[]> {
  const declared = partsIn(parts, site, items);
  const needed = new Map(
    declared.flatMap(([{ requires }]) => (requires ? [[requires.field, requires.kind] as const] : [])),
  );
  return new Map(
    [...needed].map(([field, name]) => [
      field,
      declared.flatMap(([{ kind }, address]) => (kind.name === name ? [address] : [])),
    ]),
  );
}

/** Returns the declared parts of a site as resources of their own. */
function declareStructure(
  parts: readonly StructurePart[],
  site: string,
  items: readonly WrittenItem[],
  isSectioned: boolean,
  required: ReadonlyMap<string, readonly Address[]>,
  context: DeclareContext,
): readonly WrittenResource[] {
  const resources: WrittenResource[] = [];
  const seen = new Set<Address>();
  type Holder = { readonly address: Address; readonly key: string; readonly part: StructurePart };
  const declare = (list: readonly WrittenItem[], path: EntryPath, holder: Holder | null): void => {
    for (const [index, item] of list.entries()) {
      const part = partOf(parts, item);
      const here = [...path, index];
      if (part === undefined) {
        continue;
      }
      if (holder === null && isSectioned && part.isPlain === true) {
        context.problem(here, 'a site cannot mix sections and top-level spaces; move this space into a section');
        continue;
      }
      const { kind, key, table, holds, noun, requires } = part;
      if (requires !== undefined && required.get(requires.field)?.length === 0) {
        context.problem([...here, key.member], requires.problem);
      }
      const scope = holder?.part.holds?.isScope === true ? holder.key : site;
      const name = `${scope}/${String(item[key.member])}`;
      const address = `${kind.name}/${name}`;
      if (seen.has(address)) {
        context.problem([...here, key.member], `${address} is declared twice in this site; use distinct keys`);
      }
      seen.add(address);
      if (noun !== undefined) {
        checkTitle(item, 'title', noun, (text) => context.problem(here, text));
      }
      const inside = holds === undefined ? [] : ((item[holds.member] as readonly WrittenItem[] | undefined) ?? []);
      const addresses = inside.flatMap((each) => {
        const held = partOf(parts, each);
        return held === undefined ? [] : [`${held.kind.name}/${name}/${String(each[held.key.member])}`];
      });
      resources.push({
        kind: kind.name,
        key: name,
        path: here,
        fields: {
          ...table.declare(item, here, name),
          [part.holder]: holder?.address ?? null,
          ...(holds?.field === undefined ? {} : { [holds.field]: addresses }),
        },
        within: `site/${site}`,
        place: { list: holder?.address ?? `site/${site}`, index },
        common: commonFields(item),
      });
      declare(inside, [...here, holds?.member ?? ''], { address, key: name, part });
    }
  };
  declare(items, ['structure'], null);
  return resources;
}

/**
 * Reads the parts of a site, in display order, and its default part. Items that no part describes, such as external links,
 * are skipped: they keep their places, and the others keep their order around them.
 * Source: docs/platform-notes.md#external-links
 */
function observeStructure(parts: readonly StructurePart[], site: string, structure: readonly StructureItem[]): Detail {
  const found: Actual[] = [];
  let first: Json = null;
  const read = (items: readonly StructureItem[], holder: { id: string; part: StructurePart } | null): void => {
    const held = parts.filter(({ heldBy }) => heldBy.includes(holder?.part.kind.name ?? 'site'));
    // Items of a list that can contain only one kind do not always have a type.
    const only = held.length === 1 && holder !== null ? held[0] : undefined;
    for (const [index, item] of items.entries()) {
      const part = only ?? held.find(({ kind }) => item.object === itemType(kind.name));
      if (part === undefined) {
        continue;
      }
      const id = String(item.id);
      const facts = part.facts?.(item) ?? null;
      found.push({
        kind: part.kind.name,
        id,
        title: part.title?.(item) ?? String(item.title ?? ''),
        fields: { ...part.table.observe(item), [part.holder]: holder && idRef(holder.id, holder.part.kind.name) },
        within: site,
        place: { list: holder?.id ?? site, index },
        ...(facts === null ? {} : { facts }),
      });
      if (item.default === true && holder?.part.holds?.isScope !== true) {
        first = idRef(id, part.kind.name);
      }
      read(part.holds?.items(item) ?? [], { id, part });
    }
  };
  read(structure, null);
  return { fields: { default: first }, parts: found };
}

/** Describes the parts of a site. A part that cannot be declared is left out, with a note on its holder. */
function describeStructure(parts: readonly StructurePart[], site: Actual, context: DescribeContext) {
  /** Keys of the described parts, by id. */
  const described = new Map<string, string>();
  const definitionOf = ({ kind }: Actual) => parts.find((part) => part.kind.name === kind);
  /** Returns the key of a part that a field refers to; undefined if the part was not described. */
  const keyOf = (reference: Json | undefined) => (isIdRef(reference) ? described.get(reference.$id) : undefined);
  const describe = (holder: Actual, inside: readonly Actual[]): readonly Described[] =>
    inside.flatMap((actual): readonly Described[] => {
      const part = definitionOf(actual);
      const reason = part?.undeclarable?.(actual, context) ?? null;
      if (reason !== null) {
        context.note(holder, reason);
      }
      const items = part?.holds === undefined || reason !== null ? [] : describe(actual, context.partsOf(actual));
      if (part === undefined || reason !== null || (part.holds?.isRequired === true && items.length === 0)) {
        return [];
      }
      const own = context.keyOf(actual);
      described.set(actual.id, own);
      return [
        context.resource(actual, {
          [part.key.member]: own,
          ...part.table.describe(actual, context, keyOf),
          ...(part.holds === undefined ? {} : { [part.holds.member]: items }),
        }),
      ];
    });
  const inside = context.partsOf(site);
  const plain = inside.filter((actual) => definitionOf(actual)?.isPlain === true);
  if (plain.length > 0 && plain.length < inside.length) {
    context.note(site, 'its section groups are left out: they are not visible while the site has no sections');
  }
  return { structure: describe(site, plain.length === 0 ? inside : plain), keyOf };
}
