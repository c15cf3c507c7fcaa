/** A YAML file that may be a manifest, and the files that it refers to if it is one. */
export interface Candidate {
  readonly path: string;
  readonly names: readonly string[];
}

/** Decision on which candidates are manifests. */
export interface Settled {
  readonly manifests: ReadonlySet<string>;
  /** Files that manifests refer to, which are not manifests themselves. */
  readonly named: ReadonlySet<string>;
  /** Files that refer to each other in a cycle: neither manifest nor content. */
  readonly undecided: readonly string[];
}

/**
 * Decides which candidates are manifests. A file that no candidate refers to is a manifest. A file that a manifest
 * refers to is content, and its own references are ignored. If all remaining references to a file come from content, it is a
 * manifest.
 */
export function settleManifests(candidates: readonly Candidate[]): Settled {
  const manifests = new Set<string>();
  const named = new Set<string>();
  const open = new Map(candidates.map(({ path, names }) => [path, new Set(names)]));
  const claims = new Map<string, number>();
  for (const name of [...open.values()].flatMap((names) => [...names])) {
    claims.set(name, (claims.get(name) ?? 0) + 1);
  }
  const decided = [...open.keys()].filter((path) => !claims.has(path));
  // The list grows during the iteration.
  for (const path of decided) {
    manifests.add(path);
    const fresh = [...(open.get(path) ?? [])].filter((name) => !named.has(name));
    open.delete(path);
    for (const name of fresh) {
      named.add(name);
    }
    for (const name of fresh) {
      for (const claimed of open.get(name) ?? []) {
        const left = (claims.get(claimed) ?? 0) - 1;
        claims.set(claimed, left);
        if (left === 0 && open.has(claimed) && !named.has(claimed)) {
          decided.push(claimed);
        }
      }
      open.delete(name);
    }
  }
  return { manifests, named, undecided: [...open.keys()] };
}
