/** Index of kinds by their section in manifests and by name. */
import { type Address, addressOf } from '../core/address.ts';
import type { Kind } from '../kinds/model/kind.ts';
import type { ManifestRules } from '../kinds/model/manifest.ts';

/** A kind that has its own section in manifests. */
export interface SectionKind extends Kind {
  readonly manifest: ManifestRules;
}

/** Kinds by section and by name. */
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

/** Returns the address of an entry from its key as written. */
export function entryAddress(kind: SectionKind, writtenKey: string): Address {
  const { single, normalizeKey } = kind.manifest;
  return single ? kind.name : addressOf(kind.name, normalizeKey?.(writtenKey) ?? writtenKey);
}
