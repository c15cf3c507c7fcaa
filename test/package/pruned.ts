/** Lays out a package with its production dependencies only. */
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>;
}

/** Creates what `npm ci --omit=dev` would install at the top level, as links to what is installed here. */
export function linkProductionModules(folder: string): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const names = Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !dev && !devOptional)
    .map(([path]) => path);
  for (const path of names) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, path));
  }
  return names.map((path) => path.replace('node_modules/', ''));
}

/** Copies the files of a package or an image. */
export function copyInto(folder: string, paths: readonly string[]): void {
  for (const path of paths) {
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  }
}
