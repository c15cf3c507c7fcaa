/** All cases, in the order in which they run. */
import type { Case } from '../runner.ts';
import { DAEMON_CASES } from './daemon.ts';
import { FLEET_CASES } from './fleet.ts';
import { GROWTH_CASES } from './growth.ts';
import { INGESTION_CASES } from './ingestion.ts';
import { LOAD_CASE } from './load.ts';
import { RATE_LIMIT_CASES } from './rate-limit.ts';
import { RECONCILE_CASES } from './reconcile.ts';
import { START_CASES } from './start.ts';
import { WEB_PAGE_CASES } from './web-page.ts';

export const CASES: readonly Case[] = [
  ...START_CASES,
  ...RECONCILE_CASES,
  LOAD_CASE,
  ...DAEMON_CASES,
  ...INGESTION_CASES,
  ...GROWTH_CASES,
  ...RATE_LIMIT_CASES,
  ...WEB_PAGE_CASES,
  ...FLEET_CASES,
];

/**
 * Returns the cases with the given names, where `create` names all that begin with `create-`; without names, all cases.
 * Cases that take long must be named in full, unless `full` is set. Throws an error if a name matches none.
 */
export function chooseCases(all: readonly Case[], names: readonly string[], full: boolean): readonly Case[] {
  const short = all.filter(({ long }) => full || long !== true);
  if (names.length === 0) {
    return short;
  }
  const named = names.flatMap((part) => {
    const exact = all.filter(({ name }) => name === part);
    const found = exact.length > 0 ? exact : short.filter(({ name }) => name.startsWith(`${part}-`));
    if (found.length === 0) {
      throw new Error(`${part}: unknown case; list the cases with --list`);
    }
    return found;
  });
  return all.filter((each) => named.includes(each));
}
