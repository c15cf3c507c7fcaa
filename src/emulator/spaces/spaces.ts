// Operations on spaces.

import { z } from 'zod';
import { ApiError, deleted, ok } from '../model/answers.ts';
import { refuseLaterValues } from '../model/features.ts';
import { type ApiOperation, ORGANIZATION, operation, SPACE } from '../model/operation.ts';
import { list, listByRank } from '../model/paging.ts';
import { omitUndefined, patched } from '../model/patch.ts';
import {
  defaultLevel,
  editMode,
  emoji,
  getRuleNames,
  language,
  listQuery,
  mergeRules,
  shareQuery,
  text,
  url,
} from '../model/schema.ts';
import { requireMember, requireOrganization } from '../organizations/people.ts';
import { deleteSpace, move, moveBody, transferBody, transferSpace } from './hierarchy.ts';
import { requireSpace, restorableSpaceById, spaceById, viewSpace } from './views.ts';

/** Source: docs/platform-notes.md#limits */
const title = text(0, 50);

/** An emoji or an icon, not both. Null clears; both may be null. Source: docs/platform-notes.md#writable-fields */
const spaceUpdate = z
  .strictObject({
    title: title.optional(),
    editMode: editMode.optional(),
    defaultLevel: defaultLevel.optional(),
    language: language.optional(),
    mergeRules: mergeRules.optional(),
    emoji: emoji.nullable().optional(),
    icon: url().nullable().optional(),
  })
  .refine((body) => !body.emoji || !body.icon, {
    error: 'must have an emoji or an icon, not both',
  });

const listMemberSpacesQuery = listQuery.extend({ order: z.enum(['asc', 'desc']).optional() });

const organizationLevel: readonly ApiOperation[] = [
  operation('listSpaces', 'GET', `${ORGANIZATION}/spaces`, { query: listQuery }, (call) => {
    const organization = requireOrganization(call);
    const spaces = call.store.spaces.by('organization', organization.id);
    return listByRank(call, spaces, viewSpace);
  }),
  operation(
    'listMemberSpaces',
    'GET',
    `${ORGANIZATION}/members/{userId}/spaces`,
    { query: listMemberSpacesQuery },
    (call) => {
      const member = requireMember(call);
      const spaces = member.role === null ? [] : call.store.spaces.by('organization', member.organization);
      return list(call, {
        items: spaces,
        key: (space) => [space.seq, 0],
        descending: call.query.order !== 'asc',
        view: (_, space) => ({ permission: member.role, space: viewSpace(call, space) }),
      });
    },
  ),
];

const lifecycle: readonly ApiOperation[] = [
  operation('getSpace', 'GET', SPACE, { query: shareQuery }, (call) =>
    ok(viewSpace(call, restorableSpaceById(call.store, call.now, call.params.spaceId))),
  ),
  operation('updateSpace', 'PATCH', SPACE, { body: spaceUpdate }, (call) => {
    const space = requireSpace(call);
    const { emoji, icon: iconUrl, ...rest } = call.body;
    refuseLaterValues(call, 'traditionalChinese', [rest.language], 'body.language');
    refuseLaterValues(call, 'authorMergeRules', getRuleNames(rest.mergeRules), 'body.mergeRules.rules');
    const updated = call.store.spaces.put({
      ...space,
      ...omitUndefined(rest),
      emoji: patched(space.emoji, iconUrl ? null : emoji),
      icon: patched(space.icon, emoji ? null : iconUrl),
      updatedAt: call.at,
    });
    return ok(viewSpace(call, updated));
  }),
  operation('deleteSpace', 'DELETE', SPACE, {}, (call) => {
    const space = call.store.spaces.get(call.params.spaceId);
    if (space === undefined || space.deletedAt !== undefined) {
      return deleted(false);
    }
    deleteSpace(call.store, space, call.at);
    return deleted(true);
  }),
  operation('restoreSpace', 'POST', `${SPACE}/restore`, {}, (call) => {
    const { store } = call;
    const space = restorableSpaceById(store, call.now, call.params.spaceId);
    if (space.deletedAt === undefined) {
      throw new ApiError(400, `Space "${space.id}" is not deleted`);
    }
    const parent = space.parent === undefined ? undefined : store.collections.get(space.parent)?.id;
    return ok(viewSpace(call, store.spaces.put({ ...space, parent, deletedAt: undefined })));
  }),
];

/** Operations on spaces. Source: docs/platform-notes.md#spaces */
export const spaceOperations: readonly ApiOperation[] = [
  ...organizationLevel,
  ...lifecycle,
  operation('moveSpace', 'POST', `${SPACE}/move`, { body: moveBody }, (call) => {
    const record = requireSpace(call);
    move(call.store, { type: 'space', record }, call.body);
    return ok(viewSpace(call, spaceById(call.store, record.id)));
  }),
  operation('transferSpace', 'POST', `${SPACE}/transfer`, { feature: 'spaceTransfer', body: transferBody }, (call) => {
    const space = requireSpace(call);
    transferSpace(call.store, space, call.body.organization);
    return ok(viewSpace(call, spaceById(call.store, space.id)));
  }),
];
