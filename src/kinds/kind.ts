import type { KindRules } from '../plan/rules.ts';
import type { ManifestRules } from './manifest.ts';

/** A kind of resource: all there is to know about it. A new kind is one file with one of these, and one line in the registry. */
export interface Kind extends KindRules {
  /** How it is written in manifests; null for a kind that another kind's entries declare, as a site does its sections. */
  readonly manifest: ManifestRules | null;
}
