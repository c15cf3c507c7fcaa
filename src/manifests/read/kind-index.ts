import { type Address, addressOf } from '../../core/address.ts';
import type { Kind } from '../../kinds/model/kind.ts';
import type { ManifestRules } from '../../kinds/model/manifest.ts';

/** A kind that has a section of its own in manifests. */
export interface SectionKind extends Kind {
  readonly manifest: ManifestRules;
}

/** The kinds by what a manifest calls them. */
export interface KindIndex {
  readonly sections: ReadonlyMap<string, SectionKind>;
  readonly byName: ReadonlyMap<string, Kind>;
}

export function indexKinds(kinds: readonly Kind[]): KindIndex {
  const sections = new Map<string, SectionKind>();
  for (const kind of kinds) {
    if (kind.manifest !== null) {
      sections.set(kind.manifest.section, kind as SectionKind);
    }
  }
  return { sections, byName: new Map(kinds.map((kind) => [kind.name, kind])) };
}

/** The address of a kind's entry, from the key as it is written. */
export function entryAddress(kind: SectionKind, writtenKey: string): Address {
  const { single, normalizeKey } = kind.manifest;
  return single ? kind.name : addressOf(kind.name, normalizeKey?.(writtenKey) ?? writtenKey);
}
