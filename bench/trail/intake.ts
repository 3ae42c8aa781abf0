import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { driveScript } from '../load.js'
import type { LoadResult } from '../load.js'
import { startBenchServer } from '../servers.js'
import { eventsScript } from './events.js'

const SERVER_CORE = 1
const GENERATOR_CORE = 0
const PORT = 18_291
const SECONDS = 8
const ROUNDS = 3
const CONNECTIONS = 64

/** Drives the whole service, pinned to one core, with events of 2 KB from the other; returns the best of a few rounds. */
export async function measureIntake(directory: string): Promise<LoadResult> {
  const script = join(directory, 'events.lua')
  await writeFile(script, eventsScript())
  const url = `http://127.0.0.1:${PORT}`
  const serve = ['serve', '--addr', `127.0.0.1:${PORT}`, '--data-dir', join(directory, 'intake')]
  const server = await startBenchServer(
    { name: 'tidegate', url, command: ['node', 'dist/cli.js', ...serve, '--policies', 'policies'], env: {} },
    SERVER_CORE,
    directory,
  )
  try {
    const rounds: LoadResult[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const options = { script, url, seconds: SECONDS, connections: CONNECTIONS, core: GENERATOR_CORE }
      rounds.push(await driveScript(options))
    }
    return rounds.reduce((best, one) => (one.requestsPerSecond > best.requestsPerSecond ? one : best))
  } finally {
    await server.stop()
  }
}
