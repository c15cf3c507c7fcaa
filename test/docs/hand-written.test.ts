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

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
/** Markdown files of a folder and its subfolders. */
const pagesIn = (folder: string) =>
  readdirSync(at(folder), { recursive: true })
    .map((name) => `${folder}/${name}`)
    .filter((name) => name.endsWith('.md') && !name.startsWith('examples/acme'));
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...pagesIn('.github'),
  ...pagesIn('docs'),
  ...pagesIn('examples'),
];
const text = (page: string) => readFileSync(at(page), 'utf8');

/** The fenced blocks of a language. */
function blocks(page: string, language: string): readonly string[] {
  return [...text(page).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter((match) => match[1] === language)
    .map((match) => match[2] ?? '');
}

describe('every page', () => {
  test.each(pages)('%s: has no broken link', (page) => {
    const links = [...text(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
    const broken = links.filter(([, path = '', anchor]) => {
      const target = path === '' ? at(page) : new URL(path, at(page));
      const name = target.pathname.slice(at('').pathname.length);
      return !existsSync(target) || (anchor !== undefined && !anchorsOf(text(name)).includes(anchor));
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test.each(pages)('%s: shows only existing commands', (page) => {
    const lines = blocks(page, 'sh').flatMap(commandLinesIn);
    expect(lines.map((line) => [line, faultOf(line)]).filter(([, fault]) => fault !== null)).toEqual([]);
  });

  test.each(pages)('%s: names only scripts of package.json', (page) => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
    const named = [...text(page).matchAll(/npm run ([a-z:]+)/g)].map((match) => match[1] ?? '');
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  test.each(pages)('%s: has valid YAML', (page) => {
    const wrong = blocks(page, 'yaml').flatMap((block) => parseAllDocuments(block).flatMap(({ errors }) => errors));
    expect(wrong).toEqual([]);
  });
});

describe('the first YAML block of every page', () => {
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
      const env = new Proxy({}, { get: () => 'a-value-of-some-length' });
      const config = loadConfig({ text: block, file: 'config.yaml', env, readFile: () => 'value', kinds });
      expect(config.organizations.length).toBeGreaterThan(0);
      return;
    }
    const { declared } = await createManifestLoader(kinds).load(memoryTree({ 'page.yaml': block }));
    expect(declared.size).toBeGreaterThan(0);
  });
});

describe('README.md', () => {
  test('begins with the two commands', () => {
    const [first = ''] = blocks('README.md', 'sh');
    expect(first).toContain('npm ci && npm run demo');
    expect(first).toContain('npm ci && npm test');
  });

  test('links every page of docs/', () => {
    const guides = pages.filter((page) => page.startsWith('docs/') && !page.startsWith('docs/decisions/0'));
    expect(guides.filter((page) => !text('README.md').includes(`](${page})`))).toEqual([]);
  });
});

describe('docs/decisions', () => {
  const folder = 'docs/decisions/';
  const records = pages.filter((page) => page.startsWith(`${folder}0`)).map((page) => page.slice(folder.length));

  test('have unique numbers and are listed in the index', () => {
    const numbers = records.toSorted().map((name) => Number(name.slice(0, 4)));
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(records.filter((name) => !text(`${folder}README.md`).includes(`](${name})`))).toEqual([]);
  });
});

describe('.github/ISSUE_TEMPLATE', () => {
  const forms = readdirSync(at('.github/ISSUE_TEMPLATE')).filter((name) => name !== 'config.yml');

  test.each(forms)('%s is a form that GitHub accepts', (name) => {
    const form = parse(text(`.github/ISSUE_TEMPLATE/${name}`));
    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) });
    const fields = form.body.filter(({ type }: { type: string }) => type !== 'markdown');
    const ids = fields.map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { type, id, attributes } of fields) {
      expect({ type, id, label: attributes.label }).toEqual({
        type: expect.stringMatching(/^(?:input|textarea|dropdown|checkboxes)$/),
        id: expect.stringMatching(/^[\w-]+$/),
        label: expect.any(String),
      });
      expect(type !== 'dropdown' || new Set(attributes.options).size > 1).toBe(true);
    }
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
  test('contains config.example.yaml', () => {
    expect(text('docs/configuration.md')).toContain(text('config.example.yaml').trimEnd());
  });
});
