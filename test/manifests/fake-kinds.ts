import { z } from 'zod';
import type { Kind } from '../../src/kinds/model/kind.ts';
import { type CommonFields, commonFields, manifestRules, Reference } from '../../src/kinds/model/manifest.ts';
import {
  commonShape,
  emailKey,
  entry,
  key,
  objectOrFile,
  plainKey,
  role,
  text,
  textOrFile,
  url,
} from '../../src/kinds/model/schema.ts';

/** Returns the kind's own fields of an entry, without the common fields. */
function ownFields<Entry extends CommonFields>(entry: Entry): Omit<Entry, keyof CommonFields> {
  const { id, renamedFrom, protect, paused, ignore, ...own } = entry;
  return own;
}

type FakeKind = Pick<Kind, 'name' | 'manifest'> & { readonly fieldNames: readonly string[] };

function fakeKind({ name, manifest, fieldNames }: FakeKind): Kind {
  return {
    name,
    manifest,
    dependsOn: [],
    fields: Object.fromEntries(fieldNames.map((field) => [field, {}])),
    creatable: true,
    deletable: true,
    suggestedKeys: () => [],
    naturalKeys: () => [],
    actualKeys: () => [],
    observe: null,
    writes: () => {
      throw new Error('nothing is written here');
    },
  };
}

const title = text({ min: 2, max: 64 }).describe('What people call it.');

const teamEntry = entry({
  title: title.optional(),
  membership: z.enum(['exact', 'additive']).optional().describe('Whether others may be members.'),
  members: z.record(z.string(), role).optional().describe('Members and their roles.'),
  size: z.number().int().max(5).nullable().optional(),
  note: textOrFile({ max: 20 }).optional(),
  shape: objectOrFile(z.looseObject({})).optional(),
  site: url().nullable().optional(),
  source: z
    .union([z.strictObject({ url: url() }), z.strictObject({ text: z.string(), draft: z.boolean() })])
    .optional(),
});

/** Teams: scalar fields of many types. */
const team = fakeKind({
  name: 'team',
  fieldNames: ['title', 'membership', 'members', 'size', 'note', 'shape', 'site', 'source'],
  manifest: manifestRules({
    section: 'teams',
    single: false,
    key: plainKey,
    entry: teamEntry,
    describe: () => 'is not described here',
    summary: 'Teams of people.',
    example: 'writers:\n  title: Docs writers',
    declare: (entryKey, value, context) =>
      context.add({
        kind: 'team',
        key: entryKey,
        path: [],
        fields: ownFields(value),
        within: null,
        place: null,
        common: commonFields(value),
      }),
  }),
});

const folderEntry = entry({
  title,
  parent: key('The parent folder.').nullable().optional(),
  owners: z.array(z.string()).optional(),
});

/** Folders: a required field, and references to their own kind and to people or teams. */
const folder = fakeKind({
  name: 'folder',
  fieldNames: ['title', 'parent', 'owners'],
  manifest: manifestRules({
    section: 'folders',
    single: false,
    key: plainKey,
    entry: folderEntry,
    describe: () => 'is not described here',
    summary: 'Folders.',
    example: 'handbook: { title: Handbook }',
    declare: (entryKey, value, context) => {
      const { parent, owners, ...rest } = ownFields(value);
      if (rest.title === 'Forbidden') {
        context.problem(['title'], 'title must not be "Forbidden"');
      }
      context.add({
        kind: 'folder',
        key: entryKey,
        path: [],
        fields: {
          ...rest,
          parent: typeof parent === 'string' ? new Reference(['folder'], parent, ['parent']) : parent,
          owners: owners?.map((owner, index) => new Reference(['team', 'member'], owner, ['owners', index])),
        },
        within: null,
        place: null,
        common: commonFields(value),
      });
    },
  }),
});

const memberEntry = entry({ role: role.optional() });

/** People: keys that are email addresses in any case. */
const member = fakeKind({
  name: 'member',
  fieldNames: ['role'],
  manifest: manifestRules({
    section: 'members',
    single: false,
    key: emailKey,
    normalizeKey: (written) => written.toLowerCase(),
    entry: memberEntry,
    describe: () => 'is not described here',
    summary: 'People.',
    example: 'ana@acme.example: { role: admin }',
    declare: (entryKey, value, context) =>
      context.add({
        kind: 'member',
        key: entryKey,
        path: [],
        fields: ownFields(value),
        within: null,
        place: null,
        common: commonFields(value),
      }),
  }),
});

const page = z.strictObject({ page: key('Its key.'), next: key('The page after it.').optional(), ...commonShape });
const bookEntry = entry({
  title: title.optional(),
  start: z.string().optional(),
  about: key('A team or a folder.').optional(),
  pages: z.array(page).optional(),
});

/** Books: one entry that declares parts of itself, in order. */
const book = fakeKind({
  name: 'book',
  fieldNames: ['title', 'start', 'about'],
  manifest: manifestRules({
    section: 'books',
    single: false,
    key: plainKey,
    entry: bookEntry,
    describe: () => 'is not described here',
    summary: 'Books.',
    example: 'guide: { pages: [{ page: one }] }',
    declare: (entryKey, value, context) => {
      const { pages, start, about, ...rest } = ownFields(value);
      context.add({
        kind: 'book',
        key: entryKey,
        path: [],
        fields: {
          ...rest,
          about: about === undefined ? undefined : new Reference(['team', 'folder'], about, ['about']),
          start: start === undefined ? undefined : new Reference(['page'], start, ['start'], `${entryKey}/`),
        },
        within: null,
        place: null,
        common: commonFields(value),
      });
      for (const [index, item] of (pages ?? []).entries()) {
        context.add({
          kind: 'page',
          key: `${entryKey}/${item.page}`,
          path: ['pages', index],
          fields: {
            next:
              item.next === undefined
                ? undefined
                : new Reference(['page'], item.next, ['pages', index, 'next'], `${entryKey}/`),
          },
          within: `book/${entryKey}`,
          place: { list: `book/${entryKey}`, index },
          common: commonFields(item),
        });
      }
    },
  }),
});

const pageKind = fakeKind({ name: 'page', manifest: null, fieldNames: ['next'] });

const organizationEntry = entry({ title: title.optional() });

/** A single resource that is a section itself. */
const organization = fakeKind({
  name: 'organization',
  fieldNames: ['title'],
  manifest: manifestRules({
    section: 'organization',
    single: true,
    key: plainKey,
    entry: organizationEntry,
    describe: () => 'is not described here',
    summary: 'The organization.',
    example: 'title: Acme',
    declare: (entryKey, value, context) =>
      context.add({
        kind: 'organization',
        key: entryKey,
        path: [],
        fields: ownFields(value),
        within: null,
        place: null,
        common: commonFields(value),
      }),
  }),
});

export const fakeKinds: readonly Kind[] = [organization, member, team, folder, book, pageKind];
