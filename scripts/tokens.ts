import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Writes the colors, sizes and icons of the web page, from the packages that GitHub publishes its design as. Only what
 * the stylesheet and the pages use is kept: the packages have 62 MB. Run it after a new `var(--…)` or a new icon.
 */
const TOKENS = '@primer/primitives@11.10.0';
const ICONS = '@primer/octicons@19.42.0';

/** Icons of the pages, at 16 pixels. */
const NAMES = [
  'book',
  'browser',
  'code-square',
  'comment-discussion',
  'diff-added',
  'diff-modified',
  'diff-removed',
  'diff-renamed',
  'file-directory-fill',
  'globe',
  'history',
  'list-unordered',
  'organization',
  'pause',
  'people',
  'person',
  'question',
  'shield-check',
  'shield-lock',
  'stack',
  'sync',
  'trash',
  'typography',
];

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const STYLES = join(ROOT, 'src/web/assets/style.css');
const SIZES = [
  'base/size/size',
  'base/typography/typography',
  'functional/size/radius',
  'functional/typography/typography',
];

const run = promisify(execFile);
const LIMIT = { timeout: 120_000 };

const folder = mkdtempSync(join(tmpdir(), 'octavo-tokens-'));
try {
  const tokens = await unpack(TOKENS);
  const css = (name: string) => declarations(readFileSync(join(tokens, 'dist/css', `${name}.css`), 'utf8'));
  const shared = new Map(SIZES.flatMap((name) => [...css(name)]));
  const light = css('functional/themes/light');
  const dark = css('functional/themes/dark');
  const used = readFileSync(STYLES, 'utf8');
  const sheet = [
    `/* Colors and sizes of the pages, made by \`npm run tokens\` from ${TOKENS} (MIT license, GitHub Inc.). */`,
    rule(':root', needed(used, new Map([...shared, ...light]))),
    `@media (prefers-color-scheme: dark) {\n${rule(':root', needed(used, dark)).replace(/^/gm, '  ')}\n}\n`,
  ];
  writeFileSync(join(ROOT, 'src/web/assets/tokens.css'), sheet.join('\n'));
  copyFileSync(join(tokens, 'LICENSE'), join(ROOT, 'src/web/assets/primer-license.txt'));

  const icons = JSON.parse(readFileSync(join(await unpack(ICONS), 'build/data.json'), 'utf8'));
  const paths = NAMES.map((name) => {
    const { path } = icons[name].heights['16'] as { readonly path: string };
    return [name, [...path.matchAll(/\bd="([^"]+)"/g)].map(([, shape]) => shape).join(' ')] as const;
  });
  const text = JSON.stringify({ '': `${ICONS} (MIT license, GitHub Inc.)`, ...Object.fromEntries(paths) }, null, 2);
  writeFileSync(join(ROOT, 'src/web/html/icons.json'), `${text}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the folder of a package, without what it depends on. */
async function unpack(name: string): Promise<string> {
  const target = mkdtempSync(join(folder, 'package-'));
  const { stdout: archive } = await run('npm', ['pack', '--silent', '--pack-destination', target, name], LIMIT);
  await run('tar', ['-xzf', join(target, archive.trim()), '-C', target], LIMIT);
  return join(target, 'package');
}

/** Returns the custom properties of the first rule of a stylesheet. */
function declarations(css: string): Map<string, string> {
  const body = css.slice(css.indexOf('{') + 1, css.indexOf('\n}'));
  return new Map([...body.matchAll(/^\s*(--[\w-]+): (.*?);/gm)].map(([, name = '', value = '']) => [name, value]));
}

/** Returns the properties that a stylesheet uses, with those that they use. */
function needed(css: string, all: ReadonlyMap<string, string>): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (text: string) => {
    for (const [, name = ''] of text.matchAll(/var\((--[\w-]+)\)/g)) {
      const value = all.get(name);
      if (value !== undefined && !found.has(name)) {
        found.set(name, value);
        visit(value);
      }
    }
  };
  visit(css);
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function rule(selector: string, properties: ReadonlyMap<string, string>): string {
  return `${selector} {\n${[...properties].map(([name, value]) => `  ${name}: ${value};`).join('\n')}\n}`;
}
