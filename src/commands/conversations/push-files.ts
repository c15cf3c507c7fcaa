/** Flags and files of a push, with and without `--dry-run`. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError } from '../../core/errors.ts';
import type { CommandContext } from '../cli/context.ts';
import type { StateFlags } from '../cli/control-call.ts';

export interface PushFlags extends StateFlags {
  readonly account: string;
  /** Email domains of the team. */
  readonly teamDomains?: readonly string[];
}

/** Returns the absolute paths of files. Throws ConfigError if one does not exist. */
export function existingFiles(files: readonly string[], { terminal }: CommandContext): string[] {
  const paths = files.map((file) => resolve(terminal.cwd, file));
  const missing = paths.findIndex((path) => !existsSync(path));
  if (missing >= 0) {
    throw new ConfigError(`${files[missing]}: file not found`);
  }
  return paths;
}

/** Warns that every mail counts as the customer's when no team domain is set. */
export function noteTeam({ teamDomains = [] }: PushFlags, { terminal }: CommandContext): void {
  if (teamDomains.length === 0) {
    terminal.err("No team domains are set, so every mail counts as the customer's. Set them with --team-domains\n");
  }
}
