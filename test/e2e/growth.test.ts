import { afterAll, expect, test } from 'vitest'

import { writeBindings, writePackages } from '../../bench/growth/generate.js'
import { measure } from '../../bench/growth/measure.js'
import type { Figures } from '../../bench/growth/measure.js'
import { startTidegate } from '../../bench/lib/servers.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)

async function figuresOf(policies: string, path: string, input: unknown): Promise<Figures> {
  const server = await startTidegate({
    directory: `${policies}-store`,
    policies,
    config: { server: { workers: 1 } },
  })
  return await measure(server, { path, input, decisions: 20 })
}

test(
  'the comparison of growth measures many packages, and the answer is theirs',
  { timeout: 90_000 },
  async () => {
    const directory = `${workspace.path}/packages`
    const figures = await figuresOf(directory, '/v1/staticPolicy/eval', writePackages(directory, 120))
    expect(figures.answer).toContain('stage 18 may not deploy to account18')
    expect(figures.residentMb).toBeGreaterThan(10)
    expect(figures.loadSeconds).toBeGreaterThan(0)
  },
)

test(
  'the comparison of growth measures data, and a megabyte of it costs a few of memory',
  { timeout: 90_000 },
  async () => {
    const path = '/v1/data/access/allow'
    const [small, large] = [`${workspace.path}/small`, `${workspace.path}/large`]
    const before = await figuresOf(small, path, writeBindings(small, 100_000))
    const after = await figuresOf(large, path, writeBindings(large, 8_000_000))
    for (const { answer } of [before, after]) expect(answer).toContain('"result":true')
    // The data as values, for the service and for the module: 11 to 13 times its JSON at first, and
    // as much again during a reload.
    expect(after.residentMb - before.residentMb).toBeLessThan(8 * 12)
  },
)
