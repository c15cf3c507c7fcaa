// Operations that ask a question about the content, answered at once or as a stream.

import * as z from 'zod';
import { stream } from '../model/operation.ts';
import { format, givenText, optionalText, optionalTexts, text, texts } from '../model/shapes.ts';

/** Event of a response: the answer so far. Source: docs/platform-notes.md#ask */
const answered = z.looseObject({
  /** `answer`; events of other types are kept. */
  type: optionalText,
  answer: z
    .looseObject({
      /** Rich document or Markdown, depending on the requested format. */
      answer: z.unknown().optional(),
      followupQuestions: optionalTexts,
      sources: z
        .array(
          z.looseObject({
            type: optionalText,
            page: optionalText,
            revision: optionalText,
            space: optionalText,
            reason: optionalText,
          }),
        )
        .nullish(),
    })
    .nullish(),
});

/** Operations on the assistant of a docs site. */
export const askOperations = {
  askSite: stream(
    'askSite',
    'Asks the assistant of a docs site; the last event contains the complete answer.',
    '/v1/orgs/{organizationId}/sites/{siteId}/ask',
    {
      query: z.strictObject({ format }),
      body: z.strictObject({
        question: text(1, 512),
        scope: z.union([
          z.strictObject({ mode: z.literal('default'), currentSiteSpace: givenText }),
          z.strictObject({ mode: z.literal('specific'), siteSpaceIds: texts }),
          z.strictObject({ mode: z.literal('all') }),
        ]),
        context: z.strictObject({ siteSpaceId: givenText }).optional(),
      }),
      item: answered,
    },
  ),
};
