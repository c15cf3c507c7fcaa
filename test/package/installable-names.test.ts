import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openWorkspace } from '../support/workspace.ts';
import { ROOT } from './pruned.ts';

/*
 * Package and image names in the examples: readers run them with tokens, so nobody else may be able to register any of
 * them.
 */

const ZERO = '0'.repeat(40);

/** Actions by commit id; `OWNER` and the zeros are placeholders for the reader, and refer to nothing. */
const ACTIONS: readonly string[] = [
  'actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683',
  'actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020',
  'actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02',
  'actions/cache/restore@5a3ec84eff668545956fd18022155c47e93e2684',
  'actions/cache/save@5a3ec84eff668545956fd18022155c47e93e2684',
  `OWNER/octavo@${ZERO}`,
];
/** Official images, and a registry in a domain that is reserved for examples. */
const IMAGES = ['node:24', 'node:24-slim', 'registry.k8s.io/git-sync/git-sync:v4.4.0', 'registry.example/octavo'];
/** `npx` runs what a checkout has installed: `--no` forbids anything else, and `node` is a development dependency. */
const NPX = /^(?:--no -- octavo|node)\b/;
const DEBIAN = new Set([
  ...['ca-certificates', 'chromium', 'git', 'openssh-client', 'zsh', 'fish'],
  ...['postgresql', 'pgbouncer', 'faketime', 'unzip'],
]);
const INSTALLERS =
  /\b(?:npm (?:install|i|add|exec|x|create|init)|yarn (?:global )?add|pnpm (?:add|dlx)|bunx?|pipx? install|gem install|cargo install|go install|brew install|docker (?:pull|run) (?!-u)|helm (?:install|repo add))\b.*/g;

/** Files with commands for readers, by path. */
function instructions(): ReadonlyMap<string, string> {
  const folders = ['deploy', 'docs', 'examples', 'templates'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:md|ya?ml)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const others = ['README.md', 'CONTRIBUTING.md', 'action.yml', 'Dockerfile', '.ci/run'].map((name) =>
    join(ROOT, name),
  );
  return new Map([...folders, ...others].map((path) => [path.slice(ROOT.length), readFileSync(path, 'utf8')]));
}

/** Names in a text that a reader would install or pull, without the allowed ones. */
function foreignNames(text: string): readonly string[] {
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map((match) => (match[1] ?? match[0]).trim());
  const debian = all(/apt-get install([^&|;>]*(?:\\\n[^&|;>]*)*)/g).flatMap((words) => words.split(/[\s\\]+/));
  return [
    ...all(/\buses: *["']?([^\s"'#]+)/g).filter((name) => !ACTIONS.includes(name)),
    ...all(/^\s*(?:- *)?(?:image|newName|FROM):? +["']?([^\s"'#{}]+)/gm).filter((name) => !IMAGES.includes(name)),
    ...all(/\bnpx +(.*)/g).filter((words) => !NPX.test(words)),
    ...all(/\bref: *["']?([^\s"',}]+)/g).filter((name) => /^v?\d+\.\d/.test(name)),
    ...all(INSTALLERS),
    ...debian.filter((name) => name !== '' && !name.startsWith('-') && !DEBIAN.has(name)),
    ...all(/\boctavo@(?:\d|v\d|\^|~|latest|next)[^\s"'`]*/g).filter((name) => name !== `octavo@${ZERO}`),
    ...all(/\bcurl\b[^\n]*\| *(?:ba)?sh\b/g),
  ];
}

test.each([...instructions()])('%s runs no package that someone else could publish', (_path, text) => {
  expect(foreignNames(text)).toEqual([]);
});

test.each(['github', 'gitlab', 'gitea', 'bitbucket'])(
  'init for %s writes no such package, and pins the given version',
  async (forge) => {
    await using work = await openWorkspace();
    const none = { OCTAVO_TOKEN: '' };
    const commit = '8c1f3a0b5d'.repeat(4);
    const source = 'https://git.acme.example/tools/octavo.git';
    const workflows = () =>
      readdirSync(work.repository.directory, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name) && !entry.parentPath.includes('.git/'))
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    const first = await work.inside(['init', 'plain', '--forge', forge, '--drift'], none);
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining('OCTAVO_SOURCE and OCTAVO_COMMIT') });
    expect(workflows().flatMap(foreignNames)).toEqual([]);
    for (const wrong of [
      'octavo',
      'octavo@0.1.0',
      `${source}#main`,
      `${source}#${commit.slice(1)}`,
      `$(x)#${commit}`,
      `http://x.example/y#${commit}`,
    ]) {
      const refused = await work.inside(['init', 'other', '--forge', forge, '--install', wrong], none);
      expect(refused).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('is not a repository URL with a full commit id'),
      });
    }
    await using pinned = await openWorkspace();
    const install = ['--install', `${source}#${commit}`];
    const ended = await pinned.inside(['init', '.', '--forge', forge, '--drift', ...install], none);
    expect(ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('OCTAVO_COMMIT') });
    const texts = readdirSync(pinned.repository.directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /^(?:octavo.*|\.gitlab-ci|bitbucket-pipelines)\.ya?ml$/.test(entry.name))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) {
      expect(text).toContain(commit);
      expect(text).toContain(source);
      expect(text).not.toContain(ZERO);
    }
  },
);
