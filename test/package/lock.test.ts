import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './pruned.ts';

interface Locked {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Readonly<Record<string, Locked>>;
};

describe('package-lock.json', () => {
  test('contains the optional packages of every platform, which npm ci requires', () => {
    const optional = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
      Object.keys(optionalDependencies),
    );
    const missing = optional.filter((name) => packages[`node_modules/${name}`] === undefined);
    expect(missing).toEqual([]);
  });

  /** Development programs for other systems, in versions that the registry in use here does not serve. */
  const UNSERVED = /^node_modules\/(?:@biomejs\/cli|@oxc-parser\/binding)-/;
  const unverified = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && integrity === undefined);

  test('has an integrity hash for every package', () => {
    expect(unverified.filter(([path]) => !UNSERVED.test(path))).toEqual([]);
    // The exception is for packages that are not needed to build or run Octavo.
    expect(unverified.filter(([, { dev, optional }]) => dev !== true || optional !== true)).toEqual([]);
  });

  test('names no registry', () => {
    expect(Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });
});
