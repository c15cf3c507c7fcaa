/** Helpers that compare a text with its expected redaction. */
import { createConversationRedactor, type RedactionOptions } from '../../../src/conversations/redact/redactor.ts';

const redactor = createConversationRedactor();

/** A text with detected values replaced by their placeholders. */
export function redactText(text: string, options?: RedactionOptions): string {
  const [explained] = (options === undefined ? redactor : createConversationRedactor(options)).explain(text);
  return explained?.redacted ?? '';
}

/** Reads `before <<secret>> after`: the text, and its expected redaction. */
export function marked(template: string): { readonly text: string; readonly expected: string } {
  let number = 0;
  const expected = template.replaceAll(/<<.+?>>/gs, () => {
    number += 1;
    return `[SECRET_${number}]`;
  });
  return { text: template.replaceAll(/<<|>>/g, ''), expected };
}
