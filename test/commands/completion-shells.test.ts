import { once } from 'node:events';
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCRIPTS, SHELLS } from '../../src/commands/completion/complete.ts';
import { makeFolder } from '../git/repository.ts';
import { findProgram, spawn } from '../support/programs.ts';

const BIN = fileURLToPath(new URL('../../bin/octavo.js', import.meta.url));

/** Starts of shells on a pseudo-terminal, by `script` of util-linux. */
const STARTS: Readonly<Record<(typeof SHELLS)[number], { readonly command: string; readonly setup: string }>> = {
  bash: { command: 'bash --norc --noprofile -i', setup: 'bind "set bell-style none"' },
  zsh: { command: 'zsh -f -i', setup: 'unsetopt beep; autoload -U compinit; compinit -D -u' },
  fish: { command: 'fish --no-config -i', setup: '' },
};

/**
 * Starts the shell in a folder that is also first in its path, reads `script`, types the lines, and ends it. Returns
 * the complete output of the terminal.
 */
async function typeInto(
  shell: (typeof SHELLS)[number],
  { folder, script, lines }: { folder: string; script: string; lines: readonly string[] },
): Promise<string> {
  const { command, setup } = STARTS[shell];
  const child = spawn('script', ['-qfec', command, '/dev/null'], {
    cwd: folder,
    env: { PATH: `${folder}${delimiter}${process.env.PATH}`, HOME: folder, TERM: 'dumb', LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  const closed = once(child, 'close');
  // The terminal buffers the lines that are typed ahead.
  child.stdin.write([setup, `source ./${script}`, ...lines, 'exit', ''].join('\n'));
  await closed;
  return shown;
}

/** Lines as they are typed, with the Tab key, and the arguments that the shell then passes. */
const TYPED: readonly (readonly [line: string, args: readonly string[]])[] = [
  ['octavo api getTeam\t', ['api', 'getTeam']],
  ['octavo api GET /v1/orgs/:org/agent-i\t', ['api', 'GET', '/v1/orgs/:org/agent-instructions']],
  ["octavo api GET '/v1/orgs/{organization}/agent-i\t", ['api', 'GET', '/v1/orgs/{organization}/agent-instructions']],
  ['octavo api GET "/v1/orgs/{organization}/agent-i\t', ['api', 'GET', '/v1/orgs/{organization}/agent-instructions']],
  ['octavo api GET /v1/orgs/a\\ b/agent-i\t', ['api', 'GET', '/v1/orgs/a b/agent-instructions']],
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
