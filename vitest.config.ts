import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SlowestFiles } from './test/support/slowest-files.ts';

/**
 * Tests that start few processes: files share a process, which loads and compiles each module once. Starting a process
 * from a large one is slow, and nock may still intercept the connections of a process that used it: so all other files
 * have a process of their own.
 */
const SHARED =
  'architecture|clusters|config|contract|conversations|core|emulator|forge|import|kinds|manifests|plan|platform|queue|reconcile|report|store';

/** Tests in these directories that spy on a module of Node, or count the promises of their process. */
const SPYING = [
  'test/conversations/standard-webhook.test.ts',
  'test/conversations/files/read-tickets.test.ts',
  'test/platform/allocations.test.ts',
];

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
      {
        extends: true,
        test: { name: 'shared', include: [`test/@(${SHARED})/**/*.test.ts`], exclude: SPYING, isolate: false },
      },
      {
        extends: true,
        test: { name: 'isolated', include: [`test/!(${SHARED})/**/*.test.ts`, 'test/*.test.ts', ...SPYING] },
      },
    ],
  },
});
