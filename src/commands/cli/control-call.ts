import { userInfo } from 'node:os';
import type { Config, OrganizationConfig } from '../../config/config.ts';
import type { JsonObject } from '../../core/json.ts';
import {
  type ControlRequest,
  callControl,
  controlSocketPath,
  type ExpectedAnswer,
  isListening,
} from '../../server/control-client.ts';
import { chooseOrganization, readTrustedConfig } from './config.ts';
import type { CommandContext } from './context.ts';

/** Options of commands that work on the state of one organization. */
export interface StateFlags {
  readonly config?: string;
  readonly organization?: string;
  readonly format: 'text' | 'json';
}

/** An organization and the configuration, which names its state. */
export interface StateTarget {
  readonly config: Config;
  readonly organization: OrganizationConfig;
}

/** Chooses the organization by the configuration. Throws ConfigError. */
export async function chooseState(flags: StateFlags, context: CommandContext): Promise<StateTarget> {
  const config = await readTrustedConfig(flags.config, context);
  const organization = chooseOrganization(config, flags.organization);
  return { config, organization };
}

/** Request of the control API for one organization, without the organization. */
type OrganizationRequest =
  Exclude<ControlRequest, { readonly command: 'views' | 'silences' | 'deliveries' | 'sessions' }> extends infer T
    ? T extends unknown
      ? Omit<T, 'organization'>
      : never
    : never;

/**
 * Sends a request to the daemon that uses the state file, so that a command and the daemon never work at the same time.
 * Returns null if no daemon runs. Throws AppError.
 */
export async function callDaemon(
  { config, organization }: StateTarget,
  request: OrganizationRequest,
  expected: ExpectedAnswer<unknown>,
): Promise<JsonObject | null> {
  const socket = controlSocketPath(config);
  return (await isListening(socket))
    ? ((await callControl(
        socket,
        { ...request, user: userName(), organization: organization.id },
        expected,
      )) as JsonObject)
    : null;
}

/** Returns the name of the user of this process; empty if the system knows none. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}
