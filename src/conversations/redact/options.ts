import type { ConversationsConfig } from '../../config/conversations.ts';
import type { RedactionOptions } from './redactor.ts';

/** Converts the redaction settings to the options of a redactor. */
export function redactionOptions({
  patterns,
  allow,
  disabledTypes,
  phoneRegions,
  guessNames,
}: ConversationsConfig['redact']): RedactionOptions {
  return { patterns, allow, off: disabledTypes, regions: phoneRegions, guessNames };
}
