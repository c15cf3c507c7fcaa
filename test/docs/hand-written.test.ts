import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { referencePages } from '../../scripts/docs.ts';
import { loadConfig } from '../../src/config/load.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { manifestJsonSchema } from '../../src/manifests/json-schema.ts';
import { createManifestLoader } from '../../src/manifests/loader.ts';
import { memoryTree } from '../support/memory-tree.ts';
import { anchorsOf } from './citations.ts';
import { commandLinesIn, faultOf } from './command-lines.ts';

const KINDS = kinds.map(({ name }) => name);
const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(at('docs')).map((name) => `docs/${name}`),
  ...readdirSync(at('examples'), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.md') && !name.startsWith('acme'))
    .map((name) => `examples/${name}`),
];
const text = (page: string) => readFileSync(at(page), 'utf8');

/** The fenced blocks of a language. */
function blocks(page: string, language: string): readonly string[] {
  return [...text(page).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter((match) => match[1] === language)
    .map((match) => match[2] ?? '');
}

describe('every page', () => {
  test.each(pages)('%s: links lead somewhere', (page) => {
    const links = [...text(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
    const broken = links.filter(([, path = '', anchor]) => {
      const target = path === '' ? at(page) : new URL(path, at(page));
      const name = target.pathname.slice(at('').pathname.length);
      return !existsSync(target) || (anchor !== undefined && !anchorsOf(text(name)).includes(anchor));
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test.each(pages)('%s: commands are ones that there are', (page) => {
    const lines = blocks(page, 'sh').flatMap(commandLinesIn);
    expect(lines.map((line) => [line, faultOf(line)]).filter(([, fault]) => fault !== null)).toEqual([]);
  });

  test.each(pages)('%s: scripts are in package.json', (page) => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
    const named = [...text(page).matchAll(/npm run ([a-z:]+)/g)].map((match) => match[1] ?? '');
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  test.each(pages)('%s: YAML can be read', (page) => {
    const wrong = blocks(page, 'yaml').flatMap((block) => parseAllDocuments(block).flatMap(({ errors }) => errors));
    expect(wrong).toEqual([]);
  });
});

describe('the first YAML of every page', () => {
  const firsts = pages.flatMap((page) =>
    blocks(page, 'yaml')
      .slice(0, 1)
      .map((block) => [page, block] as const),
  );

  test.each(firsts)('%s: loads as a configuration, as manifests, or as a workflow', async (_, block) => {
    const names = Object.keys(parse(block));
    if (names.includes('jobs')) {
      return;
    }
    if (names.includes('organizations')) {
      const env = new Proxy({}, { get: () => 'value' });
      const config = loadConfig({ text: block, file: 'config.yaml', env, readFile: () => 'value', kinds: KINDS });
      expect(config.organizations.length).toBeGreaterThan(0);
      return;
    }
    const { declared } = await createManifestLoader(kinds).load(memoryTree({ 'page.yaml': block }));
    expect(declared.size).toBeGreaterThan(0);
  });

  test('is on the pages about what a configuration holds', () => {
    const configured = firsts.filter(([, block]) => block.includes('organizations:')).map(([page]) => page);
    expect(configured).toEqual(
      expect.arrayContaining([
        ...['docs/clusters.md', 'docs/configuration.md', 'docs/conversation-files.md', 'docs/conversations.md'],
        'docs/redaction.md',
      ]),
    );
  });
});

describe('README.md', () => {
  test('begins with the two commands', () => {
    const [first = ''] = blocks('README.md', 'sh');
    expect(first).toContain('npm ci && npm run demo');
    expect(first).toContain('npm ci && npm test');
  });

  test('leads to every page of docs/', () => {
    const missing = pages.filter((page) => page.startsWith('docs/') && !text('README.md').includes(`](${page})`));
    expect(missing).toEqual([]);
  });
});

describe('docs/concepts.md', () => {
  const concepts = () => text('docs/concepts.md');

  test.each(['id', 'renamedFrom', 'protect', 'paused', 'ignore'])('explains %s', (member) => {
    expect(concepts()).toContain(`\`${member}`);
  });

  test.each([
    'desired state',
    'actual state',
    'base',
    'owned',
    'plan',
    'change',
    'adopt',
    'prune',
    'drift',
    'held',
    'reconcile',
  ])('explains the word "%s"', (word) => {
    expect(concepts()).toMatch(new RegExp(`^\\| ${word} \\| .+ \\|$`, 'm'));
  });
});

describe('docs/manifests.md', () => {
  test('names every section of a manifest', () => {
    const { properties } = manifestJsonSchema(kinds) as { properties: Record<string, unknown> };
    const page = referencePages().get('docs/manifests.md') ?? '';
    expect(Object.keys(properties).filter((section) => !page.includes(`\n## ${section}\n`))).toEqual([]);
  });
});

describe('docs/configuration.md', () => {
  test('holds the example with every setting, which its own test keeps whole', () => {
    expect(text('docs/configuration.md')).toContain(text('config.example.yaml').trimEnd());
  });
});
