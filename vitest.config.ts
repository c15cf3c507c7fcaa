import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { pickCases } from './test/support/campaign.ts';
import { openRunFolders } from './test/support/run-folder.ts';
import { SlowestFiles } from './test/support/slowest-files.ts';

openRunFolders();

/**
 * Files of a group share processes, which load and compile each module once. All other files have a process of their own:
 * they measure memory or time, or start many processes, and starting one from a large process is slow. The groups are
 * separate, because nock, which only the first uses, may still intercept the connections of a process that used it.
 */
const GROUPS = {
  parts:
    'architecture|clusters|config|contract|conversations|core|emulator|forge|import|kinds|manifests|plan|platform|queue|reconcile|report|store',
  pages: 'server|vendor|web',
  // These start git, which takes long from a process that has grown in a campaign of notifications.
  commands: 'commands',
  notify: 'notify',
};

/** Files in these directories that start processes, spy on a module of Node, or count the promises of their process. */
const ALONE = [
  'test/commands/@(api-interrupt|api-process|completion-shells|drift-pull|pasted-commands).test.ts',
  'test/conversations/ingest-killed.test.ts',
  'test/manifests/ignore-rules.test.ts',
  'test/reconcile/own-user.test.ts',
  'test/store/sqlite.test.ts',
  'test/conversations/main-thread.test.ts',
  'test/conversations/standard-webhook.test.ts',
  'test/server/flood.test.ts',
  'test/conversations/files/read-tickets.test.ts',
  'test/platform/allocations.test.ts',
  'test/web/chromium/*.test.ts',
];

/**
 * Tests of which `npm test` runs none, `.ci/run` a third that changes with the commit, and `npm run test:campaigns` all:
 * whole programs in many processes, in a browser or over a long time, servers of other programs, the campaigns that take
 * long, and the whole interface of the platform. Their parts have tests of their own.
 */
const SLOW = [
  'test/bench/bench.test.ts',
  'test/clusters/@(run-interleaving|run-recovery).test.ts',
  'test/commands/@(completion-shells|drift-pull|pasted-commands).test.ts',
  'test/conversations/@(corpus-nowhere|ingest-killed|mail-threads|main-thread|sender-interleaving).test.ts',
  'test/conversations/redact/@(generated|redaction-threads).test.ts',
  'test/crash/*.test.ts',
  'test/daemon/@(busy|large-files|lifecycle|lost-state|site-context|state-faults|stopping|two-replicas).test.ts',
  'test/daemon/failing-store/*.test.ts',
  'test/daemon/fleet/@(fleet-reports|idle-statements).test.ts',
  'test/docs/tour.test.ts',
  'test/e2e/*.test.ts',
  'test/fleet/@(cut-connection|database-faults|lease-faults|processes|silent-connections).test.ts',
  'test/fleet/processes/*.test.ts',
  'test/git/fetch-size.test.ts',
  'test/growth/@(emulator|growth).test.ts',
  'test/notify/kills.test.ts',
  'test/package/@(dockerfile|heap-size|pack|pull-request-jobs).test.ts',
  'test/reconcile/@(cost|partial-changes).test.ts',
  'test/security/daemon.test.ts',
  'test/server/flood.test.ts',
  'test/soak/*.test.ts',
  'test/store/copy/*.test.ts',
  'test/store/postgres/@(fencing|leases|migrate).test.ts',
  'test/vendor/exchanges.test.ts',
  'test/web/chromium/*.test.ts',
];

/**
 * Tests that `.ci/run` runs each time, and `npm test` does not: hostile input, servers and processes that take seconds, and
 * long properties of parts that `npm test` checks by other tests.
 */
const CI = [
  'test/commands/@(api-interrupt|api-process|applied-ids|apply-wait|bad-input|base|config-trust|file-errors|scopes|store).test.ts',
  'test/commands/plan-comment.test.ts',
  'test/conversations/files/@(drop-folder|linear-time).test.ts',
  'test/conversations/rechecks-providers.test.ts',
  'test/conversations/redact/@(key-rules|work).test.ts',
  'test/daemon/@(actions|clusters|commit-statuses|conversations|following|notification-channels|without-source).test.ts',
  'test/daemon/fleet/reload.test.ts',
  'test/emulator/conversations.test.ts',
  'test/forge/hostile-answers.test.ts',
  'test/notify/channels/@(hostile-texts|mail).test.ts',
  'test/package/ci.test.ts',
  'test/platform/@(proxy|rich-document).test.ts',
  'test/queue/simulation.test.ts',
  'test/reconcile/@(convergence|deleted-contents|own-user|versions).test.ts',
  'test/security/@(hostile-repositories|url-secrets).test.ts',
  'test/store/@(hostile-values|answers/same-answers).test.ts',
  'test/store/postgres/@(backup|connection|postgres-database|signals).test.ts',
  'test/web/@(adversary|canaries)/*.test.ts',
];

/** True if the command names what to run: slow tests of it are run as well. */
const isNamed = process.argv.slice(2).some((argument) => argument.startsWith('test/'));

/** Part of the slow tests that `.ci/run` runs. */
const SLOW_PART = 1 / 3;

/** Returns the slow tests that this run leaves out. */
function skippedTests(): string[] {
  if (isNamed) {
    return [];
  }
  const filesOf = (patterns: readonly string[]) =>
    patterns.flatMap((pattern) => globSync(pattern, { cwd: import.meta.dirname })).toSorted();
  const slow = filesOf(SLOW);
  const run = new Set([...pickCases(slow, 0, Math.ceil(slow.length * SLOW_PART)), ...pickCases(filesOf(CI), 0)]);
  return [...slow, ...filesOf(CI)].filter((file) => !run.has(file));
}

const skipped = skippedTests();

// Processes of tests and those that they start load compiled code instead of compiling the same modules each time.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

/** File that CI reads the results from. */
const RESULTS = process.env.TEST_RESULTS;

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // More workers than cores: half of the tests wait for processes.
    maxWorkers: availableParallelism() + 1,
    // A file that stubs a variable shares its process with the next.
    unstubEnvs: true,
    reporters: [
      process.env.CI ? 'dot' : 'default',
      new SlowestFiles(),
      ...(RESULTS ? [['json', { outputFile: RESULTS }] as ['json', object]] : []),
    ],
    projects: [
      ...Object.entries(GROUPS).map(([name, folders]) => ({
        extends: true as const,
        test: {
          name,
          include: [`test/@(${folders})/**/*.test.ts`],
          exclude: [...ALONE, ...skipped],
          isolate: false,
        },
      })),
      {
        extends: true,
        test: {
          name: 'alone',
          include: [`test/!(${Object.values(GROUPS).join('|')})/**/*.test.ts`, 'test/*.test.ts', ...ALONE],
          exclude: skipped,
        },
      },
    ],
  },
});
