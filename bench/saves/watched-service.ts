import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { startBenchServer } from '../servers.js'
import { Probes } from './probes.js'

const CORES = '0-1'
const NOTES = fileURLToPath(new URL('note-turns.js', import.meta.url))

export interface WatchedServiceOptions {
  readonly policies: string
  /** How many processes decide. */
  readonly workers: number
  readonly port: number
  /** Where its files are put. */
  readonly directory: string
  /** The path of `data` that is asked for again and again, over so many connections and so often a second. */
  readonly asked: string
  readonly connections: number
  readonly rate: number
}

/** A service that watches its policies, and is asked meanwhile. */
export interface WatchedService {
  readonly probes: Probes
  /** Used so far by all of its processes. */
  readonly cpuSeconds: () => number
  /** The longest piece of work of a deciding thread since this was last asked, in milliseconds on a core; 0 where none was long. */
  readonly takeLongestTurnMs: () => number
  readonly stop: () => Promise<void>
}

/** Resolves once it answers. */
export async function startWatchedService(options: WatchedServiceOptions): Promise<WatchedService> {
  const { policies, workers, port, directory } = options
  const address = `127.0.0.1:${port}`
  const turnsFile = join(directory, `turns-${workers}`)
  writeFileSync(turnsFile, '')
  const args = ['serve', '--policies', policies, '--watch', '--addr', address]
  const server = await startBenchServer(
    {
      name: 'tidegate',
      url: `http://${address}`,
      command: [process.execPath, 'dist/cli.js', ...args, '--data-dir', join(directory, `data-${workers}`)],
      env: {
        TIDEGATE_SERVER_WORKERS: String(workers),
        NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=file://${NOTES}`,
        BENCH_TURNS_FILE: turnsFile,
      },
    },
    CORES,
    directory,
  )
  const probes = new Probes(`http://${address}/v1/data/${options.asked}`, options.connections, options.rate)
  return {
    probes,
    cpuSeconds: server.cpuSeconds,
    takeLongestTurnMs: () => {
      const noted = readFileSync(turnsFile, 'utf8').split('\n').filter(Boolean)
      writeFileSync(turnsFile, '')
      return Math.max(0, ...noted.map((line) => Number(line.split(' ')[2])))
    },
    stop: async () => {
      await probes.stop()
      await server.stop()
    },
  }
}
