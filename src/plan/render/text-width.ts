import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Returns the number of terminal columns of a text. The library for this is loaded only for texts beyond ASCII. */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) {
    return text.length;
  }
  const { default: stringWidth } = require('string-width') as typeof import('string-width');
  return stringWidth(text);
}
