import { z } from 'zod';
import type { Address } from '../../core/address.ts';
import type { Json } from '../../core/json.ts';
import { commonFields, type DeclareContext, type EntryPath, Reference } from '../model/manifest.ts';
import { commonShape, entry, KEY_PATTERN, KEY_WORDS, key, objectOrFile, text } from '../model/schema.ts';
import { adaptiveSchema } from './adaptive-schema.ts';

/** Host and path, without a scheme. Source: docs/platform-notes.md#limits */
const PROXY = /^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(\/[\w-]+)+$/;

const ownKey = z.string().regex(KEY_PATTERN, { error: `is not a key (${KEY_WORDS})` });
const condition = text({ max: 1024, example: 'visitor.claims.locale == "fr"' })
  .nullable()
  .optional()
  .describe('Expression that decides who can see it; `null` means everyone.');
const icon = text({ max: 50, example: 'book' })
  .nullable()
  .optional()
  .describe('The name of an icon; `null` removes it.');

const siteSpace = z.strictObject({
  key: ownKey.meta({ description: 'The key, unique in its section.', examples: ['en'] }),
  space: key(
    'A key of `spaces`, or of `translations` for the space that the translation creates.',
    'space',
    'translation',
  ),
  path: text({ min: 1, max: 100, example: 'guides' }).optional().describe('The path on the site.'),
  condition,
  hidden: z.boolean().optional().describe('Hides it from navigation; requires platform 0.167 or later.'),
  ...commonShape,
});
type WrittenSiteSpace = z.output<typeof siteSpace>;

const section = z.strictObject({
  section: ownKey.meta({ description: 'The key of the section, unique in the site.', examples: ['guides'] }),
  title: text({ min: 2, max: 128, example: 'Guides' }).optional().describe('The title of the section.'),
  icon,
  path: text({ min: 1, max: 100, example: 'guides' }).optional().describe('The path on the site.'),
  description: text({ max: 256, example: 'From the first step on' })
    .nullable()
    .optional()
    .describe('The description; `null` removes it.'),
  condition,
  default: key('The key of the space that is shown first.', 'site-space').optional(),
  spaces: z
    .array(siteSpace)
    .min(1, { error: 'needs at least one space' })
    .describe('The spaces of the section, in order.'),
  ...commonShape,
});
type WrittenSection = z.output<typeof section>;

interface WrittenGroup {
  group: string;
  title?: string | undefined;
  icon?: string | null | undefined;
  items: (WrittenSection | WrittenGroup)[];
  id?: string | undefined;
}

const group: z.ZodType<WrittenGroup> = z.strictObject({
  group: ownKey.meta({ description: 'The key of the group, unique in the site.', examples: ['developers'] }),
  title: text({ min: 1, max: 100, example: 'Developers' }).optional().describe('The title of the group.'),
  icon,
  get items(): z.ZodType<(WrittenSection | WrittenGroup)[]> {
    return z.array(sectionOrGroup).describe('Sections and groups, in order.');
  },
  ...commonShape,
}) as never;

const sectionOrGroup: z.ZodType<WrittenSection | WrittenGroup> = z.lazy(() =>
  z.union([section, group], { error: 'must be a mapping with section or group' }),
);
const structureItem: z.ZodType<WrittenSection | WrittenGroup | WrittenSiteSpace> = z.lazy(() =>
  z.union([section, group, siteSpace], { error: 'must be a mapping with section, group, or key and space' }),
);

export const siteSchema = entry({
  title: text({ min: 2, max: 128, example: 'Acme Help' }).optional().describe('The title of the site.'),
  type: z
    .enum(['basic', 'premium', 'ultimate'])
    .optional()
    .describe('The plan of a new site. Octavo sets it on create only, and does not compare it.'),
  visibility: z
    .enum(['public', 'unlisted', 'share-link', 'visitor-auth'])
    .optional()
    .describe(
      'Who can read the site: anyone (`public`); anyone, but not indexed by search engines (`unlisted`); visitors with a secret link (`share-link`); visitors with a token (`visitor-auth`).',
    ),
  published: z.boolean().optional().describe('Whether the site is live.'),
  basename: text({ min: 1, max: 100, example: 'help' }).optional().describe('A short name for the path of the site.'),
  proxy: text({
    max: 512,
    pattern: PROXY,
    words: 'a host and a path without a scheme, such as acme.example/docs',
    example: 'acme.example/docs',
  })
    .nullable()
    .optional()
    .describe('Host and path of a proxy that serves the site; `null` removes it.'),
  agentsContext: z
    .enum(['included', 'excluded'])
    .optional()
    .describe('Whether the agent can read the site. Platform 0.167 and later do not have this setting.'),
  adaptiveContent: z
    .strictObject({ enabled: z.boolean().describe('Whether content adapts to the visitor.') })
    .optional()
    .describe('Adaptive content.'),
  adaptiveSchema: objectOrFile(adaptiveSchema)
    .optional()
    .describe(
      'The schema of visitor claims, usually `{ file: schemas/visitor.json }`: each claim has a type and a description, and each object has `additionalProperties: false`.',
    ),
  default: key(
    'The key of the section that is shown first, or of the site space if there are no sections.',
    'section',
    'site-space',
  ).optional(),
  structure: z
    .array(structureItem)
    .optional()
    .describe('Sections and groups, or spaces if the site has no sections, in display order.'),
});
export type WrittenSite = z.output<typeof siteSchema>;

/** Declares a site with all its parts. */
export function declareSite(name: string, fields: WrittenSite, context: DeclareContext): void {
  if (fields.title === undefined && fields.id === undefined) {
    context.problem([], 'needs a title, unless id says which site it is');
  }
  const items = fields.structure ?? [];
  const sectioned = items.some((item) => 'section' in item || 'group' in item);
  const { structure: _structure, adaptiveContent, adaptiveSchema: claims, default: first, ...rest } = fields;
  const { id: _id, renamedFrom: _renamed, protect: _protect, paused: _paused, ignore: _ignore, ...own } = rest;
  const kind = sectioned ? 'section' : 'site-space';
  context.add({
    kind: 'site',
    key: name,
    path: [],
    fields: {
      ...own,
      adaptiveContent: adaptiveContent?.enabled,
      adaptiveSchema: claims as Json | undefined,
      default: first && new Reference([kind], first, ['default'], `${name}/`),
    },
    within: null,
    place: null,
    common: commonFields(fields),
  });
  new StructureReader(name, sectioned, context).read(items, ['structure'], null);
}

/** Turns the nested structure of a site into resources of their own. */
class StructureReader {
  readonly #site: string;
  readonly #sectioned: boolean;
  readonly #context: DeclareContext;
  readonly #seen = new Map<string, EntryPath>();

  constructor(site: string, sectioned: boolean, context: DeclareContext) {
    this.#site = site;
    this.#sectioned = sectioned;
    this.#context = context;
  }

  read(
    items: readonly (WrittenSection | WrittenGroup | WrittenSiteSpace)[],
    path: EntryPath,
    group: Address | null,
  ): void {
    items.forEach((item, index) => {
      const here = [...path, index];
      const place = { list: group ?? `site/${this.#site}`, index };
      if ('group' in item) {
        this.#group(item, here, group, place);
      } else if ('section' in item) {
        this.#section(item, here, group, place);
      } else if (this.#sectioned) {
        this.#context.problem(here, 'stands beside sections: give it a section of its own, or have no sections at all');
      } else {
        this.#siteSpace(item, here, null, place);
      }
    });
  }

  #group(item: WrittenGroup, path: EntryPath, parent: Address | null, place: { list: Address; index: number }): void {
    const name = `${this.#site}/${item.group}`;
    this.#once(`section-group/${name}`, [...path, 'group']);
    if (item.title === undefined && item.id === undefined) {
      this.#context.problem(path, 'needs a title, unless id says which group it is');
    }
    this.#context.add({
      kind: 'section-group',
      key: name,
      path,
      fields: { title: item.title, icon: item.icon, parent },
      within: `site/${this.#site}`,
      place,
      common: commonFields(item as never),
    });
    this.read(item.items ?? [], [...path, 'items'], `section-group/${name}`);
  }

  #section(
    item: WrittenSection,
    path: EntryPath,
    group: Address | null,
    place: { list: Address; index: number },
  ): void {
    const name = `${this.#site}/${item.section}`;
    this.#once(`section/${name}`, [...path, 'section']);
    const spaces = (item.spaces ?? []).map((each) => `site-space/${name}/${each.key}`);
    const { title, icon, path: sitePath, description, condition: when, default: first } = item;
    this.#context.add({
      kind: 'section',
      key: name,
      path,
      fields: {
        title,
        icon,
        path: sitePath,
        description,
        condition: when,
        default: first && new Reference(['site-space'], first, [...path, 'default'], `${name}/`),
        group,
        spaces,
      },
      within: `site/${this.#site}`,
      place,
      common: commonFields(item),
    });
    (item.spaces ?? []).forEach((each, index) => {
      this.#siteSpace(each, [...path, 'spaces', index], name, { list: `section/${name}`, index });
    });
  }

  #siteSpace(
    item: WrittenSiteSpace,
    path: EntryPath,
    section: string | null,
    place: { list: Address; index: number },
  ): void {
    const name = `${section ?? this.#site}/${item.key}`;
    this.#once(`site-space/${name}`, [...path, 'key']);
    this.#context.add({
      kind: 'site-space',
      key: name,
      path,
      fields: {
        space: new Reference(['space', 'translation'], item.space, [...path, 'space']),
        path: item.path,
        condition: item.condition,
        hidden: item.hidden,
        section: section === null ? null : `section/${section}`,
      },
      within: `site/${this.#site}`,
      place,
      common: commonFields(item),
    });
  }

  #once(address: Address, path: EntryPath): void {
    if (this.#seen.has(address)) {
      this.#context.problem(path, `${address} is declared twice in this site; a key stands for one resource`);
    }
    this.#seen.set(address, path);
  }
}
