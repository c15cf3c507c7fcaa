import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Config, configFromEnvironment, type OrganizationConfig } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import type { Clock, Random } from '../core/clock.ts';
import { ConfigError, messageOf } from '../core/errors.ts';
import { kinds } from '../kinds/registry.ts';
import type { ClientOptions } from '../platform/client.ts';
import { type Connection, openConnection } from '../platform/connection.ts';
import type { Terminal } from './terminal.ts';

/** What every command is given: the world outside. */
export interface Surroundings {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly random: Random;
  /** `octavo/<version>` without the name. */
  readonly version: string;
  /** Aborts when the process is asked to end. */
  readonly signal: AbortSignal;
}

const DEFAULT_CONFIG = 'config.yaml';

/**
 * The configuration of a command: the file that `--config` names, else `config.yaml` where it is there, else the
 * environment alone (design: Commands). Throws ConfigError.
 */
export async function readConfig(file: string | undefined, terminal: Terminal): Promise<Config> {
  const names = kinds.map((kind) => kind.name);
  const path = file ?? DEFAULT_CONFIG;
  const full = resolve(terminal.cwd, path);
  if (file === undefined && !existsSync(full)) {
    return configFromEnvironment({ env: terminal.env, kinds: names });
  }
  let text: string;
  try {
    text = await readFile(full, 'utf8');
  } catch (error) {
    throw new ConfigError(`cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
  return loadConfig({
    text,
    file: path,
    env: terminal.env,
    readFile: (name) => readFileSync(resolve(dirname(full), name), 'utf8'),
    kinds: names,
  });
}

/** The organization a command works on: the one named, or the only one there is. Throws ConfigError. */
export function chooseOrganization(config: Config, id: string | undefined): OrganizationConfig {
  const known = config.organizations.map((organization) => organization.id).join(', ');
  if (id !== undefined) {
    const chosen = config.organizations.find((organization) => organization.id === id);
    if (chosen === undefined) {
      throw new ConfigError(`no organization ${JSON.stringify(id)} is configured; there is ${known}`);
    }
    return chosen;
  }
  const [only, second] = config.organizations;
  if (only === undefined || second !== undefined) {
    throw new ConfigError(`several organizations are configured; say which with --organization: ${known}`);
  }
  return only;
}

/** A command's way to the platform. */
export function connect(config: Config, organization: OrganizationConfig, around: Surroundings): Connection {
  const { timeout, baseUrl } = config.platform;
  return openConnection({
    baseUrl,
    token: organization.token,
    userAgent: `octavo/${around.version}`,
    concurrency: config.queue.concurrency,
    clock: around.clock,
    random: around.random,
    timeouts: { headers: timeout, body: timeout },
  });
}

/** Counts the requests that a client sends. */
export class RequestCount {
  reads = 0;
  writes = 0;

  readonly onRequest: NonNullable<ClientOptions['onRequest']> = (operation) => {
    if (operation.method === 'GET') {
      this.reads += 1;
    } else {
      this.writes += 1;
    }
  };
}
