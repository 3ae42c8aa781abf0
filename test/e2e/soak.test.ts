import { expect, test } from 'vitest'

import { soak } from '../support/soak/soak.js'

/** A short form of `make soak`. */
test('mixed load with runaways, reloads and exports is answered throughout, and the stop is clean', async () => {
  const { decisions, failures, samples, exitCode } = await soak({
    seconds: 10,
    decisionsPerSecond: 50,
    writers: 2,
    runawaysPerSecond: 0.3,
    reloadEverySeconds: 4,
    sampleEverySeconds: 2,
  })
  expect(failures).toEqual([])
  expect(exitCode).toBe(0)
  expect(decisions).toBeGreaterThan(400)
  expect(samples.length).toBeGreaterThan(2)
}, 120_000)
