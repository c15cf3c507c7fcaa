import type { ConversationsConfig } from '../../config/conversations.ts';
import type { RedactionOptions } from './redactor.ts';

/**
 * Converts the redaction settings to the options of a redactor. `products` are titles and keys of the organization's
 * resources, whose words are never guessed to be names.
 */
export function redactionOptions(
  { patterns, allow, disabledTypes, phoneRegions, guessNames }: ConversationsConfig['redact'],
  products: readonly string[] = [],
): RedactionOptions {
  return { patterns, allow, off: disabledTypes, regions: phoneRegions, guessNames, products };
}
