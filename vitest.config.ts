import { defineConfig } from 'vitest/config'

/** These run the built program as processes of their own; the others need no build. */
const END_TO_END = 'test/e2e/**/*.test.ts'
const WHOLE_PROCESSES = ['test/cli/**/*.test.ts', END_TO_END]

export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 60_000,
    pool: 'threads',
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: WHOLE_PROCESSES,
          globalSetup: 'test/support/build-wasm.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          include: WHOLE_PROCESSES,
          globalSetup: ['test/support/build-wasm.ts', 'test/support/build-once.ts'],
        },
      },
      {
        extends: true,
        test: {
          // Node's own HTTP server and Hono answer everything: the same tests must hold.
          name: 'standard-transport',
          include: [END_TO_END],
          globalSetup: ['test/support/build-wasm.ts', 'test/support/build-once.ts'],
          env: { FAST_READER: 'off' },
        },
      },
    ],
  },
})
