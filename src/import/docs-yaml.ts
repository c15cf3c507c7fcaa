/** Converts the structure of a site between manifests and the `docs.yaml` of Git Sync. See docs/git-sync.md. */
import { parse } from 'yaml';
import { z } from 'zod';
import { type Address, keyOf } from '../core/address.ts';
import { ConfigError, DesiredStateError, type Problem, problemOfFile } from '../core/errors.ts';
import { isObject, present } from '../core/json.ts';
import type { Declared } from '../core/resource.ts';
import { KEY_PATTERN, LANGUAGES, line, lineOf, text, url } from '../kinds/model/schema.ts';
import { checkEntry } from '../manifests/check-entry.ts';
import { printable } from '../plan/render/words.ts';
import { slugOf } from './keys.ts';
import { yamlOf } from './yaml-text.ts';

/** Result of a conversion. */
export interface Converted {
  readonly text: string;
  /** Lines about what the other file cannot hold. */
  readonly left: readonly string[];
}

const texts = (max: number) => z.partialRecord(z.enum(LANGUAGES), line({ min: 1, max })).optional();
const key = line({ min: 1, max: 255 });
const icon = line({ max: 50 }).optional();
const condition = text({ max: 1024 }).optional();
const path = line({ min: 1, max: 100 });
const flag = z.boolean().optional();

const spaceNode = z.strictObject({
  type: z.literal('space'),
  key,
  title: line({ min: 1, max: 255 }),
  localizedTitle: texts(128),
  path,
  default: flag,
  hidden: flag,
  draft: flag,
  condition,
  content: z.strictObject({
    directory: line({ min: 1, max: 1024 })
      .refine((value) => !value.split('/').includes('..'), { error: 'must not leave its directory with ..' })
      .nullable(),
    language: z.enum(LANGUAGES).optional(),
  }),
});

const sectionNode = z.strictObject({
  type: z.literal('section'),
  key,
  title: line({ min: 2, max: 128 }),
  localizedTitle: texts(128),
  description: text({ max: 256 }).optional(),
  localizedDescription: texts(256),
  icon,
  default: flag,
  path,
  condition,
  children: z.array(spaceNode).optional(),
});

const linkNode = z.strictObject({
  type: z.literal('external-link'),
  key,
  title: line({ min: 2, max: 128 }),
  localizedTitle: texts(128),
  description: text({ max: 256 }).optional(),
  localizedDescription: texts(256),
  icon,
  url: url(),
  draft: flag,
  condition,
});

type SpaceNode = z.output<typeof spaceNode>;
type SectionNode = z.output<typeof sectionNode>;
type LinkNode = z.output<typeof linkNode>;
interface GroupNode {
  readonly type: 'section-group';
  readonly key: string;
  readonly title: string;
  readonly localizedTitle?: z.output<ReturnType<typeof texts>>;
  readonly icon?: string | undefined;
  readonly draft?: boolean | undefined;
  readonly children?: readonly (GroupNode | SectionNode | LinkNode)[] | undefined;
}
type Node = SpaceNode | SectionNode | LinkNode | GroupNode;

/** A group, and the groups in it: the file allows two levels. */
const groupNode = (children: z.ZodType) =>
  z.strictObject({
    type: z.literal('section-group'),
    key,
    title: line({ min: 1, max: 100 }),
    localizedTitle: texts(128),
    icon,
    draft: flag,
    children: z.array(children).optional(),
  });
const inner = groupNode(z.discriminatedUnion('type', [sectionNode, linkNode]));
const outer = groupNode(z.discriminatedUnion('type', [inner, sectionNode, linkNode]));

/** The vendor's GitSyncSiteConfig, with the rules that its description states. Source: docs/platform-notes.md#git-sync */
const docsYaml = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1).optional(),
  site: z.strictObject({
    title: line({ min: 1, max: 128 }),
    structure: z
      .array(z.discriminatedUnion('type', [outer, sectionNode, linkNode, spaceNode]))
      .superRefine((nodes, context) => {
        for (const message of ruleProblems(nodes as readonly Node[])) {
          context.addIssue({ code: 'custom', message });
        }
      }),
  }),
});
type DocsYaml = z.output<typeof docsYaml>;

function allNodes(nodes: readonly Node[]): readonly Node[] {
  return nodes.flatMap((node) => [node, ...('children' in node ? allNodes(node.children ?? []) : [])]);
}

function ruleProblems(structure: readonly Node[]): readonly string[] {
  const nodes = allNodes(structure);
  const sections = nodes.filter((node): node is SectionNode => node.type === 'section');
  const seen = new Set<string>();
  const repeated = nodes.filter((node) => seen.size === seen.add(node.key).size);
  const isOnly = (siblings: readonly (SectionNode | SpaceNode)[]) =>
    siblings.filter((node) => node.default === true).length === 1;
  const spaces = structure.filter((node): node is SpaceNode => node.type === 'space');
  const links = nodes.some(({ type }) => type === 'external-link');
  return [
    ...repeated.map((node) => `has two nodes with the key ${JSON.stringify(node.key)}`),
    ...(sections.length > 0 && spaces.length > 0 ? ['has sections, and spaces at the top level'] : []),
    ...(sections.length === 0 && links ? ['has an external link, which needs a section'] : []),
    ...(sections.length > 0 && !isOnly(sections) ? ['needs exactly one section with default: true'] : []),
    ...(spaces.length > 0 && !isOnly(spaces) ? ['needs exactly one space with default: true'] : []),
    ...sections
      .filter(({ children = [] }) => !isOnly(children))
      .map((section) => `needs exactly one space with default: true in the section ${JSON.stringify(section.key)}`),
  ];
}

/**
 * Returns the `docs.yaml` of a declared site.
 *
 * @throws ConfigError if it declares no structure, or one that the file cannot hold
 */
export function toDocsYaml(declared: ReadonlyMap<Address, Declared>, address: Address): Converted {
  const site = declared.get(address);
  const parts = [...declared.values()].filter(({ within, place }) => within === address && place !== null);
  if (site?.fields.structure === 'git-sync') {
    throw new ConfigError(`the structure of ${address} comes from docs.yaml already (structure: git-sync)`);
  }
  if (site === undefined || parts.length === 0) {
    throw new ConfigError(`${address} declares no structure that docs.yaml could hold`);
  }
  const left: string[] = [];
  const lists = Map.groupBy(
    parts.toSorted((a, b) => (a.place?.index ?? 0) - (b.place?.index ?? 0)),
    ({ place }) => place?.list ?? '',
  );
  const sections = parts.filter(({ kind }) => kind === 'section');
  const first = site.fields.default ?? (sections[0] ?? parts[0])?.address;
  const nodeOf = (part: Declared, chosen: unknown): object => {
    const {
      title,
      path: own,
      default: inside,
      space,
      group: _,
      parent: __,
      section: ___,
      spaces: ____,
      ...fields
    } = part.fields;
    const name = keyOf(part.address).slice(keyOf(address).length + 1);
    const head = { type: part.kind, key: `${part.kind}-${name.replaceAll('/', '-')}`, title: title ?? lastOf(name) };
    const common = { ...withoutEmpty(fields), default: part.address === chosen || undefined };
    const children = lists.get(part.address) ?? [];
    switch (part.kind) {
      case 'section': {
        if (fields.draft === true) {
          left.push(`${part.address}: docs.yaml has no draft of a section`);
        }
        const spaces = children.map((each) => nodeOf(each, inside ?? children[0]?.address));
        return { ...head, path: own ?? lastOf(name), ...common, draft: undefined, children: spaces };
      }
      case 'site-space': {
        const shown = declared.get(String(space));
        const isSpace = shown?.kind === 'space';
        if (!isSpace) {
          left.push(`${part.address}: it shows a translation, whose content is not in a directory`);
        }
        const content = {
          directory: isSpace ? `./${keyOf(shown.address)}` : null,
          language: isSpace ? shown.fields.language : shown?.fields.to,
        };
        const named = { ...head, type: 'space', key: `space-${name.replaceAll('/', '-')}` };
        const its = shown?.fields.title ?? lastOf(name);
        return { ...named, title: its, path: own ?? lastOf(name), ...common, content: present(content) };
      }
      default:
        return {
          ...head,
          ...common,
          ...(part.kind === 'section-group' ? { children: children.map((each) => nodeOf(each, first)) } : {}),
        };
    }
  };
  const structure = (lists.get(address) ?? []).map((part) => nodeOf(part, first));
  const file = { site: { title: site.fields.title ?? keyOf(address), structure } };
  const plain = JSON.parse(JSON.stringify(file)) as object;
  const { problems } = checkEntry(docsYaml, plain);
  if (problems !== null) {
    throw new ConfigError(`docs.yaml cannot hold ${address}: ${problems.map(({ message }) => message).join('; ')}`);
  }
  return { text: written(plain, left), left };
}

function lastOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** Fields without those that are cleared, false or empty, which the file leaves out. */
function withoutEmpty(fields: Declared['fields']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== false && value !== ''),
  );
}

function written(value: object, left: readonly string[]): string {
  const text = yamlOf(value, { notes: new Map(), nameOf: ({ file }) => file });
  return `${left.map((each) => `# Left out: ${printable(each)}\n`).join('')}${text}`;
}

/**
 * Returns the manifest with the site of a `docs.yaml` and its spaces, which are found by their titles.
 *
 * @param file name of the file, for problems
 * @throws DesiredStateError with every problem of the file
 */
export function fromDocsYaml(text: string, file: string): Converted {
  const { title, structure } = readDocsYaml(text, file).site;
  const left: string[] = [];
  const spaces: Record<string, object> = {};
  const byDirectory = new Map<string, string>();
  const taken = new Set<string>();
  /** A key of the manifest that is free in its scope, from the first of these names that gives one. */
  const freeKey = (scope: string, ...names: readonly string[]): string => {
    const valid = names.find((name) => KEY_PATTERN.test(name));
    const wanted = valid ?? names.map(slugOf).find((slug) => slug !== null) ?? 'item';
    let free = wanted;
    for (let suffix = 2; taken.has(`${scope} ${free}`); suffix += 1) {
      free = `${wanted}-${suffix}`;
    }
    taken.add(`${scope} ${free}`);
    return free;
  };
  const plainKey = ({ type, key: given }: Node) =>
    given.startsWith(`${type}-`) ? given.slice(type.length + 1) : given;
  const spaceItem = (node: SpaceNode, scope: string) => {
    const { content, localizedTitle, path: own } = node;
    const { directory } = content;
    const known = directory === null ? undefined : byDirectory.get(directory);
    const space = known ?? freeKey('space', ...(directory === null ? [] : [lastOf(directory)]), plainKey(node));
    spaces[space] ??= present({ title: node.title, language: content.language });
    if (directory !== null && known === undefined) {
      byDirectory.set(directory, space);
      left.push(`space/${space}: its pages are in ${directory}`);
    }
    if (localizedTitle !== undefined) {
      left.push(`space/${space}: localizedTitle, which the platform does not let anyone set`);
    }
    const name = freeKey(scope, own, plainKey(node));
    const { condition, hidden, draft } = node;
    return {
      isDefault: node.default === true,
      item: present({ key: name, space, path: own, condition, hidden, draft }),
    };
  };
  let first: string | undefined;
  const itemOf = (node: Node): object => {
    if (node.type === 'space') {
      const { item, isDefault } = spaceItem(node, 'site');
      first = isDefault ? String(item.key) : first;
      return item;
    }
    const name = freeKey(node.type, plainKey(node));
    if (node.type === 'section') {
      const { type: _, key: __, children = [], default: isDefault, ...fields } = node;
      const inside = children.map((each) => spaceItem(each, `section ${name}`));
      const chosen = inside.find((each) => each.isDefault)?.item.key;
      first = isDefault === true ? name : first;
      return { section: name, ...fields, default: chosen, spaces: inside.map(({ item }) => item) };
    }
    const { type: _, key: __, ...fields } = node;
    return node.type === 'external-link'
      ? { link: name, ...fields }
      : { group: name, ...fields, children: undefined, items: (node.children ?? []).map(itemOf) };
  };
  const items = (structure as readonly Node[]).map(itemOf);
  const site = present({ title, default: first, structure: items });
  const manifest = { spaces, sites: { [slugOf(title) ?? 'site']: site } };
  return { text: written(JSON.parse(JSON.stringify(manifest)) as object, left), left };
}

/** Reads and checks a `docs.yaml`. Throws DesiredStateError with every problem. */
function readDocsYaml(text: string, file: string): DocsYaml {
  const { value, problem } = parsed(text);
  if (problem !== undefined) {
    throw new DesiredStateError([problemOfFile(file, `is not valid YAML: ${problem}`)]);
  }
  if (!isObject(value)) {
    throw new DesiredStateError([problemOfFile(file, 'is not a mapping with the member site')]);
  }
  const { entry, problems } = checkEntry(docsYaml, value);
  if (problems !== null) {
    throw new DesiredStateError(
      problems.map(({ path, message }): Problem => {
        return { file, line: lineOf(text, path), column: 1, address: '', message };
      }),
    );
  }
  return entry as DocsYaml;
}

function parsed(text: string): { readonly value?: unknown; readonly problem?: string } {
  try {
    return { value: parse(text, { maxAliasCount: 100 }) };
  } catch (error) {
    // The parser's message begins with the problem, followed by the lines around it.
    return { problem: String(error instanceof Error ? error.message : error).split('\n')[0] ?? '' };
  }
}
