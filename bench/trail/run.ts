import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openServiceStore } from '../../src/store/sqlite/threads/open-service-store.js'
import { applicationOf, executionOf, rareWord } from './events.js'
import { measureIntake } from './intake.js'
import { exportRate, fill, indexAllText, searchP99, verifyRate } from './store.js'
import { SERVICE_OPERATIONS } from '../../test/support/store-operations.js'

const FEW = 10_000
/** Two rounds of indexing columns. */
const MEASURED = 8000
const SEARCHES = 300
const FSYNC_MS = 1000
const FSYNC_BYTES = 65_536

const many = Number(process.env['RECORDS'] ?? 1_000_000)

/** What `make bench-trail` does: the figures of the trail, with the device's own rate of fsync beside them. */
async function run(): Promise<void> {
  const directory = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'tidegate-bench-trail-'))
  try {
    report('fsync of 64 KiB by the device', fsyncRate(directory), '/s')
    if (process.env['INTAKE'] !== 'no') await intake(directory)
    await store(join(directory, 'store'))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function intake(directory: string): Promise<void> {
  const { requestsPerSecond, p50Ms, p99Ms, failures } = await measureIntake(directory)
  report('durable intake over HTTP, one core', requestsPerSecond, 'events/s')
  report('  p50', p50Ms, 'ms')
  report('  p99', p99Ms, 'ms')
  report('  answers other than 200', failures, '')
}

async function store(dataDir: string): Promise<void> {
  const opened = await openServiceStore({ dataDir, operations: SERVICE_OPERATIONS })
  const atFew = await fill(opened, 0, FEW, MEASURED)
  report(`one insert at ${FEW} records, indexes by column included`, atFew, 'us')
  const atMany = await fill(opened, FEW, many, MEASURED)
  report(`one insert at ${many} records`, atMany, 'us')
  report('  ratio', atMany / atFew, '')
  report('free text, per record', await indexAllText(opened), 'us')
  report('database, per record', statSync(join(dataDir, 'tidegate.db')).size / many, 'bytes')
  const somewhere = (index: number): number => Math.floor((index * 7919 * many) / SEARCHES) % many
  const p99 = (name: string, query: Parameters<typeof searchP99>[2]): Promise<void> =>
    searchP99(opened, SEARCHES, query).then((ms) => report(`search p99, ${name}`, ms, 'ms'))
  await p99('by execution', (index) => ({ filter: { executionId: executionOf(somewhere(index)) } }))
  await p99('by application', (index) => ({ filter: { application: applicationOf(somewhere(index)) } }))
  await p99('by application and status', (index) => ({
    filter: { application: applicationOf(somewhere(index)), status: 'TERMINAL' },
  }))
  await p99('free text, rare word', (index) => ({ filter: {}, text: rareWord(somewhere(index)) }))
  await p99('free text, two frequent words', () => ({ filter: {}, text: 'production deploy' }))
  await p99('free text in an application', (index) => ({
    filter: { application: applicationOf(somewhere(index)) },
    text: 'ordinary NOT_STARTED',
  }))
  const all = { filter: {}, withBodies: false }
  report('export as NDJSON', await exportRate(opened, many, { ...all, format: 'ndjson' }), 'records/s')
  report('export as CSV', await exportRate(opened, many, { ...all, format: 'csv' }), 'records/s')
  const withBodies = { ...all, format: 'ndjson', withBodies: true } as const
  report('export with bodies', await exportRate(opened, many, withBodies), 'records/s')
  report('verify', await verifyRate(opened, many), 'records/s')
  report('resident memory', process.memoryUsage().rss / 1e6, 'MB')
  await opened.close()
}

function fsyncRate(directory: string): number {
  const file = openSync(join(directory, 'fsync'), 'w')
  const block = Buffer.alloc(FSYNC_BYTES, 1)
  const startedAt = performance.now()
  let count = 0
  for (; performance.now() - startedAt < FSYNC_MS; count += 1) {
    writeSync(file, block, 0, block.length, (count % 64) * block.length)
    fdatasyncSync(file)
  }
  closeSync(file)
  return (count / (performance.now() - startedAt)) * 1000
}

function report(name: string, value: number, unit: string): void {
  const text = value >= 100 ? value.toFixed(0) : value.toFixed(2)
  console.log(`${name.padEnd(60)} ${text.padStart(10)} ${unit}`)
}

await run()
