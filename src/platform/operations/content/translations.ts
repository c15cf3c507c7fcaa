// Operations on translations of spaces.

import * as z from 'zod';
import { list, read, remove, write } from '../model/operation.ts';
import { language, optionalText, permissions, richDocument, string } from '../model/shapes.ts';

const translation = z.looseObject({
  id: string,
  status: optionalText,
  source: z.looseObject({ space: string, language: optionalText }),
  language: string,
  /** A rich document. */
  instructions: z.unknown().optional(),
  /** The space that holds the translation, once there is one. */
  result: z.looseObject({ space: optionalText, revision: optionalText }).nullish(),
  permissions,
});
/** Translations of spaces. */
export const translationOperations = {
  listTranslations: list(
    'listTranslations',
    'Lists the translations of spaces.',
    '/v1/orgs/{organizationId}/translations',
    translation,
  ),
  createTranslation: write(
    'createTranslation',
    'Creates a translation of a space into another language.',
    'POST',
    '/v1/orgs/{organizationId}/translations',
    {
      body: z.strictObject({
        language,
        source: z.strictObject({ space: string, language }),
        instructions: richDocument.optional(),
      }),
      answer: translation,
      repeat: 'never',
      success: [200, 201],
    },
  ),
  getTranslation: read(
    'getTranslation',
    'Returns a translation.',
    '/v1/orgs/{organizationId}/translations/{translationId}',
    translation,
  ),
  updateTranslation: write(
    'updateTranslation',
    "Updates a translation's instructions.",
    'PUT',
    '/v1/orgs/{organizationId}/translations/{translationId}',
    {
      body: z.strictObject({ instructions: richDocument }),
      answer: translation,
      repeat: 'idempotent',
    },
  ),
  deleteTranslation: remove(
    'deleteTranslation',
    'Deletes a translation.',
    '/v1/orgs/{organizationId}/translations/{translationId}',
  ),
  // A run uses up translated words, so a repeated run costs money.
  runTranslation: write(
    'runTranslation',
    'Runs a translation again.',
    'POST',
    '/v1/orgs/{organizationId}/translations/{translationId}/run',
    {
      repeat: 'never',
      success: [200, 204],
    },
  ),
};
