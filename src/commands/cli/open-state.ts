/** Opens the store for commands that work without a daemon. */
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../core/errors.ts';
import { openStore } from '../../store/open/open-store.ts';
import type { Store } from '../../store/store.ts';
import type { CommandContext } from './context.ts';

/**
 * Opens the store. Throws StoreError, also for a state file that another process uses, and ConfigError if replicas use
 * the database: they would do the same work at the same time.
 */
export async function openUnusedStore(
  place: Config['store'],
  { clock, random }: Pick<CommandContext, 'clock' | 'random'>,
): Promise<Store> {
  const store = await openStore(place, clock, random);
  try {
    const replicas = (await store.fleet()?.leases.replicas()) ?? [];
    const running = replicas.filter(({ left }) => left > 0).map(({ address }) => address);
    if (running.length > 0) {
      throw new ConfigError(
        `running replicas use the database (${running.join(', ')}); run this command on the machine of one of them, with its configuration`,
      );
    }
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
