/** Reaches the state of an organization: through the daemon if one runs, or else in the store. */
import { userInfo } from 'node:os';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { type ControlRequest, callControl, controlSocketPath, isListening } from '../../server/control-client.ts';
import type { Store } from '../../store/store.ts';
import { chooseOrganization, type OrganizationTarget, readTrustedConfig } from './config.ts';
import type { CommandContext } from './context.ts';

/** Options of commands that work on the state of one organization. */
export interface StateFlags {
  readonly config?: string;
  readonly organization?: string;
  readonly format: 'text' | 'json';
}

/** Chooses the organization by the configuration. Throws ConfigError. */
export async function chooseState(flags: StateFlags, context: CommandContext): Promise<OrganizationTarget> {
  const config = await readTrustedConfig(flags.config, context);
  const organization = chooseOrganization(config, flags.organization);
  return { config, organization };
}

/** Sends a request to the running daemon, for the user of this process. Throws what `callControl` throws. */
export function askDaemon<T extends object = JsonObject>(
  config: Config,
  request: ControlRequest,
  { version }: CommandContext,
): Promise<T> {
  return callControl<T>(controlSocketPath(config), { ...request, user: userName() }, version);
}

/**
 * Sends a request about an organization to the daemon that uses the state file, so that a command and the daemon never
 * work at the same time. Returns null if no daemon runs. Throws AppError.
 */
export async function askIfRunning(
  { config, organization }: OrganizationTarget,
  request: Extract<ControlRequest, { readonly command: 'conversations' | 'clusters' }>,
  context: CommandContext,
): Promise<JsonObject | null> {
  return (await isListening(controlSocketPath(config)))
    ? askDaemon(config, { ...request, organization: organization.id }, context)
    : null;
}

/** Returns the name of the user of this process; empty if the system knows none. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}

/**
 * Opens the store. Throws StoreError, also for a state file that another process uses, and ConfigError if replicas use
 * the database: they would do the same work at the same time.
 */
export async function openUnusedStore(
  place: Config['store'],
  { clock, random }: Pick<CommandContext, 'clock' | 'random'>,
): Promise<Store> {
  // Loaded only when no daemon answers.
  const { openStore } = await import('../../store/open/open-store.ts');
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
