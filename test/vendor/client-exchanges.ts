import { exerciseAll } from '../contract/exercise.ts';
import { openStage } from '../contract/operation-world.ts';
import type { Exchange } from './judge.ts';
import { type RecordingProxy, startRecordingProxy } from './recording-proxy.ts';

/** Requests of every operation of the client, valid and invalid, to a platform of all versions at once. */
export async function clientExchanges(): Promise<readonly Exchange[]> {
  const proxies: RecordingProxy[] = [];
  const stage = await openStage(async (url) => {
    const proxy = await startRecordingProxy(url);
    proxies.push(proxy);
    return proxy.url;
  });
  try {
    await exerciseAll(stage);
    return proxies.flatMap(({ exchanges }) => exchanges);
  } finally {
    await stage.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
  }
}
