import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Figure, Figures, ratio } from './figures.ts';
import { writeConfig, writeFiles, writeTeams } from './manifests.ts';
import { median, type Run, runOnce } from './measure.ts';
import { floor, LATENCY, type Platform, startPlatform } from './platform.ts';
import type { Stage } from './stage.ts';

/** One thing that is measured. Goals are those of the project's performance page, by their numbers. */
export interface Case {
  readonly name: string;
  measure(stage: Stage, runs: number): Promise<readonly Figure[]>;
}

const create500 = create(500, 10, 1.3);
const create5000 = create(5000, 50, 1.25);

export const CASES: readonly Case[] = [
  create500,
  create5000,
  linear(),
  noChange(500, true, { wall: 0.25, calls: 1, peak: null }),
  noChange(5000, true, { wall: 0.6, calls: 5, peak: 150 }),
  noChange(500, false, { wall: null, calls: 1, peak: null }),
  noChange(5000, false, { wall: 1, calls: 5, peak: null }),
  members(500),
  members(5000),
  limited('first-call', 1.15),
  limited('fixed', 1.03),
  load(),
];

/** Goals 1 and 2: teams from nothing. */
function create(count: number, parallel: number, goal: number): Case {
  const name = `create ${count} at ${parallel}`;
  return {
    name,
    async measure(stage, runs) {
      const figures = new Figures(name);
      const { ours, floors, requests } = await createRuns(stage, count, parallel, runs);
      const walls = ours.map(({ wall }) => wall);
      figures.add('wall', median(walls), 's');
      figures.add('wall of the floor', median(floors.map(({ wall }) => wall)), 's');
      figures.add(
        'x floor',
        ratio(
          walls,
          floors.map(({ wall }) => wall),
        ),
        'x',
        goal,
      );
      figures.add('peak', median(ours.map(({ peak }) => peak)), 'MB', count === 5000 ? 160 : null);
      const cpu = median(ours.map((run) => run.cpu));
      figures.add('CPU a call', (1000 * cpu) / requests, 'ms', count === 5000 ? 0.25 : null);
      figures.add('CPU a call of the floor', (1000 * median(floors.map((run) => run.cpu))) / requests, 'ms');
      figures.add('requests', requests, 'requests', count + 1);
      return figures.list;
    },
  };
}

async function createRuns(stage: Stage, count: number, parallel: number, runs: number) {
  const folder = writeTeams(join(stage.folder, `teams-${count}-one`), count, { single: true });
  const ours: Run[] = [];
  const floors: Run[] = [];
  let requests = 0;
  for (let run = 0; run < runs; run += 1) {
    let platform = await startPlatform(stage);
    floors.push(await runOnce(stage, floor(stage, platform, parallel, 'create', String(count))));
    await platform.stop();
    platform = await startPlatform(stage);
    const config = writeConfig(join(stage.folder, 'config.yaml'), platform, parallel, folder);
    ours.push(await runOnce(stage, [stage.octavo, 'apply', folder, '--yes', '--config', config]));
    requests = (await platform.requests()).total;
    await platform.stop();
  }
  return { ours, floors, requests };
}

/** Goal 3: ten times as many take eleven times as long at most. */
function linear(): Case {
  const name = 'create 5000 / 500 at 10';
  return {
    name,
    async measure(stage) {
      const figures = new Figures(name);
      const few = await createRuns(stage, 500, 10, 1);
      const many = await createRuns(stage, 5000, 10, 1);
      const [a, b] = [few.ours[0]?.wall ?? 0, many.ours[0]?.wall ?? 0];
      figures.add('wall', b / a, 'x', 11);
      return figures.list;
    },
  };
}

interface NoChangeGoals {
  readonly wall: number | null;
  readonly calls: number;
  readonly peak: number | null;
}

/** Goal 4: a plan that finds nothing to do. */
function noChange(count: number, single: boolean, goals: NoChangeGoals): Case {
  const name = `no change, ${count} teams in ${single ? 'one file' : `${count} files`}`;
  return {
    name,
    async measure(stage, runs) {
      const folder = writeTeams(join(stage.folder, `teams-${count}-${single ? 'one' : 'many'}`), count, { single });
      const platform = await startPlatform(stage, count);
      const figures = new Figures(name);
      await planRuns(stage, platform, folder, { runs, parallel: 10, what: 'list', figures, goals });
      await platform.stop();
      return figures.list;
    },
  };
}

/** Goal 5: one list for each team cannot be avoided. */
function members(count: number): Case {
  const name = `no change, ${count} teams of five`;
  return {
    name,
    async measure(stage, runs) {
      const folder = writeTeams(join(stage.folder, `teams-${count}-members`), count, { members: 5, single: true });
      const platform = await startPlatform(stage, count, 5);
      const figures = new Figures(name);
      const goals = { wall: null, calls: Math.ceil(count / 1000) + count, peak: null };
      const less = count > 500 ? 1 : runs;
      await planRuns(stage, platform, folder, {
        runs: less,
        parallel: 10,
        what: 'members',
        figures,
        goals,
        floor: 1.3,
      });
      await platform.stop();
      return figures.list;
    },
  };
}

interface PlanRuns {
  readonly runs: number;
  readonly parallel: number;
  readonly what: 'list' | 'members';
  readonly figures: Figures;
  readonly goals: NoChangeGoals;
  readonly floor?: number;
}

async function planRuns(stage: Stage, platform: Platform, folder: string, options: PlanRuns): Promise<void> {
  const { figures, goals, parallel } = options;
  const config = writeConfig(join(stage.folder, 'config.yaml'), platform, parallel, folder);
  const ours: Run[] = [];
  const floors: Run[] = [];
  let calls = 0;
  for (let run = 0; run < options.runs; run += 1) {
    floors.push(await runOnce(stage, floor(stage, platform, parallel, options.what)));
    await platform.reset();
    const command = ['plan', folder, '--config', config, '--format', 'json', '--detailed-exitcode'];
    ours.push(await runOnce(stage, [stage.octavo, ...command]));
    calls = (await platform.requests()).total;
  }
  const walls = ours.map(({ wall }) => wall);
  const floorWalls = floors.map(({ wall }) => wall);
  figures.add('wall', median(walls), 's', goals.wall);
  figures.add('wall of the floor', median(floorWalls), 's');
  figures.add('x floor', ratio(walls, floorWalls), 'x', options.floor ?? null);
  figures.add('CPU', median(ours.map(({ cpu }) => cpu)), 's');
  figures.add('peak', median(ours.map(({ peak }) => peak)), 'MB', goals.peak);
  figures.add('requests', calls, 'requests', goals.calls);
}

const WINDOW = 2000;
const PER_WINDOW = 60;
const LIMITED_CALLS = 600;

/** Goal 6: 600 calls, 60 in every 2 s. */
function limited(kind: 'first-call' | 'fixed', goal: number): Case {
  const name = `rate limit, ${kind === 'fixed' ? 'windows by the clock' : 'windows from the first call'}`;
  return {
    name,
    async measure(stage) {
      // One read goes before the creations.
      const count = LIMITED_CALLS - 1;
      const folder = writeTeams(join(stage.folder, `teams-${count}-one`), count, { single: true });
      const platform = await startPlatform(stage);
      await platform.limit({ all: { kind, limit: PER_WINDOW, window: WINDOW } });
      const config = writeConfig(join(stage.folder, 'config.yaml'), platform, 10, folder);
      // A start at the end of a window would spend that window on planning, which does not measure the queue.
      await setTimeout(WINDOW - (Date.now() % WINDOW));
      const run = await runOnce(stage, [stage.octavo, 'apply', folder, '--yes', '--config', config]);
      const { entries } = await platform.requests();
      await platform.stop();
      const [first, last] = [entries[0]?.at ?? 0, entries.at(-1)?.at ?? 0];
      const opened = kind === 'fixed' ? Math.floor(first / WINDOW) * WINDOW : first;
      const least = opened + (LIMITED_CALLS / PER_WINDOW - 1) * WINDOW + LATENCY - first;
      const figures = new Figures(name);
      figures.add('wall', run.wall, 's');
      figures.add('first call to last answer', (last - first + LATENCY) / 1000, 's');
      figures.add('x floor', (last - first + LATENCY) / least, 'x', goal);
      figures.add('refused (429)', entries.filter(({ status }) => status === 429).length, 'requests', 6);
      return figures.list;
    },
  };
}

/** Goal 7: 10,000 files, compared with the YAML library alone. */
function load(): Case {
  const name = 'load and validate 10,000 files';
  return {
    name,
    async measure(stage, runs) {
      const figures = new Figures(name);
      const cold: number[] = [];
      const alone: number[] = [];
      const rest: { unchanged: number; changed: number }[] = [];
      const whole: number[] = [];
      const wholeAlone: number[] = [];
      const peaks: number[] = [];
      const folder = join(stage.folder, 'files');
      for (let run = 0; run < runs; run += 1) {
        rmSync(folder, { recursive: true, force: true });
        writeFiles(folder, 10_000);
        const yaml = await runOnce(stage, [stage.program('yaml-alone'), folder]);
        const checked = await runOnce(stage, [stage.octavo, 'validate', folder]);
        const loaded = await runOnce(stage, [stage.program('load'), folder]);
        const times = JSON.parse(loaded.output) as { cold: number; unchanged: number; changed: number };
        alone.push((JSON.parse(yaml.output) as { cold: number }).cold);
        cold.push(times.cold);
        rest.push(times);
        wholeAlone.push(yaml.wall);
        whole.push(checked.wall);
        peaks.push(checked.peak);
      }
      figures.add('cold', median(cold) / 1000, 's');
      figures.add('cold, yaml alone', median(alone) / 1000, 's');
      figures.add('x yaml alone', ratio(cold, alone), 'x', 1.1);
      figures.add('x yaml alone, whole process', ratio(whole, wholeAlone), 'x');
      figures.add('unchanged', median(rest.map(({ unchanged }) => unchanged)) / 1000, 's', 0.1);
      figures.add('ten changed', median(rest.map(({ changed }) => changed)) / 1000, 's', 0.15);
      figures.add('peak', median(peaks), 'MB');
      return figures.list;
    },
  };
}
