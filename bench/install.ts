/** Builds Octavo and installs it in a temporary folder, with the measuring programs. Needs only what `npm ci` installs. */
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { execFileSync } from '../test/support/programs.ts';

/** Paths of what is measured. */
export interface Installed {
  /** Home directory of the measured processes. */
  readonly home: string;
  /** Entry point of the installed package. */
  readonly octavo: string;
  /** Entry point of a checkout whose build is up to date. */
  readonly checkout: string;
  /** Manifests that belong to the package. */
  readonly example: string;
  /** Returns the path of a measuring program. */
  program(name: Program): string;
}

type Program = 'fleet-store' | 'history' | 'kong' | 'load' | 'outbox' | 'peer' | 'yaml-alone';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The files that a build is made from. */
const SOURCE = ['bin', 'examples', 'package-lock.json', 'package.json', 'scripts', 'src', 'tsconfig.json'];

export async function installPackage(folder: string): Promise<Installed> {
  const checkout = join(folder, 'checkout');
  const installed = join(folder, 'installed');
  const programs = join(folder, 'programs');
  for (const each of [checkout, installed, programs]) {
    mkdirSync(each);
    symlinkSync(join(ROOT, 'node_modules'), join(each, 'node_modules'));
  }
  copyFiles(ROOT, checkout, SOURCE);
  execFileSync(process.execPath, [join(checkout, 'scripts/build.ts')], { stdio: ['ignore', 'ignore', 'inherit'] });
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: readonly string[] };
  copyFiles(ROOT, installed, ['package.json', ...files.filter((path) => path !== 'dist')]);
  copyFiles(checkout, installed, ['dist']);
  await bundlePrograms(programs);
  mkdirSync(join(folder, 'home'));
  return {
    home: join(folder, 'home'),
    octavo: join(installed, 'bin/octavo.js'),
    checkout: join(checkout, 'bin/octavo.js'),
    example: join(installed, 'examples/acme'),
    program: (name) => join(programs, `${name}.js`),
  };
}

function copyFiles(from: string, to: string, paths: readonly string[]): void {
  for (const path of paths) {
    cpSync(join(from, path), join(to, path), { recursive: true });
  }
}

/** Bundles the programs, so that none of them is slower because it has to compile TypeScript. */
async function bundlePrograms(target: string): Promise<void> {
  const source = (name: string) => fileURLToPath(new URL(`process/${name}.ts`, import.meta.url));
  const names: readonly Program[] = ['fleet-store', 'history', 'kong', 'load', 'outbox', 'peer', 'yaml-alone'];
  const input = Object.fromEntries(names.map((name) => [name, source(name)]));
  // The same entry of the YAML library as in the build.
  const alias = { yaml: join(ROOT, 'node_modules/yaml/browser/index.js') };
  const programs = await rolldown({ input, platform: 'node', resolve: { alias }, external: ['pg-native'] });
  await programs.write({ dir: target, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' });
  await programs.close();
  const account = await rolldown({ input: source('account'), platform: 'node' });
  await account.write({ file: join(target, 'account.cjs'), format: 'cjs' });
  await account.close();
}
