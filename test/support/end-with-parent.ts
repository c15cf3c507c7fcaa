/** Lets processes that tests start end with the test process, even if it is killed. */
import { existsSync } from 'node:fs';

const SETPRIV = '/usr/bin/setpriv';

/** True if the kernel can end a process with its parent: Linux can. */
const canEndWithParent = existsSync(SETPRIV);

/**
 * Returns the command that starts a program to which the kernel sends a signal when its parent ends. Without that, a
 * server that a test started survives a test process that had no time to end it. The process id is the program's.
 */
export function endWithParent(
  program: string,
  args: readonly string[],
  signal: 'KILL' | 'QUIT' | 'TERM' = 'KILL',
): [program: string, args: string[]] {
  return canEndWithParent ? [SETPRIV, ['--pdeathsig', signal, '--', program, ...args]] : [program, [...args]];
}
