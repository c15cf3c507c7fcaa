/** Exchanges from the emulator's tables of operations. */
import { readdirSync } from 'node:fs';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { clientOf, fixture } from '../emulator/fixture.ts';
import { versionRows } from '../emulator/operation-rows-versions.ts';
import { buildWorld, type Row, type Rows, readRow, SEED } from '../emulator/operation-world.ts';
import type { Exchange } from './judge.ts';
import { startRecordingProxy } from './recording-proxy.ts';

/** All tables of rows of the embedded platform's own tests, except for those of its later versions. */
async function tables(): Promise<readonly Row[]> {
  const folder = new URL('../emulator/', import.meta.url);
  const files = readdirSync(folder).filter((file) => /^operation-rows-(?!versions).*\.ts$/.test(file));
  const modules = await Promise.all(
    files.map((file) => import(new URL(file, folder).href) as Promise<Record<string, Rows>>),
  );
  const all = modules.flatMap((module) => Object.entries(module).filter(([name]) => name.endsWith('Rows')));
  return all.flatMap(([, rows]) => Object.values(rows).flat());
}

/** Requests and answers of the embedded platform in its oldest and its latest version. */
export interface Exchanges {
  readonly described: readonly Exchange[];
  readonly latest: readonly Exchange[];
}

/** The requests of those tables, valid and invalid, each to a platform with one of everything. */
export async function rowExchanges(): Promise<Exchanges> {
  const made = await fixture({ seed: SEED, processing: { conversations: 0 } });
  const { emulator } = made;
  const proxy = await startRecordingProxy(emulator.url);
  try {
    const { call, org } = clientOf(proxy.url, emulator);
    const ids = await buildWorld({ ...made, call, org });
    const run = async (rows: readonly Row[]) => {
      const state = emulator.state();
      for (const row of rows) {
        emulator.restore(state);
        const { method, path, body } = readRow(row, ids);
        await call(method, path, body);
      }
      emulator.restore(state);
    };
    await run([...(await tables()), ...versionRows['0.146']]);
    const described = proxy.exchanges.slice();
    emulator.setFeatures(getFeatures('0.201'));
    const link = { title: 'Forum', url: 'https://forum.acme.example' };
    ids.link = (await org('POST', `/sites/${ids.site}/external-links`, link)).id;
    await run(versionRows['0.201']);
    return { described, latest: proxy.exchanges.slice(described.length) };
  } finally {
    await proxy.close();
    await emulator.close();
  }
}
