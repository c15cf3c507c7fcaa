/** Kind of the sections of a site. */
import { z } from 'zod';
import type { Address } from '../../core/address.ts';
import type { Change } from '../../core/change.ts';
import { present } from '../../core/json.ts';
import { counted } from '../../plan/render/words.ts';
import { operations, type Section } from '../../platform/operations/index.ts';
import type { Input } from '../../platform/operations/model/operation.ts';
import { titleField, writtenFields } from '../model/field-table.ts';
import { type Alternative, hasMembers, type PlannedRequest, ref, request } from '../model/kind.ts';
import { key, line } from '../model/schema.ts';
import {
  condition,
  description,
  draft,
  formerPaths,
  icon,
  localized,
  sectionAccess,
  sectionsSlot,
  seedOf,
  siteSlot,
  sortRequests,
  spacesOf,
  structurePart,
  textRequests,
  updateWrites,
} from './part.ts';

type Texts = Readonly<Record<string, string>> | null;
type SectionFields = Omit<Input<typeof operations.updateSection>['body'], 'localizedTitle' | 'localizedDescription'> & {
  readonly localizedTitle?: Texts;
  readonly localizedDescription?: Texts;
  readonly default?: string;
  readonly group?: string | null;
  readonly formerPaths?: readonly string[];
  readonly spaces?: readonly Address[];
};

/**
 * Sections of a site, declared in its structure. A section is created with a space, which becomes its default.
 * Source: docs/platform-notes.md#sections
 */
export const section = structurePart<Section>({
  name: 'section',
  dependsOn: ['site', 'section-group'],
  part: {
    key: { member: 'section', description: 'The key of the section, unique in the site.', example: 'guides' },
    heldBy: ['site', 'section-group'],
    holder: 'group',
    holds: {
      member: 'spaces',
      schema: (space) =>
        z.array(space).min(1, { error: 'needs at least one space' }).describe('The spaces of the section, in order.'),
      isScope: true,
      field: 'spaces',
      isRequired: true,
      items: ({ siteSpaces }) => siteSpaces ?? [],
    },
    facts: ({ siteSpaces }) => ({ siteSpaces: siteSpaces?.length ?? 0 }),
  },
  fields: {
    title: titleField(line({ min: 2, max: 128, example: 'Guides' }).describe('The title of the section.')),
    localizedTitle: localized('localizedTitle', 'title', 128),
    icon,
    path: line({ min: 1, max: 100, example: 'guides' }).describe('The path on the site.'),
    description,
    localizedDescription: localized('localizedDescription', 'description', 256),
    condition: { ...condition, access: sectionAccess },
    draft,
    // The space of the creation becomes the default. The platform replaces a deleted default.
    default: {
      schema: key('The key of the space that is shown first.', 'site-space'),
      isRelative: true,
      optionalRef: true,
      afterChildren: true,
      read: ({ siteSpaces }) => siteSpaces?.find((each) => each.default === true)?.id,
    },
    group: { refersTo: ['section-group'], isListed: false, move: true, placement: true },
    spaces: { declarationOnly: true },
    formerPaths,
  },
  suggestedKeys: ({ title, fields }) => [title, ...(typeof fields.path === 'string' ? [fields.path] : [])],
  // If only the first request of its creation succeeded, it has no path yet and is found by its title.
  naturalKeys: ({ path, title }) => [
    ...(typeof path === 'string' ? [{ by: 'path', value: path }] : []),
    ...(typeof title === 'string' ? [{ by: 'title', value: title }] : []),
  ],
  actualKeys: (actual) => [
    { by: 'path', value: String(actual.fields.path) },
    { by: 'title', value: actual.title },
  ],
  renamedKey: (title) => ({ by: 'title', value: title }),
  unique: 'path',
  impact(actual) {
    const count = Number(actual.facts?.siteSpaces ?? 0);
    return { weight: count, text: counted(count, 'site space') };
  },
  pendingReason(declared, context) {
    const spaces = spacesOf(declared.fields);
    const reasons = spaces.map((address) => {
      const space = context.declaredOf(address)?.fields.space;
      return typeof space === 'string' ? context.unusable(space) : null;
    });
    return reasons.includes(null) ? null : (reasons[0] ?? null);
  },
  seed(change, creation) {
    const { address, space } = seedOf(change, creation);
    return { address, refersTo: space.address };
  },
  /** The space of its creation must no longer be at the top level of the site. */
  needsVacant: ({ within, fields }, declaredOf) =>
    spacesOf(fields).map((address) => siteSlot(within, 'space', declaredOf(address)?.fields.space)),
  vacates: ({ within }) => [sectionsSlot(within)],
  writes(change, context) {
    const path = { siteId: ref(change.within), siteSectionId: ref(change.address) };
    if (change.action === 'delete') {
      return { first: [request(operations.deleteSection, { path })] };
    }
    const {
      default: first,
      group,
      spaces: _spaces,
      formerPaths: _former,
      ...fields
    } = writtenFields(change) as SectionFields;
    if (change.action === 'move') {
      const moved = group === undefined ? [] : [moveToGroup(change, group)];
      return { first: [...moved, ...sortRequests(change)] };
    }
    if (change.action === 'update') {
      const texts = {
        localizedTitle: fields.localizedTitle === null ? {} : fields.localizedTitle,
        localizedDescription: fields.localizedDescription === null ? {} : fields.localizedDescription,
      };
      const body = { ...fields, ...texts, defaultSiteSpace: first === undefined ? undefined : ref(first) };
      const update = request(operations.updateSection, { path, body: present(body) });
      return updateWrites(change, update, (body) => request(operations.updateSection, { path, body }));
    }
    const { title, icon, draft, localizedTitle: _title, localizedDescription: _description, ...rest } = fields;
    const seed = seedOf(change, (address) => context.creation(address));
    const create = request(
      operations.createSection,
      {
        path: { siteId: ref(change.within) },
        body: present({ spaceId: seed.space, title, icon, draft: draft || undefined }),
      },
      {
        creates: true,
        learns: (answer) => {
          const made = answer.siteSpaces?.[0]?.id;
          return [[change.address, answer.id], ...(made === undefined ? [] : [[seed.address, made] as const])];
        },
      },
    );
    const settings = hasMembers(rest) ? [request(operations.updateSection, { path, body: present(rest) })] : [];
    const grouped = group ? [moveToGroup(change, group)] : [];
    const texts = textRequests(change, operations.updateSection);
    return { first: [create, ...settings, ...texts, ...grouped, ...sortRequests(change)] };
  },
});

/**
 * Moves a section with the operations of the group or, from 0.181, with the section's own update.
 * Source: docs/platform-notes.md#sections
 */
function moveToGroup(change: Change, group: string | null): PlannedRequest {
  const siteId = ref(change.within);
  const siteSectionId = ref(change.address);
  const instead: Alternative = {
    feature: 'members of section groups',
    request: request(operations.updateSection, {
      path: { siteId, siteSectionId },
      body: { siteSectionGroupId: group === null ? null : ref(group) },
    }),
    isDone: isInGroup,
  };
  if (group !== null) {
    const path = { siteId, siteSectionGroupId: ref(group) };
    return request(
      operations.addSectionToGroup,
      { path, body: { sectionId: siteSectionId } },
      { sets: ['group'], instead },
    );
  }
  const before = change.fields.find((field) => field.path === 'group')?.from;
  const path = { siteId, siteSectionGroupId: ref(before ?? ''), siteSectionId };
  return request(operations.removeSectionFromGroup, { path }, { instead });
}

/**
 * Reports whether the answer confirms the group. An answer without a body confirms it.
 * Source: docs/platform-notes.md#answers-without-a-body
 */
function isInGroup(answer: unknown, input: unknown): boolean {
  const wanted = (input as Input<typeof operations.updateSection>).body.siteSectionGroupId;
  return answer === undefined || ((answer as Section).sectionGroup ?? null) === wanted;
}
