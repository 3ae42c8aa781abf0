import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { drive } from '../lib/load.js'
import { SERVER_CORE, startTidegate, withFolder } from '../lib/servers.js'

/** The section `telemetry` of the services to compare, without the collector's address. */
const COMPARED: Readonly<Record<string, object>> = {
  'metrics only': { signals: ['metrics'] },
  'no request traced': { sampleRatio: 0 },
  'as by default': {},
  'a tenth of the requests traced': { sampleRatio: 0.1, maxTracesPerSecond: 1_000_000 },
  'all requests traced': { maxTracesPerSecond: 1_000_000 },
}

interface Times {
  readonly warmUpSeconds: number
  readonly seconds: number
  readonly rounds: number
}

/** Returns the CPU times of a request in microseconds, one for each round, by service. */
export async function measureTracing(
  decision: { readonly path: string; readonly body: string },
  { warmUpSeconds, seconds, rounds }: Times,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const collector = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(200).end())
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const all: readonly (readonly [string, object])[] = [
    ['off', {}],
    ...Object.entries(COMPARED).map(([name, section]) => [name, { endpoint, ...section }] as const),
  ]
  const taken = new Map(all.map(([name]) => [name, [] as number[]]))
  for (let round = 0; round < rounds; round += 1)
    for (const [name, telemetry] of all)
      await withFolder(async (directory) => {
        const config = { decisions: { enabled: false }, server: { workers: 1 }, telemetry }
        const server = await startTidegate({ directory, cores: SERVER_CORE, config })
        const load = { connections: 16, directory }
        await drive(server.url, decision, { ...load, seconds: warmUpSeconds })
        const before = server.cpuSeconds()
        const { requests } = await drive(server.url, decision, { ...load, seconds })
        taken.get(name)?.push(((server.cpuSeconds() - before) / requests) * 1e6)
        await server.end()
      })
  collector.closeAllConnections()
  collector.close()
  return taken
}
