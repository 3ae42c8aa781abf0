import { join } from 'node:path'

import { databaseUrl } from '../../test/support/postgres/store-section.js'
import { postgresPrograms } from '../../test/support/postgres/postgres-programs.js'
import { createDatabase, startPostgres } from '../../test/support/postgres/postgres-server.js'
import type { PostgresServer } from '../../test/support/postgres/postgres-server.js'
import { partsOf, readFlags, runParts, table } from '../lib/report.js'
import { startTidegate, withFolder } from '../lib/servers.js'
import { measureGates, measureTakeOver } from './gates.js'
import { measureRegistry } from './registry.js'
import type { Bench, StoreServer } from './steady.js'
import { measureTrail } from './trail.js'

/**
 * `make bench-stores`: gates, trail and registry over HTTP, with one service over SQLite and with
 * two over one PostgreSQL.
 */

const flags = readFlags({
  store: ['sqlite,postgres', 'stores to measure'],
  only: ['', 'some of trail,gates,registry,takeover; all by default'],
  events: ['60000', 'events of 2 KB in the trail'],
  instances: ['5000', 'gate instances that wait and then expire together'],
  applications: ['2000', 'number in the registry'],
  pipelines: ['10000', 'number in the registry'],
  callers: ['64', 'parallel clients that write'],
  rate: ['200', 'requests per second of steady loads'],
  seconds: ['10', 'duration of steady loads'],
  rounds: ['3', 'kills of a service that is sending a callback'],
})
const row = table(
  'Requests of one service over SQLite, and of two over one PostgreSQL',
  'operation | store | requests | per second | p50 ms | p99 ms | max ms',
)
let databases = 0

/** Starts services over one store. Each has its own folder. */
async function benchOf(store: string, directory: string, server: PostgresServer | undefined): Promise<Bench> {
  databases += 1
  const database = server && (await createDatabase(server.settings, `bench_${databases}`))
  const start = (name: string, config: Readonly<Record<string, object>>): Promise<StoreServer> =>
    startTidegate({
      directory: join(directory, name),
      config: {
        callbacks: { allowLoopback: true, perReceiver: 8, firstRetrySeconds: 1 },
        ...(database && { store: { url: databaseUrl(database), replica: name } }),
        ...config,
      },
      env: { PGPASSWORD: database?.password ?? '' },
    })
  const numbers = {
    ...{ events: Number(flags.events), instances: Number(flags.instances), rounds: Number(flags.rounds) },
    ...{ applications: Number(flags.applications), pipelines: Number(flags.pipelines) },
    ...{ callers: Number(flags.callers), rate: Number(flags.rate), seconds: Number(flags.seconds) },
  }
  const services = store === 'postgres' ? ['one', 'two'] : ['one']
  return { ...numbers, services, directory, start, row: (what, ...cells) => row(what, store, ...cells) }
}

async function measure(store: string, server: PostgresServer | undefined): Promise<void> {
  const part = (act: (bench: Bench) => Promise<void>) => () =>
    withFolder(async (directory) => act(await benchOf(store, directory, server)))
  await runParts(flags.only, {
    trail: part(measureTrail),
    gates: part(measureGates),
    registry: part(measureRegistry),
    takeover: part(measureTakeOver),
  })
}

for (const store of partsOf(flags.store)) {
  if (store === 'postgres' && postgresPrograms() === undefined) {
    console.error('PostgreSQL is not installed: it is skipped')
    continue
  }
  // With durable commits, as in production.
  const durable = { fsync: 'on', full_page_writes: 'on', shared_buffers: '256MB', max_wal_size: '2GB' }
  const server = store === 'postgres' ? await startPostgres(durable) : undefined
  await measure(store, server).finally(() => server?.remove())
}
