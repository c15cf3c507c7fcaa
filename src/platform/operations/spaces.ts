import * as z from 'zod';
import { list, read, remove, write } from './operation.ts';
import {
  language,
  level,
  mergeRules,
  move,
  optionalNumber,
  optionalText,
  permissions,
  readMergeRules,
  text,
  urls,
} from './shapes.ts';

export const space = z.looseObject({
  id: z.string(),
  title: optionalText,
  emoji: optionalText,
  visibility: optionalText,
  deletedAt: optionalText,
  editMode: optionalText,
  mergeRules: readMergeRules,
  parent: optionalText,
  language: optionalText,
  revision: optionalText,
  defaultLevel: optionalText,
  changeRequestsOpen: optionalNumber,
  changeRequestsDraft: optionalNumber,
  urls,
  permissions,
});
/** Space, as read. */
export type Space = z.output<typeof space>;

const title = text(0, 50).optional();
const emoji = text(0, 50);
const editMode = z.enum(['live', 'locked']).optional();

/** Spaces. Lengths: supplement, section 5; what can be written: section 6. */
export const spaceOperations = {
  listSpaces: list('listSpaces', '/v1/orgs/{organizationId}/spaces', space),
  createSpace: write('createSpace', 'POST', '/v1/orgs/{organizationId}/spaces', {
    body: z.strictObject({
      title,
      emoji: emoji.optional(),
      parent: z.string().optional(),
      language: language.optional(),
      editMode,
      empty: z.boolean().optional(),
    }),
    answer: space,
    repeat: 'never',
    success: [200, 201],
  }),
  getSpace: read('getSpace', '/v1/spaces/{spaceId}', space, {
    query: z.strictObject({ shareKey: z.string().optional() }),
  }),
  updateSpace: write('updateSpace', 'PATCH', '/v1/spaces/{spaceId}', {
    body: z.strictObject({
      title,
      emoji: emoji.nullable().optional(),
      editMode,
      defaultLevel: level.optional(),
      language: language.optional(),
      mergeRules: mergeRules.optional(),
    }),
    answer: space,
    repeat: 'idempotent',
  }),
  deleteSpace: remove('deleteSpace', '/v1/spaces/{spaceId}'),
  restoreSpace: write('restoreSpace', 'POST', '/v1/spaces/{spaceId}/restore', { answer: space, repeat: 'never' }),
  duplicateSpace: write('duplicateSpace', 'POST', '/v1/spaces/{spaceId}/duplicate', {
    answer: space,
    repeat: 'never',
    success: [200, 201],
  }),
  // A move that changes nothing is refused (409), so that a second one would look like a failure.
  moveSpace: write('moveSpace', 'POST', '/v1/spaces/{spaceId}/move', { body: move, answer: space, repeat: 'never' }),
};
