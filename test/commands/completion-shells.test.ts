import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCRIPTS, SHELLS } from '../../src/commands/completion/shells.ts';
import { makeFolder } from '../git/repository.ts';
import { typeInto } from '../support/interactive-shell.ts';
import { findProgram } from '../support/programs.ts';

const BIN = fileURLToPath(new URL('../../bin/octavo.js', import.meta.url));

/** Lines as they are typed, with the Tab key, and the arguments that the shell then passes. */
const TYPED: readonly (readonly [line: string, args: readonly string[]])[] = [
  ['octavo api getTeam\t', ['api', 'getTeam']],
  ['octavo api GET /v1/orgs/:org/age\t', ['api', 'GET', '/v1/orgs/:org/agent-instructions']],
  ["octavo api GET '/v1/orgs/{organization}/age\t", ['api', 'GET', '/v1/orgs/{organization}/agent-instructions']],
  ['octavo api GET "/v1/orgs/{organization}/age\t', ['api', 'GET', '/v1/orgs/{organization}/agent-instructions']],
  ['octavo api GET /v1/orgs/a\\ b/age\t', ['api', 'GET', '/v1/orgs/a b/agent-instructions']],
  ['octavo api updateSite s -f visibility=un\t', ['api', 'updateSite', 's', '-f', 'visibility=unlisted']],
  ["octavo api updateSite s -f 'visibility=un\t", ['api', 'updateSite', 's', '-f', 'visibility=unlisted']],
  ['octavo api updateSite s -f visibility="un\t', ['api', 'updateSite', 's', '-f', 'visibility=unlisted']],
  ['octavo api createTeam -f memb\tana', ['api', 'createTeam', '-f', 'members[]=ana']],
  ['octavo validate manif\t', ['validate', 'manifest.yaml']],
  // Neither is executed during or after completion.
  ["octavo api '$(touch made)' '`touch made`' zz\t", ['api', '$(touch made)', '`touch made`', 'zz']],
];

describe('completion in a real shell', () => {
  let folder: string;

  beforeAll(() => {
    folder = makeFolder();
    writeFileSync(join(folder, 'manifest.yaml'), '');
    for (const shell of SHELLS) {
      writeFileSync(join(folder, `script.${shell}`), SCRIPTS[shell]);
    }
    // Completes as Octavo does; otherwise it only prints its arguments.
    writeFileSync(
      join(folder, 'octavo'),
      `#!/bin/sh
if [ "$1" = complete ]; then exec '${process.execPath}' '${BIN}' "$@"; fi
printf '\\nARGS'; printf '<%s>' "$@"; printf 'END\\n'
`,
    );
    chmodSync(join(folder, 'octavo'), 0o755);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.for(SHELLS)('%s passes completed words to the command', { timeout: 60_000 }, async (shell, { skip }) => {
    const needed = shell === 'bash' ? (['script'] as const) : ([shell, 'script'] as const);
    skip(
      needed.some((program) => findProgram(program) === null),
      `${needed.join(' or ')} is not installed`,
    );
    const lines = TYPED.map(([line]) => line);
    const shown = await typeInto(shell, { folder, script: `script.${shell}`, lines });
    const passed = [...shown.matchAll(/^ARGS(<.*>)END\r?$/gm)].map(([, args = '']) => args);
    expect(passed).toEqual(TYPED.map(([, args]) => args.map((arg) => `<${arg}>`).join('')));
    expect(existsSync(join(folder, 'made'))).toBe(false);
  });
});
