/** Reads headings, citations and links out of the repository's text, for the tests of the documentation. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['src', 'test', 'scripts', 'bench', 'docs', 'examples', 'templates', 'bin'];
const TEXT = /\.(?:ts|js|mjs|md|ya?ml|json|sh)$/;

/** A file of the repository. `path` is relative to its root. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** A reference to a heading. `path` is relative to the root of the repository. */
export interface Citation {
  readonly path: string;
  /** Empty for the page as a whole. */
  readonly anchor: string;
}

/** Returns the text files of the source, the tests and the documentation. */
export function repositoryPages(): readonly Page[] {
  const nested = FOLDERS.flatMap((folder) =>
    readdirSync(ROOT + folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && TEXT.test(entry.name) && !entry.parentPath.includes('node_modules'))
      .map((entry) => posix.relative(ROOT, posix.join(entry.parentPath, entry.name))),
  );
  const top = readdirSync(ROOT).filter((name) => name.endsWith('.md') || name === 'config.example.yaml');
  return [...top, ...nested].map((path) => ({ path, text: readFileSync(ROOT + path, 'utf8') }));
}

/** Returns the anchors that GitHub gives to the headings of a Markdown text. Fenced code has no headings. */
export function anchorsOf(markdown: string): readonly string[] {
  const prose = markdown.replaceAll(/^(`{3,}|~{3,})[\s\S]*?^\1[`~]*$/gm, '');
  const seen = new Map<string, number>();
  return [...prose.matchAll(/^#{1,6} +(.+?)(?: +#+)?$/gm)].map(([, heading = '']) => {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}

/** Returns the headings that a file cites, as a path from the root and an anchor, or that a Markdown file links to. */
export function citationsIn({ path, text }: Page): readonly Citation[] {
  const cited = [...text.matchAll(/(?<![\w./-])(docs\/[\w/-]+\.md)#([\p{L}\p{M}\p{N}_-]+)/gu)];
  const linked = path.endsWith('.md') ? [...text.matchAll(/\]\((?![a-z]+:)([^)#\s]*)#([^)\s]+)\)/g)] : [];
  const whole = text.matchAll(/\b(?:See|Source:) (docs\/[\w/-]+\.md)(?!#)/g);
  return [
    ...[...whole].map(([, page = '']) => ({ path: page, anchor: '' })),
    ...cited.map(([, page = '', anchor = '']) => ({ path: page, anchor })),
    ...linked.map(([, target = '', anchor = '']) => ({
      path: target === '' ? path : posix.join(posix.dirname(path), target),
      anchor,
    })),
  ];
}

/** Returns the citations of a file whose page or heading does not exist, each with the file that has it. */
export function brokenCitations(page: Page): readonly string[] {
  const broken = citationsIn(page).filter(({ path, anchor }) => !anchorsAt(path).includes(anchor));
  return [...new Set(broken.map(({ path, anchor }) => `${page.path}: ${path}#${anchor}`))];
}

const known = new Map<string, readonly string[]>();

function anchorsAt(path: string): readonly string[] {
  const anchors =
    known.get(path) ?? (existsSync(ROOT + path) ? ['', ...anchorsOf(readFileSync(ROOT + path, 'utf8'))] : []);
  known.set(path, anchors);
  return anchors;
}
