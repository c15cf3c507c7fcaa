import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { fileInput } from '../../../src/conversations/sources/files/input.ts';

test('an abort at any turn of the event loop rejects the read, and raises nothing elsewhere', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'octavo-abort-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'tickets.json');
  await writeFile(path, Buffer.alloc(1_000_000, 'x'));
  // An error outside of the read would fail this test as an uncaught exception.
  for (const turns of Array(30).keys()) {
    const stopping = new AbortController();
    const reading = Array.fromAsync(fileInput(path, stopping.signal).open());
    for (const _ of Array(turns).keys()) {
      await turn();
    }
    stopping.abort();
    await expect(reading.catch((error: Error) => [error.name])).resolves.toBeInstanceOf(Array);
    await turn();
  }
});
