import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // More workers than cores: half of the tests wait for processes.
    maxWorkers: availableParallelism() + 1,
  },
});
