/** Whole commands that create teams or find nothing to change, compared with clients that send the same requests. */
import { join } from 'node:path';
import { findDeck, runDeck } from '../deck.ts';
import { median, ratios } from '../figures.ts';
import { writeConfig, writeTeams } from '../manifests.ts';
import { alternate, type Run, runOnce } from '../measure.ts';
import { type Platform, peer, startPlatform } from '../platform.ts';
import type { Case, CaseContext } from '../runner.ts';

export const RECONCILE_CASES: readonly Case[] = [
  create(500, 10, { floor: 1.3, deck: 1.15 }),
  create(5000, 50, { floor: 1.25, limited: 1, cpu: 300, peak: 160 }),
  createGrowth(),
  noChange('no-change-500', 500, { single: true }, { wall: 0.25, requests: 1 }),
  noChange('no-change-5000', 5000, { single: true }, { wall: 0.6, requests: 5, peak: 120 }),
  noChange('no-change-5000-files', 5000, { single: false }, { wall: 1, requests: 5 }),
  noChange('no-change-members-500', 500, { single: true, members: 5 }, { floor: 1.3, requests: 501 }),
  noChange('no-change-members-5000', 5000, { single: true, members: 5 }, { floor: 1.3, requests: 5005 }),
];

interface Goals {
  readonly wall?: number | null;
  /** Wall time over that of node:http. */
  readonly floor?: number | null;
  /** Wall time over that of p-limit. */
  readonly limited?: number | null;
  /** Wall time over that of decK; not compared without it. */
  readonly deck?: number | null;
  /** Microseconds per request. */
  readonly cpu?: number | null;
  readonly peak?: number | null;
}

type Contender = 'octavo' | 'floor' | 'undici' | 'p-limit';

function create(count: number, parallel: number, goals: Goals): Case {
  return {
    name: `create-${count}`,
    title: `Create ${format(count)} teams with ${parallel} requests in parallel`,
    async measure(context) {
      const folder = writeTeams(join(context.folder, 'teams'), count, { single: true });
      let requests = 0;
      const on = async (run: (platform: Platform) => Promise<Run>) => {
        const platform = await startPlatform(context);
        const result = await run(platform);
        requests = (await platform.requests()).total;
        await platform.stop();
        return result;
      };
      const client = (transport: 'http' | 'undici' | 'vendor') => () =>
        on((platform) => runOnce(context, peer(context, platform, transport, parallel, 'create', String(count))));
      const deck = goals.deck === undefined ? null : findDeck();
      const { decks, ...found } = await alternate(context.runs, {
        floor: client('http'),
        undici: client('undici'),
        'p-limit': client('vendor'),
        decks: async () => (deck === null ? null : runDeck(context, deck, count, parallel)),
        octavo: () => on((platform) => apply(context, platform, parallel, folder)),
      });
      recordComparison(context, found, requests, goals);
      const deckWalls = decks.filter((wall) => wall !== null);
      if (deckWalls.length > 0) {
        context.record('decK: wall', 'seconds', deckWalls);
        context.record('wall over decK', 'time ratio', ratios(wallsOf(found.octavo), deckWalls), goals.deck);
      }
      const limited = ratios(wallsOf(found.octavo), wallsOf(found['p-limit']));
      context.record('wall over p-limit', 'time ratio', limited, goals.limited);
      context.record('requests', 'count', requests, count + 1);
    },
  };
}

function apply(context: CaseContext, platform: Platform, parallel: number, folder: string): Promise<Run> {
  const config = writeConfig(join(context.folder, 'config.json'), platform, parallel, folder);
  return runOnce(context, [context.installed.octavo, 'apply', folder, '--yes', '--config', config]);
}

function createGrowth(): Case {
  return {
    name: 'create-growth',
    title: 'Create 5,000 teams and 500 teams, both with 10 requests in parallel',
    async measure(context) {
      const timed = (count: number) => async () => {
        const folder = writeTeams(join(context.folder, `teams-${count}`), count, { single: true });
        const platform = await startPlatform(context);
        const run = await apply(context, platform, 10, folder);
        await platform.stop();
        return run;
      };
      const { few, many } = await alternate(1, { few: timed(500), many: timed(5000) });
      context.record('wall, 5,000 over 500', 'time ratio', ratios(wallsOf(many), wallsOf(few)), 11);
      context.record('CPU, 5,000 over 500', 'CPU ratio', ratios(cpusOf(many), cpusOf(few)));
    },
  };
}

function noChange(
  name: string,
  count: number,
  layout: { readonly single: boolean; readonly members?: number },
  goals: Goals & { readonly requests: number },
): Case {
  const { single, members = 0 } = layout;
  const people = members === 0 ? '' : ` of ${members} people`;
  return {
    name,
    title: `Plan without changes: ${format(count)} teams${people} in ${single ? 'one file' : `${format(count)} files`}`,
    long: members > 0 && count > 500,
    async measure(context) {
      const folder = writeTeams(join(context.folder, 'teams'), count, layout);
      const platform = await startPlatform(context, count, members);
      const config = writeConfig(join(context.folder, 'config.json'), platform, 10, folder);
      const plan = ['plan', folder, '--config', config, '--format', 'json', '--detailed-exitcode'];
      const what = members === 0 ? 'list' : 'members';
      const client = (transport: 'http' | 'vendor') => () =>
        runOnce(context, peer(context, platform, transport, 10, what));
      let requests = 0;
      const found = await alternate(context.runs, {
        floor: client('http'),
        'p-limit': client('vendor'),
        octavo: async () => {
          await platform.reset();
          const run = await runOnce(context, [context.installed.octavo, ...plan]);
          requests = (await platform.requests()).total;
          return run;
        },
      });
      recordComparison(context, found, requests, goals);
      context.record('requests', 'count', requests, goals.requests);
      const counted = await runOnce(context, [context.installed.octavo, ...plan], { countModules: true });
      context.record('modules', 'count', counted.modules, 60);
    },
  };
}

function recordComparison(
  context: CaseContext,
  found: Readonly<Partial<Record<Contender, readonly Run[]>>>,
  requests: number,
  goals: Goals,
): void {
  const { octavo = [], floor = [], ...others } = found;
  const perRequest = (runs: readonly Run[]) => cpusOf(runs).map((cpu) => (1e6 * cpu) / requests);
  context.record('wall', 'seconds', wallsOf(octavo), goals.wall);
  context.record('wall over floor', 'time ratio', ratios(wallsOf(octavo), wallsOf(floor)), goals.floor);
  context.record('CPU over floor', 'CPU ratio', ratios(cpusOf(octavo), cpusOf(floor)));
  if (requests >= 500) {
    context.record('CPU per request', 'microseconds', perRequest(octavo), goals.cpu);
    context.record('floor: CPU per request', 'microseconds', perRequest(floor));
  }
  context.record('CPU', 'seconds', cpusOf(octavo));
  context.record('peak memory', 'memory', peaksOf(octavo), goals.peak);
  for (const [name, runs] of Object.entries({ floor, ...others })) {
    context.record(`${name}: wall`, 'seconds', wallsOf(runs));
    context.record(`${name}: CPU`, 'seconds', cpusOf(runs));
    context.record(`${name}: peak memory`, 'megabytes', median(peaksOf(runs)));
  }
}

function format(count: number): string {
  return count.toLocaleString('en-US');
}

function wallsOf(runs: readonly Run[]): readonly number[] {
  return runs.map(({ wall }) => wall);
}

function cpusOf(runs: readonly Run[]): readonly number[] {
  return runs.map(({ cpu }) => cpu);
}

function peaksOf(runs: readonly Run[]): readonly number[] {
  return runs.map(({ peak }) => peak);
}
