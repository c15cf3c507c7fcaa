/** Exchanges from the emulator's tables of operations. */
import { getFeatures } from '../../src/emulator/model/features.ts';
import { rows } from '../emulator/operation-rows.ts';
import { laterRows } from '../emulator/operation-rows-later.ts';
import { versionRows } from '../emulator/operation-rows-versions.ts';
import { openOperationWorld, type Row, readRow } from '../emulator/operation-world.ts';
import type { Exchange } from './judge.ts';
import { type RecordingProxy, startRecordingProxy } from './recording-proxy.ts';

/** Requests and answers of the embedded platform in its oldest and its latest version. */
export interface Exchanges {
  readonly described: readonly Exchange[];
  readonly latest: readonly Exchange[];
}

/** The requests of those tables, valid and invalid, each to a platform with one of everything. */
export async function rowExchanges(): Promise<Exchanges> {
  const proxies: RecordingProxy[] = [];
  const world = await openOperationWorld(async (url) => {
    proxies.push(await startRecordingProxy(url));
    return proxies[0]?.url ?? url;
  });
  const { emulator, call, ids } = world;
  const taken = () => proxies.flatMap(({ exchanges }) => exchanges);
  try {
    const run = async (some: readonly Row[]) => {
      const state = emulator.state();
      for (const row of some) {
        emulator.restore(state);
        const { method, path, body } = readRow(row, ids);
        await call(method, path, body);
      }
      emulator.restore(state);
    };
    await run([...rows, ...versionRows['0.146']]);
    const described = taken();
    emulator.setFeatures(getFeatures('0.202'));
    await run([...versionRows['0.201'], ...versionRows['0.202'], ...Object.values(laterRows).flat()]);
    return { described, latest: taken().slice(described.length) };
  } finally {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await emulator.close();
  }
}
