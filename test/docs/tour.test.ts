/** Runs the commands of the README and of the pages for beginners against the embedded platform. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findFreePort } from '../support/free-port.ts';
import { spawn } from '../support/programs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Milliseconds without output after which a script is aborted; the slowest of the commands takes 3 s. */
const SILENCE = 45_000;
/** Milliseconds for a whole script. */
const LIMIT = 10 * 60_000;
const folder = mkdtempSync(join(tmpdir(), 'octavo-tour-'));

/** The shell blocks of a page, or of one of its sections, also those in lists. */
function blocksOf(page: string, section = /^([\s\S]*)$/): string {
  const text = section.exec(readFileSync(join(ROOT, page), 'utf8'))?.[1] ?? '';
  return [...text.matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm)]
    .map(([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
    .join('\n');
}

/** Runs a script, and returns its exit code and its output. */
async function run(script: string, cwd: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const text = `set -e -o pipefail\ntrap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n${script}`;
  const env = {
    ...process.env,
    PATH: `${folder}/bin:${process.env.PATH ?? ''}`,
    ...{ GIT_AUTHOR_NAME: 'Ana', GIT_AUTHOR_EMAIL: 'ana@acme.example' },
    ...{ GIT_COMMITTER_NAME: 'Ana', GIT_COMMITTER_EMAIL: 'ana@acme.example' },
  };
  const bash = spawn('bash', ['-c', text], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  // A slow machine still makes progress; a hanging script does not.
  const stuck = setTimeout(() => bash.kill(), SILENCE);
  let output = '';
  for (const stream of [bash.stdout, bash.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
      stuck.refresh();
    });
  }
  const [code] = (await once(bash, 'close')) as [number | null];
  clearTimeout(stuck);
  return { code, output };
}

beforeAll(() => {
  mkdirSync(join(folder, 'bin'));
  // The pages run `octavo` as `npm link` installs it.
  symlinkSync(join(ROOT, 'bin/octavo.js'), join(folder, 'bin/octavo'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the tour in the README', () => {
  let ended: Awaited<ReturnType<typeof run>>;

  beforeAll(async () => {
    const [platform, daemon] = [await findFreePort(), await findFreePort()];
    const script = blocksOf('README.md', /^## A tour$([\s\S]*?)^## /m)
      .replaceAll('npx --no -- octavo', `"${process.execPath}" bin/octavo.js`)
      .replaceAll('/tmp/acme', `${folder}/acme`)
      .replaceAll('8471', String(platform))
      .replaceAll('8472', String(daemon));
    ended = await run(script, ROOT);
  }, LIMIT);

  test('succeeds', () => {
    expect(ended.code, ended.output).toBe(0);
  });

  test.each([
    ['validates', /^Valid: \d+ resources in \d+ manifests$/m],
    ['plans without a base', /there is no base, so nothing is deleted/],
    ['records what was applied', /as applied in refs\/octavo\/org_acme\/applied$/m],
    ['plans a rename', /~ team\/writers\s+\S+\/teams\.yaml:2\n +title +"Writers" → "Docs writers"/],
    ['holds a deletion', /- space\/playground\s+"Playground", 0 pages, .* held: deleting spaces needs\s+approval/],
    ['applies the rest', /^exit code 4: something is held$/m],
    ['plans as Markdown', /^### Plan for `Acme/m],
    ['runs a daemon', /^octavo_reconcile_passes_total\{organization="org_acme",outcome="held"\} [1-9]/m],
  ])('%s', (_what, words) => {
    expect(ended.output).toMatch(words);
  });
});

describe('the pages for beginners, one after the other', () => {
  const pages = ['docs/my-organization.md', 'docs/people.md', 'docs/undo.md'];
  let ended: Awaited<ReturnType<typeof run>>;

  beforeAll(async () => {
    const cwd = join(folder, 'mine');
    mkdirSync(cwd);
    const port = await findFreePort();
    const start = [
      `octavo emulate --port ${port} &`,
      `export OCTAVO_BASE_URL=http://127.0.0.1:${port} OCTAVO_ORGANIZATION=org_acme`,
      'until OCTAVO_TOKEN=emulator-token octavo doctor; do sleep 1; done',
    ].join('\n');
    const script = pages.map((page) => `echo '# ${page}'\n${blocksOf(page)}`).join('\n');
    const end = `octavo plan --detailed-exitcode\noctavo api listSpaces --paginate -q '"remains: " + .title'`;
    ended = await run(`${start}\n${script.replace('OCTAVO_TOKEN=…', 'OCTAVO_TOKEN=emulator-token')}\n${end}`, cwd);
  }, LIMIT);

  test('succeed', () => {
    expect(ended.code, ended.output).toBe(0);
  });

  test.each([
    ['list the organizations', /^org_acme Acme$/m],
    ['create a workflow', /^\+ acme-docs\/\.github\/workflows\/octavo\.yaml$/m],
    ['import one', /^\+ acme-docs\/members\.yaml +\d+ entries$/m],
    ['plan it without a change', /^No changes, \d+ unchanged$/m],
    ['record it', /^Recorded \w+ as applied in refs\/octavo\/org_acme\/applied$/m],
    ['create a space', /^created +space\/octavo-trial$/m],
    ['show who has not joined yet', /^Pending +member\/dana@acme\.example: invited by this plan; .+$/m],
    ['create a team', /^created +team\/octavo-writers$/m],
    ['undo that', /^deleted +team\/octavo-writers$/m],
    ['stop managing without a deletion', /^remains: Octavo trial$/m],
  ])('%s', (_what, words) => {
    expect(ended.output).toMatch(words);
  });
});
