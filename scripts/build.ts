import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { sourceDigest } from '../bin/source.js';

/**
 * Builds `dist/` from `src/`, or the folder that the first argument names. What a command needs to start is put into a
 * few files: opening hundreds of small ones is most of what a short command takes. What only the daemon needs stays in
 * `node_modules`, and is loaded when it starts.
 */
const DAEMON_ONLY = ['chokidar', 'cron-parser', 'fastify', 'node-cron', 'pino', 'pino-pretty', 'prom-client'];

/** Brings a file of its own, and few commands need it. */
const WITH_FILES = ['jq-wasm'];

/** Loaded by `require` when they are first needed. Each becomes one file, instead of up to a hundred small ones. */
const LAZY = [
  'mdast-util-from-markdown',
  'mdast-util-gfm',
  'mdast-util-to-markdown',
  'micromark-extension-gfm',
  'simple-git',
  'string-width',
];

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const target = process.argv[2] ?? join(root, 'dist');

rmSync(target, { recursive: true, force: true });
const bundle = await rolldown({
  input: { cli: join(root, 'src/cli.ts') },
  platform: 'node',
  external: [...DAEMON_ONLY, ...WITH_FILES],
  plugins: [
    {
      name: 'lazy-packages',
      transform: (code, id) =>
        id.endsWith('.ts')
          ? LAZY.reduce((text, name) => text.replaceAll(`require('${name}')`, `require('./lazy/${name}.cjs')`), code)
          : null,
    },
  ],
  tsconfig: join(root, 'tsconfig.json'),
});
await bundle.write({ dir: target, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' });
await bundle.close();

// A thread starts from a file of its own. As CommonJS it takes 5 MB less memory: it needs no module loader.
const thread = await rolldown({ input: join(root, 'src/server/listener-thread.ts'), platform: 'node' });
await thread.write({ file: join(target, 'listener-thread.cjs'), format: 'cjs' });
await thread.close();

const lazy = await rolldown({ input: Object.fromEntries(LAZY.map((name) => [name, name])), platform: 'node' });
await lazy.write({
  dir: join(target, 'lazy'),
  format: 'cjs',
  exports: 'named',
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
});
await lazy.close();

// A checkout runs this build as long as its source is still the same (bin/octavo.js).
writeFileSync(join(target, 'source.sha256'), sourceDigest(root));
