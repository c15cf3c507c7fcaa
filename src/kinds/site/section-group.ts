import { reference } from '../../plan/model/diff.ts';
import { counted } from '../../plan/render/words.ts';
import { operations } from '../../platform/operations/index.ts';
import { writtenFields } from '../model/field-table.ts';
import type { Kind } from '../model/kind.ts';
import { present, ref, request } from '../model/request.ts';
import { sortRequests } from './site-structure.ts';

interface GroupFields {
  title: string;
  icon: string | null;
  parent: string | null;
}

/** Groups of sections, nested. Declared in a site's structure. Source: docs/platform-notes.md#section-groups */
export const sectionGroup: Kind = {
  name: 'section-group',
  dependsOn: ['site'],
  partOf: 'site',
  creatable: true,
  deletable: true,
  manifest: null,
  observe: null,
  fields: {
    title: {},
    icon: {},
    // The parent of a group can be set only on creation. Source: docs/platform-notes.md#writable-fields
    parent: reference({ fixed: 'replace', placement: true }),
  },
  suggestedKeys: ({ title }) => [title],
  naturalKeys: (fields) =>
    typeof fields.title === 'string' ? [{ by: 'title', value: fields.title, parent: fields.parent ?? null }] : [],
  actualKeys: (actual, fields) => [{ by: 'title', value: actual.title, parent: fields.parent ?? null }],
  impact(actual) {
    const links = Number(actual.facts?.links ?? 0);
    return { weight: links, text: links === 0 ? '' : `${counted(links, 'link')} to elsewhere in it` };
  },
  renamedKey: (title, fields) => ({ by: 'title', value: title, parent: fields.parent ?? null }),
  writes(change) {
    const path = { siteId: ref(change.within), siteSectionGroupId: ref(change.address) };
    if (change.action === 'delete') {
      return { first: [request(operations.deleteSectionGroup, { path })] };
    }
    const { title, icon, parent } = writtenFields(change) as Partial<GroupFields>;
    if (change.action === 'move') {
      return { first: sortRequests(change) };
    }
    if (change.action === 'update') {
      return { first: [request(operations.updateSectionGroup, { path, body: present({ title, icon }) })] };
    }
    const create = request(
      operations.createSectionGroup,
      {
        path: { siteId: ref(change.within) },
        body: present({ title: title ?? '', icon, parent: parent ? ref(parent) : undefined }),
      },
      { creates: true, learns: (answer) => [[change.address, answer.id]] },
    );
    return { first: [create, ...sortRequests(change)] };
  },
};
