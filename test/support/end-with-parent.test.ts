/** A process that a test started ends when the test process is killed. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { canEndWithParent, endWithParent } from './end-with-parent.ts';
import { spawn } from './programs.ts';

const CHILD = "console.log('started'); setTimeout(() => console.log('survived'), 20_000)";

test.runIf(canEndWithParent).each(['SIGKILL', 'SIGTERM'] as const)(
  'a process ends with its parent: %s',
  async (signal) => {
    const command = endWithParent(process.execPath, ['-e', CHILD]);
    const start = `require('node:child_process').spawn(...${JSON.stringify(command)}, { stdio: 'inherit' })`;
    const parent = spawn(process.execPath, ['-e', start], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    parent.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await once(parent.stdout, 'data');
    parent.kill(signal);
    // The child has the other end of the pipe as well.
    await once(parent.stdout, 'end');
    expect(output).toBe('started\n');
  },
);
