/** Kind of the spaces on a site. */
import { z } from 'zod';
import { RejectedError } from '../../core/errors.ts';
import { type Json, present } from '../../core/json.ts';
import { type Fields, isIdRef } from '../../core/resource.ts';
import type { ContentPage } from '../../platform/operations/content.ts';
import { operations, type SiteSpace } from '../../platform/operations/index.ts';
import type { Input } from '../../platform/operations/model/operation.ts';
import { ofExisting, writtenFields } from '../model/field-table.ts';
import { hasMembers, ref, request } from '../model/kind.ts';
import { key, line } from '../model/schema.ts';
import {
  condition,
  draft,
  formerPaths,
  sectionsSlot,
  seedOf,
  siteSlot,
  sortRequests,
  spaceAccess,
  spaceRef,
  structurePart,
  updateWrites,
} from './part.ts';

type SiteSpaceFields = Input<typeof operations.updateSiteSpace>['body'] & {
  readonly space?: string;
  readonly section?: string | null;
  readonly formerPaths?: readonly string[];
};

/** Spaces on a site, declared in its structure. Source: docs/platform-notes.md#site-spaces */
export const siteSpace = structurePart<SiteSpace>({
  name: 'site-space',
  dependsOn: ['site', 'section', 'space', 'translation'],
  part: {
    key: { member: 'key', description: 'The key, unique in its section.', example: 'en' },
    words: 'key and space',
    heldBy: ['site', 'section'],
    isPlain: true,
    holder: 'section',
    title: ({ title, path, id }) => title ?? path ?? id,
    // Some versions do not return it, and others may omit false. Source: docs/platform-notes.md#site-spaces
    facts: ({ hidden }) => (typeof hidden === 'boolean' ? null : { hidden: 'unknown' }),
    undeclarable: ({ fields, title }, context) =>
      context.keyOfRef(fields.space) === null
        ? `left out: ${String(fields.path ?? title)}, because its space does not exist`
        : null,
  },
  fields: {
    space: {
      schema: key(
        'A key of `spaces`, or of `translations` for the space that the translation creates.',
        'space',
        'translation',
      ),
      required: true,
      access: spaceAccess,
    },
    path: line({ min: 1, max: 100, example: 'guides' }).describe(
      'The path on the site. Without it, the platform chooses one that is free when the space is added.',
    ),
    condition,
    hidden: {
      schema: z.boolean().describe('Hides it from navigation; requires platform 0.167 or later.'),
      access: ofExisting(({ fields }) =>
        fields.hidden === true ? [] : [{ who: 'visitors', role: 'shown in navigation' }],
      ),
      toEntry: (value) => (value === true ? true : undefined),
    },
    draft,
    formerPaths,
    section: { refersTo: ['section'], isListed: false, fixed: 'replace', placement: true },
  },
  suggestedKeys: ({ fields }, context) => [
    ...(typeof fields.path === 'string' ? [fields.path] : []),
    context.keyOfRef(fields.space) ?? 'space',
  ],
  // If only the first request of its creation succeeded, it has no path yet and is found by its space.
  naturalKeys: (fields) => [
    ...(typeof fields.path === 'string' ? [keyIn(fields, 'path', fields.path)] : []),
    keyIn(fields, 'space', fields.space),
  ],
  actualKeys: (_actual, fields) => [keyIn(fields, 'path', fields.path), keyIn(fields, 'space', fields.space)],
  renamedKey: (path, fields) => keyIn(fields, 'path', path),
  notes: (declared, actual) =>
    declared.fields.hidden === true && actual.facts?.hidden !== undefined
      ? ['hidden: the platform did not return the current value; versions before 0.167 cannot hide a site space']
      : [],
  shows: 'space',
  async readFacts({ fields: { space } }, reader) {
    const path = { spaceId: isIdRef(space) ? space.$id : '' };
    const { pages } = await reader.get(operations.getSpacePages, { path, query: { metadata: false } });
    return { pages: Object.fromEntries(pagePaths(pages)) };
  },
  shownInstead({ address, within, declared }, before) {
    const shown = before(address)?.space;
    const isPublished = within !== null && before(within)?.published === true;
    return isPublished && shown !== undefined && typeof declared.space === 'string' && declared.space !== shown
      ? declared.space
      : null;
  },
  deletedWith: (fields) => fields.section,
  keepsOne: true,
  unique: 'path',
  /**
   * A space can be added to the top level of a site only if no section is left. The first section of a site takes over
   * the site spaces of the top level, and each space and each path can be in it only once.
   */
  needsVacant: ({ within, fields }) =>
    fields.section === null
      ? [sectionsSlot(within)]
      : [
          siteSlot(within, 'space', fields.space),
          ...(fields.path === undefined ? [] : [siteSlot(within, 'path', fields.path)]),
        ],
  vacates: ({ within, actual: { section, space, path } }) =>
    section === null ? [siteSlot(within, 'space', space), siteSlot(within, 'path', path)] : [],
  writes(change, context) {
    const path = { siteId: ref(change.within), siteSpaceId: ref(change.address) };
    if (change.action === 'delete') {
      return { first: [request(operations.deleteSiteSpace, { path })] };
    }
    if (change.action === 'move') {
      return { first: sortRequests(change) };
    }
    const { space, section, formerPaths: _formerPaths, ...rest } = writtenFields(change) as SiteSpaceFields;
    const checks = rest.hidden === true ? { learns: mustBeHidden } : {};
    if (change.action === 'update') {
      const spaceId = space === undefined ? undefined : spaceRef(space);
      const update = request(operations.updateSiteSpace, { path, body: present({ ...rest, spaceId }) }, checks);
      return updateWrites(change, update, (body) => request(operations.updateSiteSpace, { path, body }));
    }
    const holder = section ? context.creation(section) : undefined;
    const isSeed = holder !== undefined && seedOf(holder, context.creation).address === change.address;
    // Versions without drafts refuse the field, so it is sent only where it matters: before readers see the space.
    const isDraft = rest.draft || undefined;
    const others = { ...rest, draft: isSeed ? isDraft : undefined };
    const settings = hasMembers(others)
      ? [request(operations.updateSiteSpace, { path, body: present(others) }, checks)]
      : [];
    const create = request(
      operations.addSiteSpace,
      {
        path: { siteId: ref(change.within) },
        body: present({ spaceId: spaceRef(space), sectionId: section ? ref(section) : undefined, draft: isDraft }),
      },
      { creates: true, learns: (answer) => (answer === undefined ? [] : [[change.address, answer.id]]) },
    );
    return { first: [...(isSeed ? [] : [create]), ...settings, ...sortRequests(change)] };
  },
});

/** Returns the natural key of a site space, which is unique in its section. */
function keyIn({ section }: Fields, by: string, value: Json | undefined) {
  return { by, value: `${String(section ?? '')} ${String(value)}` };
}

/** Fails if the platform ignored `hidden`. Otherwise every plan would contain the change again. */
function mustBeHidden(answer: SiteSpace | undefined): [] {
  if (answer !== undefined && answer.hidden !== true) {
    throw new RejectedError(
      'updateSiteSpace: this version of the platform cannot hide a site space; remove hidden',
      400,
    );
  }
  return [];
}

/** Returns the path and the id of each page of a tree. */
function pagePaths(tree: readonly ContentPage[]): readonly (readonly [path: string, id: string])[] {
  const found: (readonly [string, string])[] = [];
  const left = [tree];
  for (let level = left.pop(); level !== undefined; level = left.pop()) {
    for (const { id, path, pages } of level) {
      found.push([path ?? '', id]);
      if (pages) {
        left.push(pages);
      }
    }
  }
  return found;
}
