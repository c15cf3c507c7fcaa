import { resolve } from 'node:path';
import { type Config, configFromEnvironment, type OrganizationConfig } from '../../config/config.ts';
import { loadConfig } from '../../config/load.ts';
import type { Clock, Random } from '../../core/clock.ts';
import { ConfigError, TransientError } from '../../core/errors.ts';
import { kinds } from '../../kinds/registry.ts';
import type { ClientOptions } from '../../platform/client.ts';
import { type Connection, openConnection } from '../../platform/connection.ts';
import { createRequestQueue } from '../../queue/schedule/dispatcher.ts';
import { type ChosenConfig, chooseConfig, DEFAULT_CONFIG, readAllNamed } from './config-source.ts';
import { ConnectivityMonitor } from './connectivity-monitor.ts';
import type { Terminal } from './terminal.ts';

/** What every command is given: the world outside. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly random: Random;
  /** `octavo/<version>` without the name. */
  readonly version: string;
  /** The package's own folder, with the examples in it. */
  readonly root: URL;
  /** Aborts when the process is asked to end. */
  readonly signal: AbortSignal;
  /** The signal that asked it to end. */
  readonly stoppedBy?: () => 'SIGINT' | 'SIGTERM';
  /** What must never be shown; whoever reads a configuration adds what it holds. */
  readonly secrets?: Set<string>;
}

/** Resolves when the process is asked to end. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve_) => {
    if (signal.aborted) {
      resolve_();
    } else {
      signal.addEventListener('abort', () => resolve_(), { once: true });
    }
  });
}

/**
 * The configuration of a command: the file that `--config` or `OCTAVO_CONFIG` names, else the environment, else
 * `config.yaml` in the working directory (`chooseConfig` says when). `manifests`: the folder that the command plans.
 * Throws ConfigError.
 */
export async function readConfig(
  file: string | undefined,
  { terminal, secrets }: CommandContext,
  manifests?: string,
): Promise<Config> {
  const config = await loadChosen(await choose(file, terminal, manifests), file, terminal);
  for (const secret of config.secrets) {
    secrets?.add(secret);
  }
  return config;
}

/**
 * The same for commands that follow the paths and the other addresses of a configuration, such as the daemon: a file
 * that nobody named is not enough. Throws ConfigError.
 */
export async function readTrustedConfig(file: string | undefined, context: CommandContext): Promise<Config> {
  const chosen = await choose(file, context.terminal);
  if (chosen.source?.trust === 'found') {
    throw new ConfigError(
      `this command does not read ${DEFAULT_CONFIG} by default, because it opens the files and addresses in it; pass --config ${DEFAULT_CONFIG} or set OCTAVO_CONFIG`,
    );
  }
  return readConfig(file, context);
}

/**
 * The configuration of a command that asks the platform nothing, as it may be in a stranger's pull request: no variable
 * but the organization's id and the platform's address is read, and no file that the configuration names; something
 * stands in their place. Without a configuration there is `organization` alone, with everything at its default.
 */
export async function readConfigWithoutSecrets(
  file: string | undefined,
  organization: string,
  { terminal }: CommandContext,
  manifests?: string,
): Promise<Config> {
  const known: Readonly<Record<string, string>> = {
    OCTAVO_BASE_URL: terminal.env.OCTAVO_BASE_URL || NOWHERE,
    OCTAVO_ORGANIZATION: terminal.env.OCTAVO_ORGANIZATION || organization,
  };
  const env = new Proxy(known, { get: (_target, name) => known[String(name)] ?? NOWHERE });
  const { source, ignored } = await choose(file, terminal, manifests);
  // Nothing is read that could be sent, so nothing has to be trusted.
  const withoutSecrets: ChosenConfig =
    source === null
      ? { source, ignored: ignored ?? null }
      : { source: { ...source, trust: 'named', read: () => NOWHERE } };
  return loadChosen(withoutSecrets, file, { ...terminal, env });
}

/** What stands in the place of values that are not read: it can be a text, a secret, and an address of nothing. */
const NOWHERE = 'https://not-read.invalid';

function choose(named: string | undefined, { cwd, env }: Terminal, manifests?: string): Promise<ChosenConfig> {
  return chooseConfig({ named, cwd, env, ...(manifests === undefined ? {} : { manifests }) });
}

async function loadChosen(
  { source, ignored }: ChosenConfig,
  file: string | undefined,
  { env }: Terminal,
): Promise<Config> {
  if (source === null) {
    return configFromEnvironment({ env, kinds, ...(ignored ? { ignored } : {}) });
  }
  const { text, folder, trust } = source;
  const load = (readFile: (path: string) => string) =>
    loadConfig({ text, file: file ?? DEFAULT_CONFIG, folder, env, readFile, kinds, trust });
  const wanted = new Set<string>();
  try {
    // Which files it names is known once it has been read; nothing else of this first reading counts.
    load((name) => {
      wanted.add(resolve(folder, name));
      return NOWHERE;
    });
  } catch {
    // Said below, with what the files hold.
  }
  const contents = await readAllNamed(source, wanted);
  const config = load((name) => {
    const content = contents.get(resolve(folder, name));
    if (typeof content !== 'string') {
      throw content ?? new Error('it was not read');
    }
    return content;
  });
  return besideFile(config, folder);
}

/** Paths are relative to the file they stand in, wherever a command is run. */
function besideFile(config: Config, folder: string): Config {
  return Object.freeze({
    ...config,
    store: Object.freeze({ ...config.store, path: resolve(folder, config.store.path) }),
    organizations: Object.freeze(
      config.organizations.map((organization) =>
        organization.source?.directory === undefined
          ? organization
          : Object.freeze({ ...organization, source: { directory: resolve(folder, organization.source.directory) } }),
      ),
    ),
  });
}

/** The organization a command works on: the one named, or the only one there is. Throws ConfigError. */
export function chooseOrganization(config: Config, id: string | undefined): OrganizationConfig {
  const known = config.organizations.map((organization) => organization.id).join(', ');
  if (id !== undefined) {
    const chosen = config.organizations.find((organization) => organization.id === id);
    if (chosen === undefined) {
      throw new ConfigError(`no organization ${JSON.stringify(id)} is configured; configured organizations: ${known}`);
    }
    return chosen;
  }
  const [only, second] = config.organizations;
  if (only === undefined || second !== undefined) {
    throw new ConfigError(`several organizations are configured; pass --organization with one of ${known}`);
  }
  return only;
}

/** A command's way to the platform. `signal` aborts when the process is asked to end, or nothing ever answers. */
export interface PlatformSession {
  readonly connection: Connection;
  readonly signal: AbortSignal;
  /** Says why nothing ever answered, where that is why it ended. */
  explain(error: unknown): unknown;
}

/** Works with a way to the platform, and closes it. */
export async function withPlatform<T>(
  config: Config,
  organization: OrganizationConfig,
  context: CommandContext,
  work: (session: PlatformSession) => Promise<T>,
): Promise<T> {
  const monitor = new ConnectivityMonitor(new URL(config.platform.baseUrl).origin, context.terminal);
  const connection = connect(config, organization, context, monitor);
  // Asked to end: what is in flight ends, and what waits is given up.
  const onEnd = () => void connection.queue.drain(CLOSING);
  context.signal.addEventListener('abort', onEnd, { once: true });
  try {
    return await work({
      connection,
      signal: AbortSignal.any([context.signal, monitor.signal]),
      explain: (error) => monitor.explain(error),
    });
  } catch (error) {
    throw monitor.explain(error);
  } finally {
    context.signal.removeEventListener('abort', onEnd);
    await connection.close();
  }
}

function connect(
  config: Config,
  organization: OrganizationConfig,
  context: CommandContext,
  monitor: ConnectivityMonitor,
): Connection {
  const { timeout, baseUrl } = config.platform;
  const { clock, random } = context;
  const { concurrency, deadline } = config.queue;
  const queue = createRequestQueue({ clock, random, concurrency, deadline, onEvent: monitor.onEvent });
  const connection = openConnection({
    baseUrl,
    token: organization.token,
    userAgent: `octavo/${context.version}`,
    concurrency,
    clock,
    random,
    timeouts: { headers: timeout, body: timeout },
    queue,
  });
  const watched = async <T extends { readonly status: number }>(answering: Promise<T>, signal: AbortSignal) => {
    try {
      const answer = await answering;
      if (answer.status >= 500) {
        monitor.failed(new TransientError(`${connection.origin} responded with status ${answer.status}`, false));
      }
      return answer;
    } catch (error) {
      if (!signal.aborted) {
        monitor.failed(error);
      }
      throw error;
    }
  };
  const transport: Connection['transport'] = {
    send: (request, signal) => watched(connection.transport.send(request, signal), signal),
    open: (request, signal) => watched(connection.transport.open(request, signal), signal),
  };
  return {
    ...connection,
    transport,
    async close() {
      await queue.drain(CLOSING);
      await connection.close();
    },
  };
}

/** Milliseconds that requests in flight get to end. */
const CLOSING = 5000;

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
