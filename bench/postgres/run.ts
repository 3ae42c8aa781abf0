import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { verifyTrail } from '../../src/audit/verify-trail.js'
import type { Reader } from '../../src/store/ports/readers.js'
import { readOperations } from '../../src/threads/read-operations.js'
import { openPostgresReader } from '../../src/store/postgres/threads/open-postgres-store.js'
import type { PostgresSettings } from '../../src/store/postgres/engine/postgres-settings.js'
import type { PostgresServer } from '../../test/support/postgres/postgres-server.js'
import { query } from '../../test/support/postgres/postgres-server.js'
import { fillInstances } from '../gates/fill-store.js'
import { runSteadily, sendJson } from '../steady-load.js'
import type { Step } from '../steady-load.js'
import { chainedRate, fillTrail } from './chain.js'
import { newDatabase, openReplica, startDurablePostgres, withSqlite } from './database.js'
import { fillOutbox, leaseRate } from './leases.js'
import { startReplica } from './services.js'
import { shippingRate } from './shipping.js'
import { takeOverMs } from './take-over.js'

const WARM_UP_SECONDS = 3
const HELP = `make bench-postgres ARGS="…": two services over one PostgreSQL of its own on this machine, loopback only.

  --only PARTS       some of chain,leases,status,verify,takeover,shipping, with commas between them (all)
  --seconds N        how long each load runs (10)
  --rate N           statuses a second (200)
  --instances N      gate instances in the database (100000)
  --messages N       messages that are leased (20000)
  --records N        records that are verified (200000)
  --decisions N      decisions that are shipped (20000)
  --rounds N         services that are killed (5)
  --help             this text
`
const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: 'chain,leases,status,verify,takeover,shipping' },
    seconds: { type: 'string', default: '10' },
    rate: { type: 'string', default: '200' },
    instances: { type: 'string', default: '100000' },
    messages: { type: 'string', default: '20000' },
    records: { type: 'string', default: '200000' },
    decisions: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    help: { type: 'boolean', default: false },
  },
})
const seconds = Number(flags.seconds)
/** Callers of each service at once, as many as write together under load. */
const CALLERS = 64

const PARTS: Readonly<Record<string, (server: PostgresServer, directory: string) => Promise<void>>> = {
  chain: chain,
  leases: leases,
  status: status,
  verify: verify,
  takeover: takeOver,
  shipping: shipping,
}

async function chain(server: PostgresServer): Promise<void> {
  for (const callers of [1, CALLERS]) {
    const settings = await newDatabase(server)
    const stores = [await openReplica(settings), await openReplica(settings)]
    const name = `events kept a second by two services, ${callers} at a time each`
    report(name, await chainedRate(stores, callers, seconds), callers === 1 ? '' : 'aim 2,000')
    for (const store of stores) await store.close()
    const alone = await withSqlite((store) => chainedRate([store], callers * 2, seconds))
    report(`  SQLite, ${callers * 2} at a time`, alone)
  }
}

async function leases(server: PostgresServer): Promise<void> {
  const messages = Number(flags.messages)
  const settings = await newDatabase(server)
  const stores = [await openReplica(settings), await openReplica(settings)]
  for (const store of stores.slice(0, 1)) await fillOutbox(store, messages)
  await query(settings, 'vacuum analyze outbox')
  report(
    'messages leased and settled a second by two services',
    await leaseRate(stores, messages),
    'aim 1,000',
  )
  for (const store of stores) await store.close()
  const alone = await withSqlite(async (store) => {
    await fillOutbox(store, messages)
    return await leaseRate([store], messages)
  })
  report('  SQLite', alone)
}

async function status(server: PostgresServer, directory: string): Promise<void> {
  const instances = Number(flags.instances)
  const settings = await newDatabase(server)
  const store = await openReplica(settings)
  await fillInstances(store.writer, { instances, callbackUrl: 'http://127.0.0.1:1/' })
  await store.close()
  await query(settings, 'vacuum analyze')
  const replica = await startReplica(settings, directory, 'status')
  try {
    await replica.idle()
    const rate = Number(flags.rate)
    // What a service does when it is asked for the first time is not what a status takes.
    await runSteadily(statuses(replica.url, instances), rate, WARM_UP_SECONDS)
    const cpuBefore = replica.cpuSeconds()
    const [latencies] = await runSteadily(statuses(replica.url, instances), rate, seconds)
    if (latencies === undefined) throw new Error('nothing was answered')
    const { requests, p50Ms, p99Ms, maxMs } = latencies
    report(`status of ${instances} instances at ${rate} a second: p50 ms`, p50Ms)
    report('  p99 ms', p99Ms, 'aim 15')
    report('  longest ms', maxMs)
    report('  CPU ms of the service for each', ((replica.cpuSeconds() - cpuBefore) * 1000) / requests)
  } finally {
    await replica.stop()
  }
}

/** Of instances all over the table. */
function* statuses(url: string, instances: number): Iterable<Step> {
  for (let index = 1; ; index += 1) {
    const id = ((index * 7919) % instances) + 1
    yield {
      kind: 'status',
      send: async () => {
        await sendJson(`${url}/approvalGateInstances/${id}/status`, 'GET', 'ana')
      },
    }
  }
}

async function verify(server: PostgresServer): Promise<void> {
  const records = Number(flags.records)
  const settings = await newDatabase(server)
  const store = await openReplica(settings)
  await fillTrail(store, records)
  await store.close()
  await query(settings, 'vacuum analyze audit')
  const opened = openPostgresReader(settings, readOperations)
  report(`records verified a second, of ${records}`, await verifyRate(opened.reader, records), 'aim 200,000')
  await opened.close()
  const alone = await withSqlite(async (sqlite) => {
    await fillTrail(sqlite, records)
    return await verifyRate(sqlite.reader, records)
  })
  report('  SQLite', alone)
}

async function verifyRate(reader: Reader, records: number): Promise<number> {
  const startedAt = performance.now()
  const { isIntact, checked, problems } = await verifyTrail({ reader })
  if (!isIntact || checked !== records) throw new Error(`${checked} records: ${problems.join('; ')}`)
  return (records / (performance.now() - startedAt)) * 1000
}

async function takeOver(server: PostgresServer, directory: string): Promise<void> {
  const times: number[] = []
  for (let round = 1; round <= Number(flags.rounds); round += 1) {
    const settings: PostgresSettings = await newDatabase(server)
    times.push(await takeOverMs(settings, join(directory, `round-${round}`)))
  }
  times.sort((one, other) => one - other)
  report(
    `s until a killed service's callback is sent by another, longest of ${times.length}`,
    (times.at(-1) ?? 0) / 1000,
    'aim 15',
  )
  report('  shortest', (times[0] ?? 0) / 1000)
}

async function shipping(server: PostgresServer, directory: string): Promise<void> {
  const rate = await shippingRate(await newDatabase(server), directory, Number(flags.decisions))
  report('decisions of 2 KB shipped a second by one service', rate)
}

function report(name: string, value: number, note = ''): void {
  const text = value >= 100 ? value.toFixed(0) : value.toFixed(2)
  console.log(`${name.padEnd(72)} ${text.padStart(9)}  ${note}`)
}

async function main(): Promise<void> {
  const parts = flags.only.split(',')
  const unknown = parts.find((part) => !(part in PARTS))
  if (unknown !== undefined) throw new Error(`no part is named ${unknown}: ${Object.keys(PARTS).join(', ')}`)
  // The server ends with the process, when that ends by itself.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const server = await startDurablePostgres()
  const directory = mkdtempSync(join(tmpdir(), 'tidegate-bench-postgres-'))
  console.log(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1) ?? ''} before`)
  try {
    for (const part of parts) await PARTS[part]?.(server, directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
    await server.remove()
  }
}

if (flags.help) console.log(HELP)
else await main()
