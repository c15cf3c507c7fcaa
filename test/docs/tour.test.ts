import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findFreePort } from '../support/free-port.ts';
import { spawn } from '../support/programs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Milliseconds without output after which the tour is aborted; the slowest of its commands takes 3 s. */
const SILENCE = 45_000;
let folder: string;
let output = '';
let code: number | null = null;

/** The code blocks of the tour as one script, with folders and ports of its own. */
async function script(): Promise<string> {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const tour = /^## A tour$([\s\S]*?)^## /m.exec(readme)?.[1] ?? '';
  const blocks = [...tour.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? '');
  const [platform, daemon] = [await findFreePort(), await findFreePort()];
  const text = blocks
    .join('\n')
    .replaceAll('npx --no -- octavo', `"${process.execPath}" bin/octavo.js`)
    .replaceAll('/tmp/acme', `${folder}/acme`)
    .replaceAll('8471', String(platform))
    .replaceAll('8472', String(daemon));
  return `set -e -o pipefail\ntrap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n${text}`;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-tour-'));
  const bash = spawn('bash', ['-c', await script()], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  // A slow machine still makes progress; a hanging tour does not.
  const stuck = setTimeout(() => bash.kill(), SILENCE);
  for (const stream of [bash.stdout, bash.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
      stuck.refresh();
    });
  }
  [code] = (await once(bash, 'close')) as [number | null];
  clearTimeout(stuck);
}, 10 * 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the commands of the tour in the README succeed', () => {
  expect(code, output).toBe(0);
});

test.each([
  ['validates', /^Valid: \d+ resources in \d+ manifests$/m],
  ['plans without a base', /there is no base, so nothing is deleted/],
  ['records what was applied', /as applied in refs\/octavo\/org_acme\/applied$/m],
  ['lists the operations of the platform', /^updateTeam +PATCH +\/v1\/orgs\/\{organizationId\}\/teams\/\{teamId\}/m],
  ['sends a request with octavo api', /^Writers$/m],
  ['plans a rename', /~ team\/writers .*\n +title +"Writers" → "Docs writers"/],
  ['holds a deletion', /- space\/playground .* held: deleting space needs approval/],
  ['applies the rest', /^exit code 4: something is held$/m],
  ['plans as Markdown', /^### Plan for `Acme/m],
  ['creates a repository from an organization', /^\+ \S*\.github\/workflows\/octavo\.yaml$/m],
  ['prints an empty plan for it', /^No changes, \d+ unchanged$/m],
  ['runs a daemon', /^octavo_reconcile_passes_total\{organization="org_acme",outcome="held"\} [1-9]/m],
])('it %s', (_what, words) => {
  expect(output).toMatch(words);
});
