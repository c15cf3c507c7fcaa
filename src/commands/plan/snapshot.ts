/** Saves the actual state, and plans against a saved one. */
import { resolve } from 'node:path';
import type { Config, OrganizationConfig } from '../../config/config.ts';
import type { Plan } from '../../core/change.ts';
import { ConfigError, EXIT, type ExitCode, messageOf } from '../../core/errors.ts';
import { readRegularFile } from '../../core/files/disk.ts';
import { pathArgument } from '../../core/text/shell.ts';
import { kinds } from '../../kinds/registry.ts';
import { counted, printable } from '../../plan/render/words.ts';
import { applyParallel, makePlan } from '../../reconcile/planning.ts';
import {
  estimateAtRate,
  MAX_SNAPSHOT_BYTES,
  readSnapshot,
  type Snapshot,
  SnapshotSource,
  takeSnapshot,
  writeSnapshot,
} from '../../reconcile/snapshot.ts';
import { SECRET } from '../../redact.ts';
import { chooseOrganization, readConfigWithoutSecrets, readTarget } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';
import { withPlatform } from '../cli/session.ts';
import { nextCommand } from './next-command.ts';
import { writePrivateFile } from './plan-file.ts';
import { type CommandInput, type PlanningFlags, planningInput } from './planning.ts';
import { readWithProgress } from './progress.ts';

interface SnapshotFlags {
  readonly config?: string;
  readonly organization?: string;
  readonly out?: string;
}

/** Runs `octavo snapshot`: saves the actual state without secrets and certificates. */
export async function snapshotCommand(flags: SnapshotFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const target = await readTarget(flags, context);
  const taken = await withPlatform(target, context, (session) =>
    readWithProgress(target.organization.id, session, terminal, (reader) =>
      takeSnapshot(kinds, reader, context.clock.now(), () => session.connection.queue.snapshot()),
    ),
  );
  const text = without(context.secrets ?? [], writeSnapshot(taken));
  for (const [kind, of] of Object.entries(taken.kinds)) {
    if ('error' in of) {
      terminal.err(`${kind} could not be read: ${printable(of.error)}; plans that need it will report this\n`);
    }
  }
  if (flags.out === undefined) {
    terminal.out(text);
  } else {
    await writePrivateFile(resolve(terminal.cwd, flags.out), text);
    const { config, out } = flags;
    const next = nextCommand(['plan', '--snapshot', pathArgument(out)], { config, organization: flags.organization });
    terminal.err(`Saved the snapshot to ${printable(out)}; plan from it with:\n  ${next}\n`);
  }
  return EXIT.done;
}

/**
 * Removes secrets of the configuration from the snapshot, in case the platform has one. Other text that resembles a
 * secret is kept, because it may be a title.
 */
function without(secrets: Iterable<string>, text: string): string {
  const known = [...secrets].filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  return known.reduce((clean, secret) => clean.replaceAll(secret, SECRET), text);
}

/** Minimum length; shorter secrets would also match parts of words. */
const MIN_SECRET_LENGTH = 8;

/** Plans against a snapshot, without a token and without requests to the platform. */
export async function planOverSnapshot(
  folder: string,
  flags: PlanningFlags & { readonly organization?: string; readonly snapshot: string },
  context: CommandContext,
): Promise<{ readonly input: CommandInput; readonly plan: Plan }> {
  const { terminal, clock } = context;
  const snapshot = await openSnapshot(flags.snapshot, terminal.cwd);
  const config = await readConfigWithoutSecrets(flags.config, snapshot.organization, context, folder);
  const organization = organizationOf(snapshot, config, flags);
  const age = clock.now() - Date.parse(snapshot.takenAt);
  const estimate = estimateAtRate(
    snapshot.requestRate,
    config.queue.concurrency,
    applyParallel(config.queue.concurrency),
  );
  const input = await planningInput({ folder, config, organization, queue: { estimate } }, flags, context);
  const { plan } = await makePlan(input, new SnapshotSource(snapshot));
  terminal.err(`Planned from the snapshot of ${snapshot.takenAt}${ageWords(age)}\n`);
  return { input, plan };
}

async function openSnapshot(file: string, cwd: string): Promise<Snapshot> {
  const path = resolve(cwd, file);
  let text: string;
  try {
    text = readRegularFile(path, { limit: MAX_SNAPSHOT_BYTES }).toString('utf8');
  } catch (error) {
    throw new ConfigError(`cannot read --snapshot ${file}: ${messageOf(error)}`, { cause: error });
  }
  return readSnapshot(text, file, kinds);
}

function organizationOf(
  { organization: of }: Snapshot,
  config: Config,
  flags: { readonly organization?: string },
): OrganizationConfig {
  const wanted = flags.organization ?? (config.organizations.some(({ id }) => id === of) ? of : undefined);
  const organization = chooseOrganization(config, wanted);
  if (organization.id !== of) {
    const names = `${JSON.stringify(of)}, but the plan is for ${JSON.stringify(organization.id)}`;
    throw new ConfigError(`--snapshot is of organization ${names}; take a snapshot of that organization`);
  }
  return organization;
}

const HOUR = 3_600_000;

/** Age of a snapshot, from one hour on; it does not show later changes. */
function ageWords(age: number): string {
  return age < HOUR ? '' : `, ${counted(Math.floor(age / HOUR), 'hour')} old`;
}
