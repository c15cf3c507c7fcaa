import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { minifySync, transformSync } from 'rolldown/utils';

/** Digests of what the pictures of the web page are made from, so that a test finds pictures that show an older look. */
const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** The look of all pages, the pages that have a picture, and what the demo has to show on them. */
const SOURCES = [
  'src/web/assets/*.css',
  'src/web/html/*',
  'src/web/server/layout.ts',
  'src/web/pages/{organization,plan,passes,conversations,questions}.ts',
  'src/demo/*.ts',
  'examples/acme/*.yaml',
];

/** Returns the digest of each source, by path. Comments, types, formatting and local names do not count. */
export function pictureSources(): Readonly<Record<string, string>> {
  const paths = globSync(SOURCES, { cwd: ROOT }).sort();
  return Object.fromEntries(paths.map((path) => [path, digest(essence(path, readFileSync(`${ROOT}${path}`, 'utf8')))]));
}

function essence(path: string, text: string): string {
  if (path.endsWith('.ts')) {
    return minifySync(path, transformSync(path, text).code).code;
  }
  return path.endsWith('.css') ? text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\s+/g, ' ') : text;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
