import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One more than there would be on two cores: half of the tests wait for processes.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
