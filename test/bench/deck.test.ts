/** Checks the comparison with decK: the fake of Kong's API, and what happens without decK. */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { findDeck } from '../../bench/deck.ts';
import { endWithParent } from '../support/end-with-parent.ts';
import { spawn } from '../support/programs.ts';

const KONG = fileURLToPath(new URL('../../bench/process/kong.ts', import.meta.url));

test('without decK, a message says how to provide it', () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    expect(findDeck({ DECK: '/nowhere/deck' })).toBeNull();
    expect(write.mock.calls.join()).toMatch(/cannot run \/nowhere\/deck; install it .*set DECK to its path\n$/);
  } finally {
    write.mockRestore();
  }
});

test('the fake of Kong has a version, is empty, and accepts what decK writes', async () => {
  const kong = spawn(...endWithParent(process.execPath, [KONG, '0']), { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(kong.stdout, 'data')) as [Buffer];
    const address = String(line).trim();
    const get = async (path: string) => (await fetch(address + path)).json();
    expect(await get('/')).toMatchObject({ version: '2.0.0' });
    expect(await get('/consumers?size=1000')).toEqual({ data: [], next: null });
    const put = await fetch(`${address}/consumers/c1`, { method: 'PUT', body: '{"username":"team-1"}' });
    expect([put.status, await put.json()]).toEqual([200, { id: 'c1', username: 'team-1' }]);
  } finally {
    kong.kill();
    await once(kong, 'exit');
  }
});
