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
  let open = [...candidates];
  while (open.length > 0) {
    const claimed = new Set(open.flatMap((candidate) => candidate.names.filter((name) => !named.has(name))));
    const decided = open.filter(({ path }) => !claimed.has(path));
    if (decided.length === 0) {
      break;
    }
    for (const { path, names } of decided) {
      manifests.add(path);
      for (const name of names) {
        named.add(name);
      }
    }
    open = open.filter(({ path }) => !manifests.has(path) && !named.has(path));
  }
  return { manifests, named, undecided: open.map(({ path }) => path) };
}
