import { z } from 'zod';
import { ApiError, created, deleted, ok } from '../answers.ts';
import { copyContent } from '../content.ts';
import { writeContent } from '../content-edit.ts';
import { templateParams } from '../content-ref.ts';
import { withDefaults } from '../creation-defaults.ts';
import { deleteSpace, move, moveBody, parentReferenced, transferBody, transferSpace } from '../hierarchy.ts';
import { keptSpaceAt, organizationAt, spaceAt } from '../lookup.ts';
import { ruleNames } from '../merge-rules.ts';
import { type Context, type Operation, operation } from '../operation.ts';
import { listByRank } from '../paging.ts';
import { patched, present } from '../patch.ts';
import type { SpaceRecord } from '../records.ts';
import {
  defaultLevel,
  editMode,
  emoji,
  id,
  language,
  listQuery,
  mergeRules,
  shareQuery,
  text,
  url,
} from '../schema.ts';
import { templatePage } from '../template.ts';
import { refuseLater } from '../versions.ts';
import { viewSpace } from '../views/content.ts';

/** Source: docs/platform-notes.md#limits */
const title = text(0, 50);

/** At most one of the ways to fill it. Source: docs/platform-notes.md#writable-fields */
const spaceCreation = z
  .strictObject({
    title: title.optional(),
    emoji: emoji.optional(),
    parent: id.optional(),
    language: language.optional(),
    editMode: editMode.optional(),
    template: z.strictObject({ id, params: templateParams.optional() }).optional(),
    computedSource: z
      .looseObject({
        // Source: docs/platform-notes.md#enumerations
        type: z.union([
          z.enum(['builtin:openapi', 'builtin:translation']),
          z.string().regex(/^integration:[^:]+:[^:]+$/),
        ]),
      })
      .optional(),
    empty: z.literal(true).optional(),
  })
  .refine((body) => [body.template, body.computedSource, body.empty].filter((way) => way !== undefined).length <= 1, {
    error: 'must have at most one of template, computedSource and empty',
  });

/** An emoji or an icon, not both. Null clears, also both. Source: docs/platform-notes.md#writable-fields */
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

function location(context: Context, space: SpaceRecord): string {
  return `${context.base}/v1/spaces/${space.id}`;
}

const organizationLevel: readonly Operation[] = [
  operation({
    name: 'listSpaces',
    method: 'GET',
    path: '/orgs/{organizationId}/spaces',
    query: listQuery,
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      const spaces = call.store.spaces.by('organization', organization.id);
      return listByRank(call, spaces, (space) => viewSpace(call, space));
    },
  }),
  operation({
    name: 'createSpace',
    method: 'POST',
    path: '/orgs/{organizationId}/spaces',
    feature: 'spaceCreation',
    body: spaceCreation.optional(),
    handle: (call) => {
      const { store, body } = call;
      const organization = organizationAt(store, call.params.organizationId);
      refuseLater(call, 'traditionalChinese', [body?.language], 'body.language');
      if (body?.parent !== undefined) {
        parentReferenced(store, organization.id, body.parent);
      }
      const identity = store.identify('spc');
      const made: SpaceRecord = {
        ...identity,
        rank: identity.seq,
        organization: organization.id,
        title: body?.title ?? 'Untitled',
        emoji: body?.emoji,
        parent: body?.parent,
        language: body?.language,
        editMode: body?.editMode ?? 'live',
        defaultLevel: null,
        mergeRules: { type: 'inherit' },
        createdAt: call.at,
        updatedAt: call.at,
        revision: store.identify('rev').id,
      };
      const space = withDefaults(made, body, call.defaults.space);
      const pages = body?.template === undefined ? [] : [templatePage(call, { space }, body.template)];
      store.spaces.put(space);
      if (pages.length > 0) {
        writeContent(call, { space }, { pages });
      }
      return created(viewSpace(call, spaceAt(store, space.id)), location(call, space));
    },
  }),
];

const lifecycle: readonly Operation[] = [
  operation({
    name: 'getSpace',
    method: 'GET',
    path: '/spaces/{spaceId}',
    query: shareQuery,
    handle: (call) => ok(viewSpace(call, keptSpaceAt(call.store, call.now, call.params.spaceId))),
  }),
  operation({
    name: 'updateSpace',
    method: 'PATCH',
    path: '/spaces/{spaceId}',
    body: spaceUpdate,
    handle: (call) => {
      const space = spaceAt(call.store, call.params.spaceId);
      const { emoji, icon: iconUrl, ...rest } = call.body;
      refuseLater(call, 'traditionalChinese', [rest.language], 'body.language');
      refuseLater(call, 'authorMergeRules', ruleNames(rest.mergeRules), 'body.mergeRules.rules');
      const updated = call.store.spaces.put({
        ...space,
        ...present(rest),
        emoji: patched(space.emoji, iconUrl ? null : emoji),
        icon: patched(space.icon, emoji ? null : iconUrl),
        updatedAt: call.at,
      });
      return ok(viewSpace(call, updated));
    },
  }),
  operation({
    name: 'deleteSpace',
    method: 'DELETE',
    path: '/spaces/{spaceId}',
    handle: (call) => {
      const space = call.store.spaces.get(call.params.spaceId);
      if (space === undefined || space.deletedAt !== undefined) {
        return deleted(false);
      }
      deleteSpace(call.store, space, call.at);
      return deleted(true);
    },
  }),
  operation({
    name: 'restoreSpace',
    method: 'POST',
    path: '/spaces/{spaceId}/restore',
    handle: (call) => {
      const { store } = call;
      const space = keptSpaceAt(store, call.now, call.params.spaceId);
      if (space.deletedAt === undefined) {
        throw new ApiError(400, `Space "${space.id}" is not deleted`);
      }
      const parent = space.parent === undefined ? undefined : store.collections.get(space.parent)?.id;
      return ok(viewSpace(call, store.spaces.put({ ...space, parent, deletedAt: undefined })));
    },
  }),
];

/** Operations on spaces. Source: docs/platform-notes.md#spaces */
export const spaceOperations: readonly Operation[] = [
  ...organizationLevel,
  ...lifecycle,
  operation({
    name: 'duplicateSpace',
    method: 'POST',
    path: '/spaces/{spaceId}/duplicate',
    handle: (call) => {
      const { store } = call;
      const space = spaceAt(store, call.params.spaceId);
      const identity = store.identify('spc');
      const copy = store.spaces.put({
        ...space,
        ...identity,
        rank: identity.seq,
        createdAt: call.at,
        updatedAt: call.at,
        revision: store.identify('rev').id,
      });
      copyContent(store, space, copy);
      return created(viewSpace(call, copy), location(call, copy));
    },
  }),
  operation({
    name: 'moveSpace',
    method: 'POST',
    path: '/spaces/{spaceId}/move',
    body: moveBody,
    handle: (call) => {
      const record = spaceAt(call.store, call.params.spaceId);
      move(call.store, { type: 'space', record }, call.body);
      return ok(viewSpace(call, spaceAt(call.store, record.id)));
    },
  }),
  operation({
    name: 'transferSpace',
    method: 'POST',
    path: '/spaces/{spaceId}/transfer',
    feature: 'spaceTransfer',
    body: transferBody,
    handle: (call) => {
      const space = spaceAt(call.store, call.params.spaceId);
      transferSpace(call.store, space, call.body.organization);
      return ok(viewSpace(call, spaceAt(call.store, space.id)));
    },
  }),
];
