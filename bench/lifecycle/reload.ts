import { readFileSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'

import { requestText, runSteadily, timeRequest } from '../lib/load.js'
import type { Step } from '../lib/load.js'
import { startTidegate, withFolder } from '../lib/servers.js'

const GATES = 1000
const RELOADS = 5

/** Reloads 1,000 gates, all of them changed and none, while small decisions arrive at a rate. */
export async function measureReload(
  row: (figure: string, value: number, unit: string) => void,
  perSecond: number,
  seconds: number,
): Promise<void> {
  await withFolder(async (folder) => {
    const server = await startTidegate({ directory: folder, policies: 'policies' })
    const agent = new Agent({ keepAlive: true, maxSockets: 8 })
    const body = JSON.stringify({ input: { new: { application: 'shop', stages: [], triggers: [] } } })
    let refused = 0
    const send = (): Promise<unknown> =>
      timeRequest(`${server.url}/v1/staticPolicy/eval`, body, agent).catch(() => (refused += 1))
    function* steps(): Generator<Step> {
      for (;;) yield { kind: 'decision', send }
    }
    try {
      const deciding = runSteadily(steps(), perSecond, seconds)
      const changed: number[] = []
      const same: number[] = []
      for (let version = 1; version <= RELOADS; version += 1) {
        writeGates(join(folder, 'tidegate.json'), version)
        changed.push(await reload(server.url))
        same.push(await reload(server.url))
      }
      const taken = await deciding
      row(`reload of ${GATES} changed gates, median`, medianOf(changed), 'ms')
      row(`reload of ${GATES} unchanged gates, median`, medianOf(same), 'ms')
      row('  refused decisions', refused, '')
      row('  p99 of decisions meanwhile', taken.get('decision')?.p99Ms ?? Number.NaN, 'ms')
    } finally {
      agent.destroy()
      await server.end()
    }
  })
}

function writeGates(file: string, version: number): void {
  const config = JSON.parse(readFileSync(file, 'utf8')) as object
  const definitions = Array.from({ length: GATES }, (_, index) => ({
    ...{ id: index + 1, name: `gate ${index} version ${version}`, application: `app${index % 50}` },
    ...{ stage: `deploy ${index}`, approvers: { groups: ['release'] } },
  }))
  writeFileSync(file, JSON.stringify({ ...config, gates: { definitions } }, undefined, 2))
}

async function reload(url: string): Promise<number> {
  const startedAt = performance.now()
  await requestText(url, { method: 'POST', path: '/reload' })
  return performance.now() - startedAt
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
