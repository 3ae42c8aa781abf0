import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresSettings } from '../../src/store/postgres/engine/postgres-settings.js'
import { freePort } from '../../test/support/free-port.js'
import { startBenchServer } from '../servers.js'
import type { RunningBenchServer } from '../servers.js'
import { BENCH_GATE } from '../gates/fill-store.js'

const BOTH_CORES = '0-1'

/** A service that runs over a database. */
export interface BenchReplica extends RunningBenchServer {
  readonly url: string
}

/** Starts a service over a database; what it writes goes into the directory. */
export async function startReplica(
  settings: PostgresSettings,
  directory: string,
  name: string,
): Promise<BenchReplica> {
  const { host, port, user, database, password = '' } = settings
  const home = join(directory, name)
  mkdirSync(home, { recursive: true })
  const addr = `127.0.0.1:${await freePort()}`
  const config = {
    server: { addr },
    dataDir: join(home, 'data'),
    store: { url: `postgres://${user}@${host}:${port}/${database}`, replica: name },
    policies: { directories: ['bench/policies'] },
    callbacks: { allowLoopback: true, firstRetrySeconds: 1 },
    gates: { definitions: [BENCH_GATE] },
    log: { level: 'warn' },
  }
  const file = join(home, 'tidegate.json')
  writeFileSync(file, JSON.stringify(config))
  const url = `http://${addr}`
  const command = [process.execPath, 'dist/cli.js', 'serve', '--config', file]
  const server = { name: 'tidegate', url, command, env: { PGPASSWORD: password } } as const
  return { ...(await startBenchServer(server, BOTH_CORES, home)), url }
}
