/** Kind of the spaces, with the requests that copy one. */
import { z } from 'zod';
import type { Change, DeletedContents } from '../core/change.ts';
import { present } from '../core/json.ts';
import { isEmoji } from '../core/text/emoji.ts';
import { counted } from '../plan/render/words.ts';
import type { ContentPage } from '../platform/operations/content.ts';
import { operations } from '../platform/operations/index.ts';
import { checkTitle, listedKind } from './model/derived-kind.ts';
import { access, defaultLevel, ofExisting, parentAccess, titleField } from './model/field-table.ts';
import { describeGitSync, type GitSync, gitSyncFacts, gitSyncOf } from './model/git-sync.ts';
import { creating, type Kind, ref, request, type Writes } from './model/kind.ts';
import { mergeRulesField } from './model/merge-rules.ts';
import { key, LANGUAGES, line, text, url } from './model/schema.ts';

const listed = listedKind({
  name: 'space',
  section: 'spaces',
  parent: 'collection',
  summary: 'Spaces, which contain pages.',
  dependsOn: ['collection', 'team', 'member'],
  deletionNeedsApproval: true,
  operations: {
    list: operations.listSpaces,
    create: operations.createSpace,
    constants: { empty: true },
    update: operations.updateSpace,
    move: operations.moveSpace,
    delete: operations.deleteSpace,
  },
  fields: {
    title: titleField(line({ min: 1, max: 50, example: 'Guides' }).describe('The title of the space.')),
    emoji: {
      schema: text({ min: 1, max: 50, example: '1f4d8' })
        .refine(isEmoji, { error: 'must be an emoji, such as 📘, or its code points, such as 1f4d8' })
        .nullable()
        .describe('The emoji before the title; `null` removes it.'),
      read: ({ emoji }) => emoji || null,
    },
    icon: {
      schema: url('https://acme.example/icon.png')
        .nullable()
        .describe('The address of an image before the title, instead of an emoji; `null` removes it.'),
      read: ({ urls }) => urls?.icon || null,
    },
    collection: {
      schema: key('A key of `collections`; `null` means the top level.', 'collection').nullable(),
      move: true,
      parentRef: true,
      access: parentAccess('collection'),
      read: ({ parent }) => parent || null,
      parameter: 'parent',
    },
    language: z.enum(LANGUAGES).describe('The language of the content.'),
    editMode: access(
      z.enum(['live', 'locked']).describe('`locked` prevents direct edits.'),
      ofExisting(({ fields }) =>
        fields.editMode === 'live' ? [{ who: 'everyone who can edit', role: 'edit without a change request' }] : [],
      ),
    ),
    defaultLevel,
    mergeRules: mergeRulesField(),
    duplicateOf: {
      schema: key('A key of `spaces`. A new space is created as a copy of that space.', 'space'),
      fixed: 'create',
      access: ({ address, fields }) =>
        typeof fields.duplicateOf === 'string'
          ? [{ who: `everyone who has access to ${address}`, role: 'read its copy', to: fields.duplicateOf }]
          : [],
    },
  },
  permissions: 'space',
  check(entry, _key, context) {
    checkTitle(entry, 'title', 'space', (problem) => context.problem([], problem));
    if (typeof entry.emoji === 'string' && typeof entry.icon === 'string') {
      context.problem(['icon'], 'a space has an emoji or an icon, not both; remove one of them');
    }
  },
  isHidden: ({ deletedAt }) => Boolean(deletedAt),
  facts: ({ changeRequestsOpen, revision, gitSync }) => ({
    openChangeRequests: changeRequestsOpen ?? 0,
    revision: revision ?? null,
    ...gitSyncFacts(gitSync),
  }),
  notes(_declared, actual) {
    const sync = gitSyncOf(actual);
    return sync === null ? [] : [`${describeGitSync(sync)}: its pages come from there`];
  },
  impact({ facts }) {
    const { openChangeRequests, pages, lastEdit } = (facts ?? {}) as DeletedContents;
    const open = openChangeRequests ?? 0;
    const text = [
      pages === undefined ? '' : counted(pages, 'page'),
      lastEdit === undefined ? '' : `last edited ${lastEdit.slice(0, 10)}`,
      open === 0 ? '' : counted(open, 'open change request'),
      pages === undefined || pages === 0 ? '' : pagesAfterDeletion(gitSyncOf({ facts })),
    ];
    const contents = present({ pages, lastEdit, openChangeRequests: open });
    return { weight: 15 + open, text: text.filter((part) => part !== '').join(', '), contents };
  },
  async readContents({ id }, reader) {
    const input = { path: { spaceId: id }, query: { metadata: false } };
    return contentsOf((await reader.get(operations.getSpacePages, input)).pages);
  },
  copySource: ({ declared }) => (typeof declared.duplicateOf === 'string' ? declared.duplicateOf : undefined),
  example: 'guides: { title: Guides, collection: handbook, language: en, editMode: locked }',
});

/** Says where the pages of a deleted space are. Source: docs/platform-notes.md#deletions */
function pagesAfterDeletion(sync: GitSync | null): string {
  const kept = 'restorable for 7 days';
  return sync?.repository == null ? kept : `${kept}; the files stay in ${sync.repository}`;
}

/** Counts the pages of a tree, without its groups and links, and finds the last edit of one. */
function contentsOf(tree: readonly ContentPage[]): DeletedContents {
  let pages = 0;
  let last = Number.NEGATIVE_INFINITY;
  const left = [tree];
  for (let level = left.pop(); level !== undefined; level = left.pop()) {
    for (const page of level) {
      pages += page.type === 'group' || page.type === 'link' ? 0 : 1;
      const edited = Date.parse(page.updatedAt ?? '');
      if (edited > last) {
        last = edited;
      }
      if (page.pages) {
        left.push(page.pages);
      }
    }
  }
  return { pages, ...(Number.isFinite(last) ? { lastEdit: new Date(last).toISOString() } : {}) };
}

/** Spaces, which contain pages. Source: docs/platform-notes.md#spaces */
export const space: Kind = {
  ...listed,
  writes: (change, context) =>
    change.action === 'create' && change.declared.duplicateOf !== undefined
      ? copyWrites(change, (action) => listed.writes({ ...change, action }, context).first)
      : listed.writes(change, context),
};

/** Requests of a copy: it is created with the title and settings of its source, and then updated and moved. */
function copyWrites(change: Change, writesOf: (action: 'update' | 'move') => Writes['first']): Writes {
  const copy = request(
    operations.duplicateSpace,
    { path: { spaceId: ref(change.declared.duplicateOf) } },
    creating(change),
  );
  const isMoved = change.declared.collection !== undefined;
  return { first: [copy, ...writesOf('update'), ...(isMoved ? writesOf('move') : [])] };
}
