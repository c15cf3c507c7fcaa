/**
 * Git Sync of sites and spaces: installations, which a person makes in the application, and what a synchronization
 * writes from the `docs.yaml` of the repository. Source: docs/platform-notes.md#git-sync
 */
import { z } from 'zod';
import { found, invalid, ok } from '../model/answers.ts';
import { type ApiOperation, type Context, ofFeature, operation, SITE } from '../model/operation.ts';
import { condition, icon, language, text, url } from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import type { GitInstallationRecord, SectionRecord, SiteRecord } from './records.ts';
import { addSection, addSiteSpace, removeGroup, removeSection, removeSiteSpace, siteSpacesIn } from './tree.ts';
import { requireSite } from './views.ts';

const texts = (max: number) => z.partialRecord(language, text(0, max));
const key = z.string().min(1);

const spaceNode = z.strictObject({
  type: z.literal('space'),
  key,
  title: z.string().min(1),
  localizedTitle: texts(128).optional(),
  path: text(1, 100),
  default: z.boolean().optional(),
  hidden: z.boolean().optional(),
  draft: z.boolean().optional(),
  condition: condition.optional(),
  content: z.strictObject({ directory: z.string().min(1).nullable(), language: language.optional() }),
});

const sectionNode = z.strictObject({
  type: z.literal('section'),
  key,
  title: text(2, 128),
  localizedTitle: texts(128).optional(),
  description: text(0, 256).optional(),
  localizedDescription: texts(256).optional(),
  icon: icon.optional(),
  default: z.boolean().optional(),
  path: text(1, 100),
  condition: condition.optional(),
  children: z.array(spaceNode).optional(),
});

const linkNode = z.strictObject({
  type: z.literal('external-link'),
  key,
  title: text(2, 128),
  localizedTitle: texts(128).optional(),
  description: text(0, 256).optional(),
  localizedDescription: texts(256).optional(),
  icon: icon.optional(),
  url: url(),
  draft: z.boolean().optional(),
  condition: condition.optional(),
});

interface GroupNode {
  readonly type: 'section-group';
  readonly key: string;
  readonly title: string;
  readonly localizedTitle?: z.output<ReturnType<typeof texts>> | undefined;
  readonly icon?: string | undefined;
  readonly draft?: boolean | undefined;
  readonly children?: readonly (GroupNode | SectionNode | LinkNode)[] | undefined;
}

type SpaceNode = z.output<typeof spaceNode>;
type SectionNode = z.output<typeof sectionNode>;
type LinkNode = z.output<typeof linkNode>;
type Node = SpaceNode | SectionNode | LinkNode | GroupNode;

const groupNode: z.ZodType<GroupNode> = z.lazy(() =>
  z.strictObject({
    type: z.literal('section-group'),
    key,
    title: text(1, 100),
    localizedTitle: texts(128).optional(),
    icon: icon.optional(),
    draft: z.boolean().optional(),
    children: z.array(z.union([groupNode, sectionNode, linkNode])).optional(),
  }),
);

/** The vendor's GitSyncSiteConfig. */
const siteConfig = z.object({
  $schema: z.string().optional(),
  version: z.literal(1).optional(),
  site: z.strictObject({
    title: z.string().min(1),
    structure: z.array(z.union([groupNode, sectionNode, spaceNode, linkNode])),
  }),
});

/** Adds an installation, as a person does in the application. */
export function installGitSync(
  store: EmulatorStore,
  at: string,
  given: Pick<GitInstallationRecord, 'organization' | 'repository' | 'branch' | 'priority'> & {
    readonly site?: string;
    readonly space?: string;
  },
): GitInstallationRecord {
  return store.gitInstallations.put({ ...store.identify('git'), ...given, status: 'active', createdAt: at });
}

/** Writes the structure and the title of a site from its `docs.yaml`. Throws a 400 if the file breaks a rule. */
export function syncSite(store: EmulatorStore, siteId: string, docs: unknown): void {
  const site = found(store.sites.get(siteId), 'Site', siteId);
  const read = siteConfig.safeParse(docs);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw invalid(['docs.yaml', ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is not valid');
  }
  const { title, structure } = read.data.site;
  const nodes = allNodes(structure);
  checkRules(structure, nodes);
  store.sites.put({ ...site, title });
  const keys = new Set(nodes.map((node) => node.key));
  const writer = new StructureWriter(store, site);
  for (const node of structure) {
    writer.write(node, undefined);
  }
  writer.removeAllBut(keys);
}

function allNodes(nodes: readonly Node[]): readonly Node[] {
  return nodes.flatMap((node) => [node, ...('children' in node ? allNodes(node.children ?? []) : [])]);
}

/** Rules of the vendor's GitSyncSiteStructure that no schema states. */
function checkRules(structure: readonly Node[], nodes: readonly Node[]): void {
  const isSectioned = nodes.some(({ type }) => type === 'section');
  const onlyDefault = (siblings: readonly Node[]) =>
    siblings.filter((node) => 'default' in node && node.default === true).length === 1;
  if (new Set(nodes.map((node) => node.key)).size < nodes.length) {
    throw invalid('docs.yaml', 'two nodes have the same key');
  }
  if (nodes.some(({ type }) => type === 'external-link') && !isSectioned) {
    throw invalid('docs.yaml', 'an external link needs a section');
  }
  if (isSectioned && structure.some(({ type }) => type === 'space')) {
    throw invalid('docs.yaml', 'a site with sections has no spaces at the top level');
  }
  const sections = nodes.filter((node): node is SectionNode => node.type === 'section');
  const lists = isSectioned ? [sections, ...sections.map(({ children = [] }) => children)] : [structure];
  if (nodes.length > 0 && !lists.every(onlyDefault)) {
    throw invalid('docs.yaml', 'each list of spaces, and the sections, have exactly one default');
  }
}

/** Writes nodes in order; a part that has the key of a node becomes this node. */
class StructureWriter {
  readonly #store: EmulatorStore;
  readonly #site: SiteRecord;

  constructor(store: EmulatorStore, site: SiteRecord) {
    this.#store = store;
    this.#site = site;
  }

  write(node: Node, holder: string | undefined): void {
    if (node.type === 'section') {
      this.#section(node, holder);
    } else if (node.type === 'section-group') {
      this.#group(node, holder);
    } else if (node.type === 'external-link') {
      this.#link(node, holder);
    } else {
      this.#space(node, undefined);
    }
  }

  removeAllBut(keys: ReadonlySet<string>): void {
    const { siteSpaces, sections, sectionGroups, externalLinks } = this.#store;
    const isLeft = ({ gitKey = '' }: { readonly gitKey?: string | undefined }) => !keys.has(gitKey);
    for (const link of externalLinks.by('site', this.#site.id).filter(isLeft)) {
      externalLinks.remove(link.id);
    }
    for (const section of sections.by('site', this.#site.id).filter(isLeft)) {
      removeSection(this.#store, section);
    }
    for (const group of sectionGroups.by('site', this.#site.id).filter(isLeft)) {
      removeGroup(this.#store, group);
    }
    for (const siteSpace of siteSpaces.by('site', this.#site.id).filter(isLeft)) {
      removeSiteSpace(this.#store, siteSpace);
    }
  }

  #section({ children = [], ...node }: SectionNode, group: string | undefined): void {
    const { sections, siteSpaces } = this.#store;
    const first = children[0];
    if (first === undefined) {
      throw invalid('docs.yaml', `section "${node.key}" has no space`);
    }
    const known = sections.by('site', this.#site.id).find((each) => matches(each, node));
    const made = known ?? addSection(this.#store, this.#site, this.#content(first), { title: node.title });
    if (known === undefined) {
      const [seed] = siteSpacesIn(this.#store, made.id);
      siteSpaces.put({ ...(seed as NonNullable<typeof seed>), gitKey: first.key });
    }
    for (const child of children) {
      this.#space(child, made);
    }
    const chosen = siteSpaces.by('site', this.#site.id).find(({ gitKey }) => {
      return children.some((child) => child.key === gitKey && child.default === true);
    });
    const { type: _, key: gitKey, default: isDefault, ...fields } = node;
    sections.put({
      ...made,
      ...CLEARED,
      ...fields,
      gitKey,
      group,
      rank: this.#store.next(),
      defaultSiteSpace: chosen?.id ?? made.defaultSiteSpace,
    });
    const site = this.#store.sites.get(this.#site.id);
    if (isDefault === true && site !== undefined) {
      this.#store.sites.put({ ...site, defaultSection: made.id });
    }
  }

  #space(node: SpaceNode, section: SectionRecord | undefined): void {
    const { siteSpaces } = this.#store;
    const content = this.#content(node);
    const known = siteSpacesIn(this.#store, section?.id ?? this.#site.id).find(
      (each) => each.gitKey === node.key || each.space === content.id,
    );
    const made = known ?? addSiteSpace(this.#store, this.#site, section, content);
    const { path, condition, hidden = false, draft } = node;
    siteSpaces.put({ ...made, gitKey: node.key, path, condition, hidden, draft, rank: this.#store.next() });
  }

  #group({ type: _, key: gitKey, children = [], ...fields }: GroupNode, parent: string | undefined): void {
    const { sectionGroups } = this.#store;
    const known = sectionGroups
      .by('site', this.#site.id)
      .find((each) => each.gitKey === gitKey || (each.gitKey === undefined && each.title === fields.title));
    const identity = known ?? { ...this.#store.identify('sitesg'), site: this.#site.id };
    const group = sectionGroups.put({ ...identity, ...CLEARED, ...fields, gitKey, parent, rank: this.#store.next() });
    for (const child of children) {
      this.write(child, group.id);
    }
  }

  #link({ type: _, key: gitKey, draft = false, ...fields }: LinkNode, group: string | undefined): void {
    const { externalLinks } = this.#store;
    const known = externalLinks.by('site', this.#site.id).find((each) => each.gitKey === gitKey);
    const identity = known ?? { ...this.#store.identify('sitelk'), site: this.#site.id };
    externalLinks.put({ ...identity, ...CLEARED, ...fields, draft, gitKey, group, rank: this.#store.next() });
  }

  /** The space with this title, or a new one: a directory is one space. */
  #content({ title, content }: SpaceNode) {
    const { spaces } = this.#store;
    const { organization } = this.#site;
    const at = this.#site.createdAt;
    const known = spaces.by('organization', organization).find((each) => each.title === title);
    const identity = this.#store.identify('spc');
    return (
      known ??
      spaces.put({
        ...identity,
        rank: identity.seq,
        organization,
        title,
        language: content.language,
        editMode: 'live',
        defaultLevel: 'inherit',
        mergeRules: { type: 'inherit' },
        createdAt: at,
        updatedAt: at,
        revision: this.#store.identify('rev').id,
      })
    );
  }
}

/** Fields that a node without them clears. */
const CLEARED = {
  description: undefined,
  icon: undefined,
  condition: undefined,
  localizedTitle: undefined,
  localizedDescription: undefined,
};

/** A section that was there before the first synchronization is found by its path. */
function matches({ gitKey, path }: SectionRecord, node: Omit<SectionNode, 'children'>): boolean {
  return gitKey === undefined ? path === node.path : gitKey === node.key;
}

/** GitSyncInstallation. */
function viewInstallation(context: Context, installation: GitInstallationRecord): unknown {
  const { id, site, space, repository, branch, priority, status, createdAt } = installation;
  const ref = `refs/heads/${branch}`;
  return {
    object: 'git-sync-installation',
    id,
    target: site === undefined ? { type: 'space', spaceId: space } : { type: 'site', siteId: site },
    status,
    provider: 'github',
    providerConfiguration: { repositoryId: 1, branch: ref },
    priority,
    repositoryConnection: {
      object: 'git-repository-connection',
      id: `${id}-connection`,
      provider: 'github',
      repositoryId: '1',
      repositoryName: repository,
      repositoryUrl: `https://github.com/${repository}`,
      authState: 'active',
      capabilities: { pullRequests: true, commitStatuses: true },
      createdAt,
      updatedAt: createdAt,
    },
    repositoryRef: { object: 'git-repository-ref', id: `${id}-ref`, name: ref, type: 'branch', updatedAt: createdAt },
    createdAt,
    createdBy: context.caller.user,
    updatedAt: createdAt,
    urls: { location: `${context.base}/v1/git/installations/${id}` },
  };
}

const getInstallation = operation(
  'getGitSyncInstallationById',
  'GET',
  '/git/installations/{installationId}',
  {},
  (call) => {
    const { installationId } = call.params;
    const installation = call.store.gitInstallations.get(installationId);
    return ok(viewInstallation(call, found(installation, 'Git Sync installation', installationId)));
  },
);

const listInstallations = operation(
  'listSiteGitSyncInstallations',
  'GET',
  `${SITE}/spaces/git/installations`,
  {},
  (call) => {
    const { store } = call;
    const site = requireSite(call);
    const shown = new Set(store.siteSpaces.by('site', site.id).map(({ space }) => space));
    const items = store.gitInstallations
      .by('organization', site.organization)
      .filter((each) => each.site === site.id || shown.has(each.space ?? ''));
    return ok({ items: items.map((each) => viewInstallation(call, each)) });
  },
);

/** Operations on installations of Git Sync: of spaces from 0.181, of sites from 0.201. */
export const gitSyncOperations: readonly ApiOperation[] = [
  ...ofFeature('gitSync', [getInstallation]),
  ...ofFeature('siteGitSync', [listInstallations]),
];
