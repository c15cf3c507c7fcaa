/** A YAML file that may be a manifest, and the files it would name if it is one. */
export interface Candidate {
  readonly path: string;
  readonly names: readonly string[];
}

/** Which candidates are manifests. */
export interface Settled {
  readonly manifests: ReadonlySet<string>;
  /** Files that manifests name, which are no manifests themselves. */
  readonly named: ReadonlySet<string>;
  /** Files that name each other in a circle: neither manifest nor content. */
  readonly undecided: readonly string[];
}

/**
 * A file that a manifest names is not a manifest, and what it seems to name counts for nothing. So: what nobody names
 * is a manifest, what a manifest names is none, and what only such files name is decided in the next round.
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
  // The list grows while it is walked.
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
