/** The web page: size and time of its pages, and what open pages cost the passes. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type Daemon, startDaemon } from '../daemon.ts';
import { ratios } from '../figures.ts';
import { cpuSeconds, residentMegabytes } from '../machine.ts';
import { type DaemonSettings, writeDaemonConfig, writeTeams } from '../manifests.ts';
import { alternate, runOnce } from '../measure.ts';
import { startPlatform } from '../platform.ts';
import type { Case, CaseContext } from '../runner.ts';
import { load, loadJson, measurePages, openStreams } from '../web-page.ts';

const RESOURCES = 100_000;
const ORGANIZATIONS = 1000;
/** Passes and entries of the audit of each organization: as many as the history keeps. */
const HISTORY = 1000;
const STREAMS = 200;
/** Milliseconds after streams were opened or closed, which are not counted. */
const SETTLE = 1000;
/** Streams may slow passes by this much. */
const GOAL = 1.05;

interface OrganizationJson {
  readonly plan: { readonly path: string };
  readonly list: { readonly rows: readonly { readonly path: string }[]; readonly next: string };
}

export const WEB_PAGE_CASES: readonly Case[] = [
  {
    name: 'web-page-organizations',
    title: `Pages of ${ORGANIZATIONS.toLocaleString('en-US')} organizations with a full history`,
    long: true,
    async measure(context) {
      const { daemon, page } = await start(context, 1, {
        organizations: names(ORGANIZATIONS),
        history: HISTORY,
      });
      const first = await load(page);
      context.record('first page, bytes', 'count', Buffer.byteLength(first.text), 50_000);
      context.record('first page', 'milliseconds', first.milliseconds, 100);
      const one = '/o/org_0500';
      const { plan } = await loadJson<OrganizationJson>(`${page}${one}`);
      const { next } = await loadJson<{ readonly next: string }>(`${page}/audit`);
      await measurePages(context, page, {
        organizations: '/',
        'organizations, filtered': '/?q=org_09&state=waiting',
        'organizations, last page': '/?after=org_0899',
        organization: one,
        plan: plan.path,
        passes: `${one}/history`,
        'passes, last page': `${one}/history?before=51`,
        pass: `${one}/history/500`,
        conversations: `${one}/conversations`,
        'dead letters': `${one}/refused`,
        clusters: `${one}/questions`,
        budget: '/limits',
        audit: '/audit',
        'audit, next page': `/audit?before=${encodeURIComponent(next)}`,
        'audit, old entries': `/audit?before=${Date.now() - 80 * 24 * 3_600_000}-1-org_0500`,
        'audit of an organization': `${one}/audit`,
        log: '/log',
      });
      context.record('peak memory', 'memory', residentMegabytes(daemon.child.pid ?? 0).peak);
      const scripts = [...first.text.matchAll(/<script src="([^"]+)"/g)].map(([, path]) => `${page}${path}`);
      const sizes = await Promise.all(scripts.map(async (url) => gzipSync((await load(url)).text).length));
      const size = sizes.reduce((sum, each) => sum + each, 0);
      context.record('scripts, compressed bytes', 'count', size, 12_288);
    },
  },
  {
    name: 'web-page-resources',
    title: `Pages of an organization with ${RESOURCES.toLocaleString('en-US')} resources, all of them planned`,
    long: true,
    async measure(context) {
      const { daemon, page } = await start(context, RESOURCES, { organizations: ['org_0000'] });
      const one = '/o/org_0000';
      const pid = daemon.child.pid ?? 0;
      // Loads the modules and compiles the page.
      await load(page);
      const before = cpuSeconds(pid);
      const first = await load(`${page}${one}`);
      context.record('organization, CPU of the first view', 'seconds', cpuSeconds(pid) - before, 0.2);
      context.record('organization, bytes', 'count', Buffer.byteLength(first.text), 50_000);
      context.record('organization, first view of all', 'milliseconds', first.milliseconds, 200);
      const { plan, list } = await loadJson<OrganizationJson>(`${page}${one}`);
      await measurePages(context, page, {
        organization: one,
        'search of resources': `${one}?q=team-99999`,
        'resources of a state': `${one}?state=planned`,
        'next page of resources': `${one}?after=${encodeURIComponent(list.next)}`,
        resource: list.rows[0]?.path ?? '',
        plan: plan.path,
        'plan, next page': `${plan.path}?from=50000`,
        passes: `${one}/history`,
        pass: `${one}/history/1`,
      });
      context.record(
        'download of the plan',
        'milliseconds',
        (await load(`${page}${plan.path}/plan.json`)).milliseconds,
      );
    },
  },
  streams('web-page-streams-stress', 'one organization, one after the other', {
    organizations: 1,
    teams: 500,
    rounds: 200,
  }),
  streams('web-page-streams', '100 organizations every 5 s', { organizations: 100, teams: 10, rounds: 4, pause: 5000 }),
];

interface StreamLoad {
  readonly organizations: number;
  readonly teams: number;
  /** Passes of every organization in each measurement. */
  readonly rounds: number;
  /** Milliseconds after each of them. */
  readonly pause?: number;
}

function streams(name: string, what: string, { organizations, teams, rounds, pause = 0 }: StreamLoad): Case {
  return {
    name,
    title: `Passes with ${STREAMS} open event streams over passes without: ${what}`,
    long: true,
    async measure(context) {
      const { daemon, page } = await start(context, teams, { organizations: names(organizations) });
      const measureRounds = async () => {
        const pid = daemon.child.pid ?? 0;
        const [started, cpu] = [performance.now(), cpuSeconds(pid)];
        for (let round = 0; round < rounds; round += 1) {
          daemon.child.kill('SIGHUP');
          await endOfPasses(daemon, organizations);
          await sleep(pause);
        }
        const passes = organizations * rounds;
        const wall = (performance.now() - started - rounds * pause) / 1000;
        return { cpu: (cpuSeconds(pid) - cpu) / passes, wall: wall / passes };
      };
      const found = await alternate(context.runs * 3, {
        without: measureRounds,
        with: async () => {
          const close = await openStreams(page, STREAMS);
          await sleep(SETTLE);
          const result = await measureRounds();
          close();
          await sleep(SETTLE);
          return result;
        },
      });
      for (const each of ['cpu', 'wall'] as const) {
        const [bare, open] = [found.without.map((run) => run[each]), found.with.map((run) => run[each])];
        const label = each === 'cpu' ? 'CPU per pass' : 'wall per pass';
        context.record(`${label}, without streams`, 'seconds', bare);
        context.record(`${label}, with streams`, 'seconds', open);
        context.record(
          `${label}, over passes without`,
          each === 'cpu' ? 'CPU ratio' : 'time ratio',
          ratios(open, bare),
          GOAL,
        );
      }
    },
  };
}

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `org_${String(index).padStart(4, '0')}`);
}

/** Starts a daemon that writes nothing, and waits for the first pass of each organization. */
async function start(
  context: CaseContext,
  teams: number,
  { organizations, history = 0 }: { organizations: readonly string[]; history?: number },
): Promise<{ readonly daemon: Daemon; readonly page: string }> {
  const folder = writeTeams(join(context.folder, 'teams'), teams, { single: true });
  const platform = await startPlatform(context, 0, 0, organizations);
  const settings: DaemonSettings = { organizations, ui: true };
  const config = writeDaemonConfig(join(context.folder, 'daemon.json'), platform, folder, settings);
  if (history > 0) {
    const rows = [String(organizations.length), String(history)];
    await runOnce(context, [context.installed.program('history'), `${config}.db`, ...rows]);
  }
  const daemon = startDaemon(context, config, '--dry-run');
  const { address = '' } = await daemon.waitFor(({ msg }) => msg === 'web page is served');
  await endOfPasses(daemon, organizations.length);
  return { daemon, page: address };
}

async function endOfPasses(daemon: Daemon, count: number): Promise<void> {
  for (let ended = 0; ended < count; ended += 1) {
    await daemon.waitFor(({ outcome }) => outcome !== undefined);
  }
}
