import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import { sourceDigest } from '../bin/source.js';

/**
 * Builds `dist/` from `src/`, or the folder that the first argument names. What a command needs to start is put into a
 * few files: opening hundreds of small ones is most of what a short command takes. What only the daemon needs stays in
 * `node_modules`, and is loaded when it starts.
 */
const DAEMON_ONLY = [
  '@fastify/cookie',
  'chokidar',
  'cron-parser',
  'fastify',
  'node-cron',
  'openid-client',
  'pg',
  'pino',
  'pino-pretty',
  'prom-client',
];

/** Brings a file of its own, and few commands need it. */
const WITH_FILES = ['jq-wasm'];

/** Loaded by `require` when they are first needed. Each becomes one file, instead of up to a hundred small ones. */
const LAZY = [
  'compromise/two',
  'mdast-util-from-markdown',
  'mdast-util-gfm',
  'mdast-util-to-markdown',
  'micromark-extension-gfm',
  're2js',
  'simple-git',
  'string-width',
];

/** Replacements in packages, by a part of the file's path: each loads a built-in module only when it is used. */
const LAZY_BUILTINS = [
  {
    file: 'commander/lib/command.js',
    from: "import childProcess from 'node:child_process';",
    to: "const childProcess = { spawn: (...rest) => process.getBuiltinModule('node:child_process').spawn(...rest) };",
  },
  {
    file: 'undici/lib/core/util.js',
    from: "const { IncomingMessage } = require('node:http')",
    to: '',
  },
  {
    file: 'undici/lib/core/util.js',
    from: '.constructor === IncomingMessage',
    to: ".constructor.name === 'IncomingMessage'",
  },
  {
    file: 'undici/lib/dispatcher/client.js',
    from: "const http = require('node:http')",
    to: 'const http = { maxHeaderSize: 16 * 1024 }',
  },
  {
    file: 'undici/lib/dispatcher/client.js',
    from: "const connectH2 = require('./client-h2.js')",
    to: "const connectH2 = (...rest) => require('./client-h2.js')(...rest)",
  },
] as const;

/** Comments that stay in the build: only licenses. The source of every loaded file stays in memory. */
const LEGAL_ONLY = { legal: true, annotation: false, jsdoc: false };

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const target = process.argv[2] ?? join(root, 'dist');

rmSync(target, { recursive: true, force: true });
const bundle = await rolldown({
  input: { cli: join(root, 'src/cli.ts') },
  platform: 'node',
  external: [...DAEMON_ONLY, ...WITH_FILES],
  resolve: {
    alias: {
      undici$: join(root, 'scripts/undici.cjs'),
      // The other entry, for Node, reads an environment variable for every token.
      yaml: join(root, 'node_modules/yaml/browser/index.js'),
    },
  },
  plugins: [lazyPackages(), lazyBuiltins(), directBuiltins(), asciiText()],
  // undici leaves out its experimental parser where this name is defined.
  transform: { define: { esbuildDetection: 'true' } },
  tsconfig: join(root, 'tsconfig.json'),
});
await bundle.write({
  dir: target,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  comments: LEGAL_ONLY,
});
await bundle.close();

// A thread starts from a file of its own. As CommonJS it takes 5 MB less memory: it needs no module loader.
for (const [name, input] of [
  ['redaction-thread', 'src/conversations/redact/redaction-thread.ts'],
  ['file-thread', 'src/conversations/sources/files/file-thread.ts'],
] as const) {
  const thread = await rolldown({ input: join(root, input), platform: 'node', plugins: [lazyPackages()] });
  await thread.write({ file: join(target, `${name}.cjs`), format: 'cjs' });
  await thread.close();
}

const lazy = await rolldown({ input: Object.fromEntries(LAZY.map((name) => [name, name])), platform: 'node' });
await lazy.write({
  dir: join(target, 'lazy'),
  format: 'cjs',
  exports: 'named',
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
});
await lazy.close();

// The stylesheet, the script and the icon of the web page.
cpSync(join(root, 'src/web/assets'), join(target, 'assets'), { recursive: true });

// The table of operations, which is read when an operation is used.
cpSync(join(root, 'src/platform/operations/operations.json'), join(target, 'operations.json'));

// A checkout runs this build as long as its source is still the same (bin/octavo.js).
writeFileSync(join(target, 'source.sha256'), sourceDigest(root));

/** Loads packages from files of their own, when they are first needed. */
function lazyPackages(): Plugin {
  return {
    name: 'lazy-packages',
    transform: (code, id) =>
      id.endsWith('.ts')
        ? LAZY.reduce((text, name) => text.replaceAll(`require('${name}')`, `require('./lazy/${name}.cjs')`), code)
        : null,
  };
}

/** Escapes all but ASCII: one other character makes V8 keep two bytes for each character of the file. */
function asciiText(): Plugin {
  return {
    name: 'ascii-text',
    // The last step: printing a chunk replaces escapes.
    generateBundle(_options, files) {
      for (const file of Object.values(files)) {
        if (file.type === 'chunk') {
          file.code = file.code.replaceAll(
            /[^\0-\x7f]/g,
            (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
          );
        }
      }
    },
  };
}

function lazyBuiltins(): Plugin {
  return {
    name: 'lazy-builtins',
    transform: (code, id) => {
      const found = LAZY_BUILTINS.filter(({ file }) => id.replaceAll('\\', '/').endsWith(file));
      const missing = found.find(({ from }) => !code.includes(from));
      if (missing !== undefined) {
        throw new Error(`${missing.file} has changed; adapt LAZY_BUILTINS in scripts/build.ts`);
      }
      return found.length === 0 ? null : found.reduce((text, { from, to }) => text.replace(from, to), code);
    },
  };
}

/**
 * Takes built-in modules from `process`. An import would call every getter of the module to create its namespace, and
 * those of `fs` and `util` load streams and encodings.
 */
function directBuiltins(): Plugin {
  return {
    name: 'direct-builtins',
    renderChunk: (code) =>
      code.replaceAll(
        /^import (?!type\b)([^'"\n]+) from "(node:[^"]+)";$/gm,
        (_line, names: string, module: string) => {
          const found = `globalThis.process.getBuiltinModule("${module}")`;
          const [, all = '', members = ''] = /^(?:\* as )?([\w$]*)(?:, )?(\{.*\})?$/.exec(names) ?? [];
          const parts = [
            ...(all === '' ? [] : [`${all} = ${found}`]),
            ...(members === '' ? [] : [`${members.replaceAll(' as ', ': ')} = ${all === '' ? found : all}`]),
          ];
          return `const ${parts.join(', ')};`;
        },
      ),
  };
}
