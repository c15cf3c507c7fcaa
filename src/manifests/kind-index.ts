import type { Kind } from '../kinds/kind.ts';
import type { ManifestRules } from '../kinds/manifest.ts';

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
