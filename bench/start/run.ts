import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { median, max, min } from 'd3-array'

import { ask } from '../../test/support/http-client.js'
import { partsOf, readFlags, table } from '../lib/report.js'
import { startTidegate, treeMemory, withFolder } from '../lib/servers.js'

/**
 * `make bench-start`: time from `serve` to the first decision, and idle memory, with an empty data
 * directory.
 */

const flags = readFlags({
  runs: ['5', 'starts of each kind; the median is printed'],
  workers: ['1,2', 'numbers of processes that decide'],
  policies: ['bundle,sources', 'form of the shipped policies'],
  idleSeconds: ['10', 'idle seconds before memory is measured'],
  program: ['dist/cli.js', 'the program, for comparisons with another build'],
})
const FIRST_DECISION = {
  path: '/v1/data/static/manual_judgment',
  body: '{"input":{"pipeline":{"stages":[]}}}',
}

/** One start, with the memory some seconds later. */
interface Start {
  readonly wallMs: number
  readonly cpuMs: number
  readonly settledCpuMs: number
  readonly processes: number
  readonly residentMb: number
  readonly proportionalMb: number
}

async function measureStart(workers: number, directory: string, bundle: string | undefined): Promise<Start> {
  const begun = performance.now()
  const server = await startTidegate({
    directory,
    program: flags.program,
    config: {
      server: { workers },
      policies: bundle === undefined ? { directories: ['policies'] } : { directories: [], bundles: [bundle] },
    },
    isUp: (url) =>
      ask(url, FIRST_DECISION).then(
        ({ status }) => status === 200,
        () => false,
      ),
  })
  try {
    const [wallMs, cpuMs] = [performance.now() - begun, server.cpuSeconds() * 1000]
    await sleep(Number(flags.idleSeconds) * 1000)
    return { wallMs, cpuMs, settledCpuMs: server.cpuSeconds() * 1000, ...treeMemory(server) }
  } finally {
    await server.end()
  }
}

await withFolder(async (directory) => {
  const bundle = join(directory, 'bundle.tar.gz')
  const built = spawnSync(process.execPath, [flags.program, 'build', 'policies', '-o', bundle])
  if (built.status !== 0) throw new Error(built.stderr.toString())
  const columns = `policies | workers | processes | first decision ms | from | to | CPU ms | CPU ms after ${flags.idleSeconds} s | resident MB | proportional MB`
  const row = table(`${flags.runs} starts of each kind, medians`, columns)
  for (const policies of partsOf(flags.policies)) {
    for (const workers of partsOf(flags.workers).map(Number)) {
      const starts: Start[] = []
      for (let run = 0; run < Number(flags.runs); run += 1)
        starts.push(
          await measureStart(
            workers,
            join(directory, `${policies}-${workers}-${run}`),
            policies === 'bundle' ? bundle : undefined,
          ),
        )
      const middle = (of: (start: Start) => number): number => Math.round(median(starts, of) ?? Number.NaN)
      const wallMs = ({ wallMs: ms }: Start): number => ms
      row(
        ...[
          policies,
          workers,
          middle(({ processes }) => processes),
          middle(wallMs),
          Math.round(min(starts, wallMs) ?? 0),
          Math.round(max(starts, wallMs) ?? 0),
        ],
        ...[middle(({ cpuMs }) => cpuMs), middle(({ settledCpuMs }) => settledCpuMs)],
        ...[middle(({ residentMb }) => residentMb), middle(({ proportionalMb }) => proportionalMb)],
      )
    }
  }
})
