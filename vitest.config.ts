import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SlowestFiles } from './test/support/slowest-files.ts';

/** Tests that spy on a module of Node, count what the engine compiles, or measure memory: each has a process of its own. */
const ISOLATED = [
  'test/conversations/standard-webhook.test.ts',
  'test/conversations/files/read-tickets.test.ts',
  'test/growth/**/*.test.ts',
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
        test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: ISOLATED, isolate: false },
      },
      { extends: true, test: { name: 'isolated', include: ISOLATED } },
    ],
  },
});
