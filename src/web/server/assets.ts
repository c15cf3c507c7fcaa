/** Stylesheet, scripts and icon of the pages. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

interface Asset {
  readonly type: string;
  readonly body: Buffer;
  /** Part of its address, so that browsers can keep it for ever. */
  readonly version: string;
}

export interface Assets {
  /** Returns the address of a file. */
  href(name: string): string;
  get(name: string): Asset | undefined;
}

const STYLE = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
/** Folder of the files, in a checkout and in an installed package. */
const FOLDER = import.meta.url.endsWith('.ts') ? '../assets/' : './assets/';

/** Reads all files. */
export async function loadAssets(): Promise<Assets> {
  const own = (name: string) => new URL(`${FOLDER}${name}`, import.meta.url);
  const morph = createRequire(import.meta.url).resolve('idiomorph/dist/idiomorph.min.js');
  const files = new Map<string, Asset>([
    ['tokens.css', await readStyle(own('tokens.css'))],
    ['style.css', await readStyle(own('style.css'))],
    ['icon.svg', await read(own('icon.svg'), 'image/svg+xml')],
    ['page.js', await read(own('page.js'), SCRIPT)],
    ['idiomorph.js', await read(morph, SCRIPT)],
  ]);
  return {
    href: (name) => `/assets/${name}?v=${files.get(name)?.version ?? ''}`,
    get: (name) => files.get(name),
  };
}

/** Reads a stylesheet without its comments and indentation, which are a third of the first page. */
async function readStyle(path: URL): Promise<Asset> {
  const css = await readFile(path, 'utf8');
  return asset(Buffer.from(css.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/\s*\n\s*/g, '\n')), STYLE);
}

async function read(path: string | URL, type: string): Promise<Asset> {
  return asset(await readFile(path), type);
}

function asset(body: Buffer, type: string): Asset {
  return { type, body, version: createHash('sha256').update(body).digest('hex').slice(0, 12) };
}
