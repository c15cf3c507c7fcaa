/** Types into a real shell on a pseudo-terminal, by `script` of util-linux. */
import { once } from 'node:events';
import { delimiter } from 'node:path';
import { spawn } from './programs.ts';

export type InteractiveShell = 'bash' | 'zsh' | 'fish';

const STARTS: Readonly<Record<InteractiveShell, { readonly command: string; readonly setup: string }>> = {
  bash: { command: 'bash --norc --noprofile -i', setup: 'bind "set bell-style none"' },
  zsh: { command: 'zsh -f -i', setup: 'unsetopt beep; autoload -U compinit; compinit -D -u' },
  fish: { command: 'fish --no-config -i', setup: '' },
};

/**
 * Starts the shell in a folder that is also first in its path, reads `script`, types the lines, and ends it. Returns
 * the complete output of the terminal.
 */
export async function typeInto(
  shell: InteractiveShell,
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
