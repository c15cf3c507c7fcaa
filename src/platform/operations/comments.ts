import * as z from 'zod';
import { list, write } from './operation.ts';
import { optionalText, richDocument, urls, user } from './shapes.ts';

const comment = z.looseObject({
  id: z.string(),
  postedBy: user.nullish(),
  postedAt: optionalText,
  /** `{markdown}` or `{document}`, as the format asked for (supplement, section 9). */
  body: z.looseObject({ markdown: optionalText, document: z.unknown().optional() }).nullish(),
  status: optionalText,
  urls,
});

/** Comments on change requests. */
export const commentOperations = {
  listChangeRequestComments: list(
    'listChangeRequestComments',
    '/v1/spaces/{spaceId}/change-requests/{changeRequestId}/comments',
    comment,
    {
      order: z.enum(['asc', 'desc']).optional(),
      format: z.enum(['document', 'markdown']).optional(),
      status: z.enum(['all', 'open', 'resolved']).optional(),
      targetPage: z.string().optional(),
      authors: z.array(z.string()).optional(),
    },
  ),
  postChangeRequestComment: write(
    'postChangeRequestComment',
    'POST',
    '/v1/spaces/{spaceId}/change-requests/{changeRequestId}/comments',
    {
      body: z.strictObject({
        body: z.union([z.strictObject({ markdown: z.string() }), z.strictObject({ document: richDocument })]),
        page: z.string().optional(),
        node: z.string().optional(),
      }),
      answer: comment,
      repeat: 'never',
      success: [200, 201],
    },
  ),
};
