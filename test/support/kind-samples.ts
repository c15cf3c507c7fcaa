/** The samples of the kinds, as complete manifests. */
import { parse, stringify } from 'yaml';
import type { Address } from '../../src/core/address.ts';
import { findVersion, getFeatures, type PlatformVersion } from '../../src/emulator/model/features.ts';
import type { Kind } from '../../src/kinds/model/kind.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { type KindSample, kindSamples } from '../contract/samples.ts';
import { declare } from './world.ts';

/** Emulated version for a sample without `since`. */
export const OLDEST = '0.146';

export type SampleStep = 'created' | 'updated' | 'cleared' | 'gone';

/** The sample of one kind, with its defaults filled in. */
export interface Sample {
  readonly kind: string;
  readonly address: Address;
  readonly version: PlatformVersion;
  readonly also: PlatformVersion | undefined;
  readonly storedIn: string;
  readonly drift: KindSample['drift'];
  /** The manifest of each step; undefined for a step that the sample does not have. */
  readonly steps: Readonly<Record<SampleStep, string | undefined>>;
}

/** Reads the sample of a kind. Throws Error if it is incomplete. */
async function sampleOf({ name, manifest }: Kind): Promise<Sample> {
  const sample = kindSamples[name];
  if (sample === undefined) {
    throw new Error(`${name}: every kind of the registry needs a sample in test/contract/samples.ts`);
  }
  const { base = '', since = OLDEST, also, storedIn, drift, updated, cleared, gone = '' } = sample;
  if (findVersion(getFeatures(since as PlatformVersion)) !== since) {
    throw new Error(`${name}: sample.since is ${since}, which is not a version of the embedded platform`);
  }
  const created = sample.created ?? (manifest === null ? undefined : exampleOf(manifest));
  if (created === undefined) {
    throw new Error(`${name}: sample.created is missing, and a part of a site has no example`);
  }
  const whole = (step: string) => `${base}\n${step}`;
  const without = await declare(whole(gone));
  const declared = [...(await declare(whole(created))).values()];
  const [resource, ...others] = declared.filter(({ kind, address }) => kind === name && !without.has(address));
  if (resource === undefined || others.length > 0) {
    throw new Error(`${name}: sample.created must have exactly one ${name} that sample.gone does not have`);
  }
  return {
    kind: name,
    address: resource.address,
    version: since as PlatformVersion,
    also: also as PlatformVersion | undefined,
    storedIn,
    drift,
    steps: {
      created: whole(created),
      updated: whole(updated),
      cleared: cleared === undefined ? undefined : whole(cleared),
      gone: whole(gone),
    },
  };
}

function exampleOf({ section, example }: { readonly section: string; readonly example: string }): string {
  return stringify({ [section]: parse(example) });
}

/** The samples of all kinds. */
export const samples: readonly Sample[] = await Promise.all(kinds.map(sampleOf));

/** The samples in each version for which they are meant. */
export const samplesByVersion: readonly Sample[] = samples.flatMap((each) => [
  each,
  ...(each.also === undefined ? [] : [{ ...each, version: each.also }]),
]);

/** Versions of the platform that together show every kind: the oldest, and the first version of each later kind. */
export const sampleVersions: readonly PlatformVersion[] = [
  ...new Set<PlatformVersion>([OLDEST, ...samples.map(({ version }) => version)]),
].sort();

/** Reports whether a version of the platform has the kind of a sample. */
export function isIn({ version: since }: Sample, version: PlatformVersion): boolean {
  return since <= version;
}
