// Operations on spaces: settings, duplication, moves, transfer, deletion and restoration.

import * as z from 'zod';
import { isEmoji } from '../../../core/text/emoji.ts';
import { list, read, remove, write } from '../model/operation.ts';
import {
  givenText,
  language,
  level,
  mergeRules,
  move,
  optionalNumber,
  optionalText,
  permissions,
  readMergeRules,
  string,
  text,
  transfer,
  url,
  urls,
} from '../model/shapes.ts';
import { templateParams } from './content-shapes.ts';

export const space = z.looseObject({
  id: string,
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

const title = text(0, 50).optional();
const emoji = text(1, 50).refine(isEmoji, { error: 'must be an emoji, or its code points, such as 1f4d8' });

const editMode = z.enum(['live', 'locked']).optional();

/** Source of computed pages: the platform itself, or an integration. Source: docs/platform-notes.md#enumerations */
const computedType = z.union([
  z.enum(['builtin:openapi', 'builtin:translation']),
  z.string().regex(/^integration:[^:]+:[^:]+$/),
]);

/** At most one of a template, a computed source, or empty. Source: docs/platform-notes.md#writable-fields */
const creation = z
  .strictObject({
    title,
    emoji: emoji.optional(),
    parent: givenText,
    language: language.optional(),
    editMode,
    template: z.strictObject({ id: string, params: templateParams }).optional(),
    computedSource: z.looseObject({ type: computedType }).optional(),
    empty: z.literal(true).optional(),
  })
  .refine((body) => [body.template, body.computedSource, body.empty].filter((way) => way !== undefined).length <= 1, {
    error: 'must have at most one of template, computedSource and empty',
  });
/** An emoji or an icon. Null clears both. Source: docs/platform-notes.md#writable-fields */
const update = z
  .strictObject({
    title,
    emoji: emoji.nullable().optional(),
    icon: url.nullable().optional(),
    editMode,
    defaultLevel: level.optional(),
    language: language.optional(),
    mergeRules: mergeRules.optional(),
  })
  .refine((body) => !body.emoji || !body.icon, { error: 'must have an emoji or an icon, not both' });

/** Operations on spaces. Source: docs/platform-notes.md#spaces */
export const spaceOperations = {
  listSpaces: list('listSpaces', 'Lists the spaces of the organization.', '/v1/orgs/{organizationId}/spaces', space),
  createSpace: write('createSpace', 'Creates a space.', 'POST', '/v1/orgs/{organizationId}/spaces', {
    body: creation,
    answer: space,
    repeat: 'never',
    success: [200, 201],
  }),
  getSpace: read('getSpace', 'Returns a space.', '/v1/spaces/{spaceId}', space, {
    query: z.strictObject({ shareKey: givenText }),
  }),
  updateSpace: write('updateSpace', "Updates a space's settings.", 'PATCH', '/v1/spaces/{spaceId}', {
    body: update,
    answer: space,
    repeat: 'idempotent',
  }),
  deleteSpace: remove('deleteSpace', 'Deletes a space; it can be restored within 7 days.', '/v1/spaces/{spaceId}'),
  restoreSpace: write(
    'restoreSpace',
    'Restores a space that was deleted within the last 7 days.',
    'POST',
    '/v1/spaces/{spaceId}/restore',
    { answer: space, repeat: 'never' },
  ),
  duplicateSpace: write('duplicateSpace', 'Copies a space.', 'POST', '/v1/spaces/{spaceId}/duplicate', {
    answer: space,
    repeat: 'never',
    success: [200, 201],
  }),
  // A move that changes nothing is refused (409), so a repeated move would look like a failure.
  moveSpace: write(
    'moveSpace',
    'Moves a space into a collection, or among its siblings.',
    'POST',
    '/v1/spaces/{spaceId}/move',
    { body: move, answer: space, repeat: 'never' },
  ),
  transferSpace: write(
    'transferSpace',
    'Transfers a space to another organization.',
    'POST',
    '/v1/spaces/{spaceId}/transfer',
    {
      body: transfer,
      answer: space,
      repeat: 'never',
    },
  ),
};
