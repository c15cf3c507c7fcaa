import { z } from 'zod';
import type { Kind } from '../../src/kinds/model/kind.ts';
import {
  type CommonFields,
  commonFields,
  type ManifestRules,
  manifestRules,
  Reference,
  resourceOf,
} from '../../src/kinds/model/manifest.ts';
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

type FakeKind<Entry> = Pick<ManifestRules<Entry>, 'section' | 'entry' | 'summary' | 'example'> &
  Partial<ManifestRules<Entry>> & { readonly name: string; readonly fieldNames: readonly string[] };

/** Defines a kind with plain keys, whose entry is its only resource, unless other rules are given. */
function fakeKind<Entry extends CommonFields>({ name, fieldNames, ...rules }: FakeKind<Entry>): Kind {
  return {
    name,
    manifest: manifestRules<Entry>({
      single: false,
      key: plainKey,
      describe: () => 'is not described here',
      declare: (entryKey, value, context) => context.add(resourceOf(name, entryKey, ownFields(value), value)),
      ...rules,
    }),
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
  section: 'teams',
  entry: teamEntry,
  summary: 'Teams of people.',
  example: 'writers:\n  title: Docs writers',
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
  section: 'folders',
  entry: folderEntry,
  summary: 'Folders.',
  example: 'handbook: { title: Handbook }',
  declare: (entryKey, value, context) => {
    const { parent, owners, ...rest } = ownFields(value);
    if (rest.title === 'Forbidden') {
      context.problem(['title'], 'title must not be "Forbidden"');
    }
    const fields = {
      ...rest,
      parent: typeof parent === 'string' ? new Reference(['folder'], parent, ['parent']) : parent,
      owners: owners?.map((owner, index) => new Reference(['team', 'member'], owner, ['owners', index])),
    };
    context.add(resourceOf('folder', entryKey, fields, value));
  },
});

const memberEntry = entry({ role: role.optional() });

/** People: keys that are email addresses in any case. */
const member = fakeKind({
  name: 'member',
  fieldNames: ['role'],
  section: 'members',
  key: emailKey,
  normalizeKey: (written) => written.toLowerCase(),
  entry: memberEntry,
  summary: 'People.',
  example: 'ana@acme.example: { role: admin }',
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
  section: 'books',
  entry: bookEntry,
  summary: 'Books.',
  example: 'guide: { pages: [{ page: one }] }',
  declare: (entryKey, value, context) => {
    const { pages, start, about, ...rest } = ownFields(value);
    const fields = {
      ...rest,
      about: about === undefined ? undefined : new Reference(['team', 'folder'], about, ['about']),
      start: start === undefined ? undefined : new Reference(['page'], start, ['start'], `${entryKey}/`),
    };
    context.add(resourceOf('book', entryKey, fields, value));
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
});

const pageKind: Kind = { ...folder, name: 'page', manifest: null, fields: { next: {} } };

const organizationEntry = entry({ title: title.optional() });

/** A single resource that is a section itself. */
const organization = fakeKind({
  name: 'organization',
  fieldNames: ['title'],
  section: 'organization',
  single: true,
  entry: organizationEntry,
  summary: 'The organization.',
  example: 'title: Acme',
});

export const fakeKinds: readonly Kind[] = [organization, member, team, folder, book, pageKind];
