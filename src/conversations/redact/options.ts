import type { ConversationsConfig } from '../../config/conversations.ts';
import type { RedactionOptions } from './redactor.ts';

/** What the configuration says of redaction, as a redactor takes it. */
export function redactionOptions({
  patterns,
  allow,
  disabledTypes,
  phoneRegions,
}: ConversationsConfig['redact']): RedactionOptions {
  return { patterns, allow, off: disabledTypes, regions: phoneRegions };
}
