/** Exchanges from the emulator's tables of operations. */
import { readdirSync } from 'node:fs';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { type Fixture, fixture } from '../emulator/fixture.ts';
import { versionRows } from '../emulator/operation-rows-versions.ts';
import { buildWorld, type Row, type Rows, SEED } from '../emulator/operation-world.ts';
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
    const { call, org } = callerOf(made, proxy.url);
    const ids = await buildWorld({ ...made, call, org });
    const run = async (rows: readonly Row[]) => {
      const state = emulator.state();
      for (const [method, path, body] of rows) {
        emulator.restore(state);
        await call(method, filled(path, ids), body === undefined ? undefined : filled(body, ids));
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

function filled<T>(value: T, ids: Readonly<Record<string, string>>): T {
  return JSON.parse(JSON.stringify(value).replace(/\{(\w+)\}/g, (whole, name) => ids[name] ?? whole)) as T;
}

/** The fixture's functions for calls, through the proxy. */
function callerOf({ emulator }: Fixture, url: string): Pick<Fixture, 'call' | 'org'> {
  const call: Fixture['call'] = async (method, path, body, headers) => {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${emulator.token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers };
  };
  return {
    call,
    org: async (method, path, body) => (await call(method, `/orgs/${emulator.organization}${path}`, body)).body,
  };
}
