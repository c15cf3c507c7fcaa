import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** How many columns of a terminal a text takes. The library that knows is loaded for texts beyond ASCII only. */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) {
    return text.length;
  }
  const { default: stringWidth } = require('string-width') as typeof import('string-width');
  return stringWidth(text);
}
