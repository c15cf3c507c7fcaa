/** Writes undeclared resources as manifests whose plan is empty: reads everything, chooses, drafts and checks. */
import { posix } from 'node:path';
import { type Address, addressOf } from '../core/address.ts';
import { AuthError, ConfigError, DesiredStateError, messageOf, RejectedError } from '../core/errors.ts';
import type { FileTree } from '../core/files/file-tree.ts';
import { compareText } from '../core/lists.ts';
import type { Actual, Declared, Observation } from '../core/resource.ts';
import { type Kind, withoutRefused } from '../kinds/model/kind.ts';
import { createManifestLoader, type ManifestLoader, type ManifestLoadOptions } from '../manifests/loader.ts';
import { findManifestFiles } from '../manifests/manifest-files.ts';
import { DEFAULT_POLICY } from '../plan/guard.ts';
import { identify } from '../plan/identity.ts';
import { computePlan } from '../plan/plan.ts';
import { printable } from '../plan/render/words.ts';
import type { Reader } from '../platform/client.ts';
import { type ActualResources, platformSource, settleAll } from '../reconcile/observe.ts';
import { ActualState, assignKeys, checkDraft, Decisions, makeDraft, referencesIn } from './draft.ts';
import { freePath, type ImportedFile, layOut } from './layout.ts';

interface ImportOptions {
  readonly kinds: readonly Kind[];
  /** Everything of the kinds that were read. */
  readonly observation: Observation;
  readonly choice: Choice;
  /** Existing manifest directory. */
  readonly tree: FileTree;
  readonly load: ManifestLoadOptions;
  /** Declarations of the existing manifests; null if there are none. */
  readonly existing: ExistingManifests | null;
  /** Folder of new files, relative to that of the manifests; empty: the same folder. */
  readonly folder: string;
}

export interface ExistingManifests {
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly manifests: ReadonlyMap<string, string>;
}

/** Result of an import. */
export interface Imported {
  readonly files: readonly ImportedFile[];
  /** Resources that cannot be declared, with the reason. */
  readonly omitted: readonly { readonly kind: string; readonly title: string; readonly reason: string }[];
}

/** Maximum number of drafts; each one shows which resources must be written differently. */
const TRIES = 12;

/**
 * Writes undeclared resources as manifests whose plan is empty: drafts the manifests, reads them back and plans. The
 * findings go into the next draft. Changes nothing on disk.
 *
 * @throws DesiredStateError if the existing manifests are ambiguous, or the new ones cannot be read
 * @throws ConfigError if no plan would read the new ones
 */
export async function importManifests(options: ImportOptions): Promise<Imported> {
  const importer = new Importer(options, await filesOf(options.tree));
  for (let tries = 1; ; tries += 1) {
    const before = importer.decisions.count;
    const files = importer.draft();
    const problems = importer.decisions.count === before ? await importer.verify(files) : [];
    if (importer.decisions.count === before || tries === TRIES) {
      if (problems.length > 0) {
        throw new DesiredStateError(problems);
      }
      return { files, omitted: importer.left() };
    }
  }
}

/** Returns files and the directories that contain them. */
async function filesOf(tree: FileTree): Promise<ReadonlySet<string>> {
  const paths = (await tree.list()).map(({ path }) => path.toLowerCase().split('/'));
  return new Set(paths.flatMap((parts) => parts.map((_, index) => parts.slice(0, index + 1).join('/'))));
}

class Importer {
  readonly decisions = new Decisions();
  readonly #options: ImportOptions;
  readonly #taken: ReadonlySet<string>;
  readonly #state: ActualState;
  readonly #loader: ManifestLoader;
  /** Resources that manifests already declare, with their addresses. */
  readonly #settled: ReadonlyMap<Actual, Address>;
  /** Resources that the last draft declares, with their addresses. */
  #drafted: ReadonlyMap<Actual, Address> = new Map();

  constructor(options: ImportOptions, taken: ReadonlySet<string>) {
    this.#options = options;
    this.#taken = taken;
    this.#state = new ActualState(options.observation);
    this.#loader = createManifestLoader(options.kinds);
    const { bound, problems } = this.#identify(options.existing?.declared ?? new Map());
    if (problems.length > 0) {
      throw new DesiredStateError(problems);
    }
    this.#settled = new Map([...bound].map(([address, actual]) => [actual, address]));
  }

  left(): Imported['omitted'] {
    return [...this.decisions.omitted]
      .map(([{ kind, title }, reason]) => ({ kind, title, reason }))
      .sort((a, b) => compareText(`${a.kind} ${a.title}`, `${b.kind} ${b.title}`));
  }

  draft(): readonly ImportedFile[] {
    const { kinds, observation, choice, existing, folder } = this.#options;
    const chosen = chooseResources(kinds, observation, this.#state, choice, this.#settled, this.decisions);
    const declared = existing?.declared ?? new Map<Address, Declared>();
    const isTaken = (path: string) => this.#taken.has(path.toLowerCase());
    const common = { kinds, state: this.#state, chosen };
    const keys = assignKeys({ ...common, alreadyDeclared: this.#settled, declared: declared.keys() });
    const draft = makeDraft({
      ...common,
      keys,
      decisions: this.decisions,
      freePath: (path) => freePath(posix.join(folder, path), isTaken),
    });
    checkDraft(draft, this.decisions);
    this.#drafted = new Map(
      [...draft.resources.values()].map((actual) => [actual, addressOf(actual.kind, keys.full.get(actual) ?? '')]),
    );
    return layOut({
      draft,
      declared: [...declared.values()],
      manifests: existing?.manifests ?? new Map(),
      folder,
      hasParts: (name) => kinds.some(({ partOf }) => partOf === name),
      isTaken,
    });
  }

  /** Reads and plans the draft; decides what has to be written differently, and returns the remaining problems. */
  async verify(files: readonly ImportedFile[]): Promise<DesiredStateError['problems']> {
    const { kinds, observation, tree, load } = this.#options;
    if (files.length === 0) {
      return [];
    }
    const written = new Map(files.map(({ path, text }) => [path, text]));
    const after = withFiles(tree, written);
    await this.#mustBeRead(files, after);
    const { declared } = await this.#loader.load(after, load);
    const known = this.#known(declared);
    const { count } = this.decisions;
    const problems = this.#bindMistaken(known);
    if (problems.length > 0 || this.decisions.count > count) {
      return problems;
    }
    const byAddress = new Map([...this.#drafted].map(([actual, address]) => [address, actual]));
    const { plan } = computePlan({
      organization: '',
      commit: null,
      baseCommit: null,
      kinds,
      declared: known,
      base: null,
      observation,
      policy: { ...DEFAULT_POLICY, now: 0 },
      cost: () => ({ requests: { reads: 0, writes: 0 }, seconds: 0 }),
    });
    for (const { action, address, fields } of plan.changes) {
      const actual = byAddress.get(address);
      if (actual !== undefined && (action === 'update' || action === 'move')) {
        for (const { path } of fields) {
          this.decisions.ignore(actual, path);
        }
      }
    }
    return [];
  }

  async #mustBeRead(files: readonly ImportedFile[], after: FileTree): Promise<void> {
    const { files: found } = await findManifestFiles(after, await after.list(), this.#options.load.config ?? null);
    const read = new Set(found.map(({ path }) => path));
    const unread = files.find(({ path, addresses }) => addresses.length > 0 && !read.has(path));
    if (unread !== undefined) {
      throw new ConfigError(
        `${printable(unread.path)} would not be read by any plan, because it is hidden or listed in .octavoignore; choose another --out`,
      );
    }
  }

  /**
   * Sets the id of each resource that its key does not identify. Parents and referenced resources come
   * first, because a child is usually identified once its parent is. Returns the problems that ids do not fix.
   */
  #bindMistaken(declared: ReadonlyMap<Address, Declared>): DesiredStateError['problems'] {
    const tried = new Map(declared);
    for (;;) {
      const { bound, problems } = this.#identify(tried);
      const mistaken = [...this.#drafted].filter(
        ([actual, address]) => bound.get(address) !== actual && (tried.get(address)?.id ?? null) === null,
      );
      const first = firstOf(this.#options.kinds, this.#state, new Map(mistaken));
      if (first.length === 0) {
        return problems;
      }
      for (const [actual, address] of first) {
        const resource = tried.get(address);
        this.decisions.ids.add(actual);
        if (resource === undefined) {
          return problems;
        }
        tried.set(address, { ...resource, id: actual.id });
      }
    }
  }

  #identify(declared: ReadonlyMap<Address, Declared>) {
    const { kinds, observation } = this.#options;
    return identify(kinds, this.#known(declared), null, observation);
  }

  /** Declarations of the kinds that were read; the others are unknown. */
  #known(declared: ReadonlyMap<Address, Declared>): ReadonlyMap<Address, Declared> {
    const { kinds } = this.#options.observation;
    return new Map([...declared].filter(([, { kind }]) => kinds.has(kind)));
  }
}

/**
 * Returns the mistaken resources of the first kind that has any. Of these, prefers those that refer to no other
 * mistaken resource.
 */
function firstOf(
  kinds: readonly Kind[],
  state: ActualState,
  mistaken: ReadonlyMap<Actual, Address>,
): readonly (readonly [Actual, Address])[] {
  const first = kinds.find(({ name }) => [...mistaken.keys()].some(({ kind }) => kind === name));
  const ofFirst = [...mistaken].filter(([{ kind }]) => kind === first?.name);
  const outer = ofFirst.filter(([{ fields }]) =>
    referencesIn(fields).every((reference) => state.resolveReference(reference).every((meant) => !mistaken.has(meant))),
  );
  return outer.length > 0 ? outer : ofFirst;
}

/** Selection of resources to import. */
export interface Choice {
  /** Names of kinds; empty: all. */
  readonly kinds: readonly string[];
  /** Sites by title or id; empty: all. */
  readonly sites: readonly string[];
}

/** Chooses the undeclared resources to import: the selected ones, and those that they refer to. */
function chooseResources(
  kinds: readonly Kind[],
  { kinds: observed }: Observation,
  state: ActualState,
  choice: Choice,
  declared: ReadonlyMap<Actual, Address>,
  { omitted }: Decisions,
): ReadonlySet<Actual> {
  const entries = new Set(kinds.filter(({ manifest }) => manifest !== null).map(({ name }) => name));
  const isOpen = (actual: Actual) => {
    const creator = state.creatorOf(actual);
    // The entry of the resource that created it declares it.
    const isMade = creator !== undefined && !omitted.has(creator);
    return entries.has(actual.kind) && !declared.has(actual) && !omitted.has(actual) && !isMade;
  };
  const first = [...observed.values()].flat().filter((actual) => isOpen(actual) && isWanted(actual, choice));
  const chosen = new Set<Actual>(first);
  // The set grows during the iteration, which visits the added items too.
  for (const actual of chosen) {
    for (const each of [actual, ...state.allPartsOf(actual)]) {
      for (const meant of referencesIn(each.fields).flatMap((reference) => state.resolveReference(reference))) {
        if (isOpen(meant) && kinds.find(({ name }) => name === meant.kind)?.creatable === true) {
          chosen.add(meant);
        }
      }
    }
  }
  return chosen;
}

function isWanted({ kind, id, title }: Actual, { kinds, sites }: Choice): boolean {
  const wanted = kinds.length > 0 ? kinds : sites.length > 0 ? ['site'] : null;
  const isNamed = kind !== 'site' || sites.length === 0 || sites.includes(title) || sites.includes(id);
  return isNamed && (wanted === null || wanted.includes(kind));
}

/** All resources of some kinds. */
export interface ReadAll {
  readonly observation: Observation;
  /** Kinds, and details of kinds, that the token may not read, or the platform does not have, with the reason. */
  readonly unread: readonly { readonly kind: string; readonly reason: string }[];
}

/**
 * Reads the wanted kinds and those that they refer to; an empty list means every kind. Throws errors that are not about
 * a single kind, and errors that affect every kind.
 */
export async function readAll(kinds: readonly Kind[], names: readonly string[], reader: Reader): Promise<ReadAll> {
  const wanted = withNeeded(kinds, names);
  const due = kinds.filter((kind) => kind.observe !== null && wanted.has(kind.name));
  const source = platformSource(reader);
  const all = { needsFields: () => true, needsParts: () => true };
  const refused = new Map<string, string>();
  const answers = await settleAll(
    due.map(async (kind) => {
      const tolerant = withoutRefused(kind, (name, error) => refused.set(`${name} of ${kind.name}`, messageOf(error)));
      return { kind, answer: await source.read([tolerant], all).catch(unreadable) };
    }),
  );
  const found = new Map<string, Actual[]>();
  const people = new Map<string, string>();
  const unread: { kind: string; reason: string }[] = [];
  for (const { kind, answer } of answers) {
    if ('reason' in answer) {
      unread.push({ kind: kind.name, reason: answer.reason });
      if (unread.length === answers.length) {
        // Not a kind, but the organization cannot be read.
        throw answer.error;
      }
      continue;
    }
    for (const name of [kind.name, ...kinds.filter((part) => part.partOf === kind.name).map((part) => part.name)]) {
      found.set(name, []);
    }
    for (const actual of answer.actuals) {
      found.get(actual.kind)?.push(actual);
    }
    for (const [email, id] of answer.people) {
      people.set(email, id);
    }
  }
  const details = [...refused].map(([kind, reason]) => ({ kind, reason }));
  return { observation: { kinds: found, people }, unread: [...unread, ...details] };
}

/** Adds the kinds that these refer to, transitively. */
function withNeeded(kinds: readonly Kind[], names: readonly string[]): ReadonlySet<string> {
  const needed = new Set(names.length === 0 ? kinds.map(({ name }) => name) : names);
  // The set grows during the iteration, which visits the added items too.
  for (const name of needed) {
    for (const kind of kinds.filter((each) => each.name === name || each.partOf === name)) {
      for (const other of kind.dependsOn) {
        needed.add(other);
      }
    }
  }
  return needed;
}

/** Treats a refusal for one kind as missing; throws any other error, such as a token that is not accepted. */
function unreadable(error: unknown): { readonly reason: string; readonly error: Error } | ActualResources {
  if (error instanceof RejectedError || (error instanceof AuthError && error.status !== 401)) {
    return { reason: messageOf(error), error };
  }
  throw error;
}

/** Returns a tree in which some files are already written. */
export function withFiles(tree: FileTree, files: ReadonlyMap<string, string>): FileTree {
  const encoded = new Map([...files].map(([path, text]) => [path, new TextEncoder().encode(text)]));
  return {
    label: tree.label,
    async list() {
      const there = (await tree.list()).filter(({ path }) => !files.has(path));
      const written = [...encoded].map(([path, { byteLength: size }]) => ({ path, size, version: null }));
      return [...there, ...written].sort((a, b) => (a.path < b.path ? -1 : 1));
    },
    read: async (path) => encoded.get(path) ?? tree.read(path),
    resolve: async (path) => (encoded.has(path) ? path : tree.resolve(path)),
    checkNamed: async (path) => (encoded.has(path) ? undefined : tree.checkNamed(path)),
  };
}
