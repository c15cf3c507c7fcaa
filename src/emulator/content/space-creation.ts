// Operations that create and duplicate spaces.

import { z } from 'zod';
import { templateParams } from '../documents/content-reference.ts';
import { created } from '../model/answers.ts';
import { withDefaults } from '../model/creation-defaults.ts';
import { refuseLaterValues } from '../model/features.ts';
import { type ApiOperation, type Context, ORGANIZATION, operation, SPACE } from '../model/operation.ts';
import { editMode, emoji, id, language, text } from '../model/schema.ts';
import { requireOrganization } from '../organizations/people.ts';
import { referencedParent } from '../spaces/hierarchy.ts';
import type { SpaceRecord } from '../spaces/records.ts';
import { requireSpace, spaceById, viewSpace } from '../spaces/views.ts';
import { copyContent } from './content.ts';
import { writeContent } from './edit.ts';
import { templatePage } from './template.ts';

/** At most one of the ways to fill it. Source: docs/platform-notes.md#writable-fields */
const spaceCreation = z
  .strictObject({
    title: text(0, 50).optional(),
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

function location(context: Context, space: SpaceRecord): string {
  return `${context.base}/v1/spaces/${space.id}`;
}

/** Operations that create spaces with content. Source: docs/platform-notes.md#spaces */
export const spaceCreationOperations: readonly ApiOperation[] = [
  operation(
    'createSpace',
    'POST',
    `${ORGANIZATION}/spaces`,
    { feature: 'spaceCreation', body: spaceCreation.optional() },
    (call) => {
      const { store, body } = call;
      const organization = requireOrganization(call);
      refuseLaterValues(call, 'traditionalChinese', [body?.language], 'body.language');
      if (body?.parent !== undefined) {
        referencedParent(store, organization.id, body.parent);
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
      return created(viewSpace(call, spaceById(store, space.id)), location(call, space));
    },
  ),
  operation('duplicateSpace', 'POST', `${SPACE}/duplicate`, {}, (call) => {
    const { store } = call;
    const space = requireSpace(call);
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
  }),
];
