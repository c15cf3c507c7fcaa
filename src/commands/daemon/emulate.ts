/** Command that serves the embedded platform. */
import { resolve } from 'node:path';
import { ConfigError, EXIT, type ExitCode, messageOf } from '../../core/errors.ts';
import { readRegularFile } from '../../core/files/disk.ts';
import {
  type Emulator,
  type EmulatorOptions,
  type EmulatorState,
  type PlatformVersion,
  type RateLimits,
  startEmulator,
} from '../../emulator/emulator.ts';
import { allOperations, VERSIONS } from '../../platform/operations/table.ts';
import { type CommandContext, untilAborted } from '../cli/context.ts';
import { FEATURE_NAMES } from '../cli/feature-names.ts';

export interface EmulateFlags {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly seed?: string;
  readonly state?: string;
  readonly latency?: number;
  /** `60/2s` or `60/2s:first-call`. */
  readonly limit?: string;
  readonly faults?: number;
  /** Version to emulate. */
  readonly platform?: PlatformVersion;
  /** Features that are on, by the names of {@link FEATURE_NAMES}. */
  readonly with?: readonly string[];
  /** Features that are off, by the names of {@link FEATURE_NAMES}. */
  readonly without?: readonly string[];
}

/** Runs `octavo emulate`: the embedded platform, until the process is stopped. */
export async function emulateCommand(flags: EmulateFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal, clock, signal } = context;
  const emulator = await start(flags.port, {
    host: flags.host,
    port: flags.port,
    token: flags.token,
    clock,
    seed: flags.seed === undefined ? undefined : await readSeed(resolve(terminal.cwd, flags.seed), flags.seed),
    file: flags.state === undefined ? undefined : resolve(terminal.cwd, flags.state),
    latency: flags.latency,
    platform: flags.platform,
    documented: documentedIn(flags.platform ?? '0.146'),
    features: { ...featuresNamed(flags.with, true), ...featuresNamed(flags.without, false) },
    limits: flags.limit === undefined ? undefined : readLimit(flags.limit),
    faults: flags.faults === undefined ? [] : [{ rate: flags.faults / 100, fault: { kind: 'status', status: 503 } }],
  });
  terminal.out(
    [
      `export OCTAVO_BASE_URL=${emulator.url}`,
      `export OCTAVO_TOKEN=${emulator.token}`,
      `export OCTAVO_ORGANIZATION=${emulator.organization}`,
      '',
    ].join('\n'),
  );
  terminal.err('The embedded platform is running. Paste the lines above into your shell; press Ctrl-C to stop.\n');
  try {
    await untilAborted(signal);
  } finally {
    await emulator.close();
  }
  return EXIT.done;
}

/** Returns the operations of a version; between two documents, those that both have. */
function documentedIn(platform: PlatformVersion): EmulatorOptions['documented'] {
  const needed = VERSIONS.filter((version) => version === platform);
  return allOperations()
    .filter(({ versions }) => (needed.length === 0 ? VERSIONS : needed).every((version) => versions.includes(version)))
    .map(({ method, path }) => ({ method, path: path.replace(/^\/v1/, '') }));
}

/** Turns the named features on or off. */
function featuresNamed(names: readonly string[] = [], isOn: boolean): EmulatorOptions['features'] {
  const features = Object.entries(FEATURE_NAMES).filter(([, name]) => names.includes(name));
  return Object.fromEntries(features.map(([feature]) => [feature, isOn]));
}

/** Starts the platform. Throws ConfigError for a port in use, or a state file that cannot be read. */
async function start(port: number, options: EmulatorOptions): Promise<Emulator> {
  try {
    return await startEmulator(options);
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    throw new ConfigError(
      isTaken
        ? `port ${port} is in use; pass another --port, or leave it out`
        : `cannot start the embedded platform: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** Size limit of a seed, in bytes. */
const MAX_SEED_SIZE = 256 * 1_048_576;

async function readSeed(path: string, name: string): Promise<EmulatorState> {
  try {
    return JSON.parse(readRegularFile(path, { limit: MAX_SEED_SIZE }).toString('utf8')) as EmulatorState;
  } catch (error) {
    throw new ConfigError(`cannot read --seed ${name}: ${messageOf(error)}`, { cause: error });
  }
}

/** Parses a limit: `60/2s` is 60 requests per window of 2 seconds. */
function readLimit(text: string): RateLimits {
  const match = /^(\d+)\/(\d+(?:\.\d+)?)s(?::(fixed|first-call))?$/.exec(text);
  if (match === null) {
    throw new ConfigError(`--limit ${JSON.stringify(text)} is not valid; use a form such as 60/2s or 60/2s:first-call`);
  }
  const kind = match[3] === 'first-call' ? 'first-call' : 'fixed';
  return { all: { kind, limit: Number(match[1]), window: Number(match[2]) * 1000 } };
}
