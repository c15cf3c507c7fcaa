import { parseTemplate } from '../../core/text/template.ts';
import { isReservedSubject } from '../model/ownership-marker.ts';
import type { Redaction } from '../model/redaction.ts';
import { cut, oneLine } from '../model/text-sanitizing.ts';
import type { LineValues } from './template.ts';

/** Longest subject, in characters. Source: docs/platform-notes.md#limits */
const MAX_SUBJECT_LENGTH = 100;

/**
 * Builds the redacted subject of a change request: one line of 1 to 100 UTF-16 code units, cut between grapheme
 * clusters.
 */
export function buildSubject(template: string, values: LineValues, { text: redact }: Pick<Redaction, 'text'>): string {
  const filled = parseTemplate(template).parts.map(({ text, name }) => text ?? values[name as keyof LineValues] ?? '');
  const subject = redact(oneLine(filled.join(''))) || `Issue cluster ${values.id}`;
  // A label cannot make it look like a draft or a superseded change request.
  return cut(isReservedSubject(subject) ? `Docs gap: ${subject}` : subject, MAX_SUBJECT_LENGTH);
}
