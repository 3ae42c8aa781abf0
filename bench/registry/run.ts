import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { startBenchServer } from '../servers.js'
import type { RunningBenchServer } from '../servers.js'
import { applicationList, pipelineList } from './definitions.js'
import { fillTrail, readFast, readSlowly } from './exports.js'
import type { Exported } from './exports.js'
import { serveHeld } from './held-storage.js'
import { measurePages } from './pages.js'
import type { PageFigure } from './pages.js'
import { measureQuiet, measureReconciliation } from './reconciliations.js'
import type { Phase } from './reconciliations.js'
import { leaveUnread } from './unread-exports.js'

const { values: flags } = parseArgs({
  options: {
    applications: { type: 'string', default: '10000' },
    pipelines: { type: 'string', default: '50000' },
    seconds: { type: 'string', default: '20' },
    unread: { type: 'boolean', default: false },
  },
})

const SERVER_CORE = 0
const PORT = 18_391
const URL = `http://127.0.0.1:${PORT}`
const INTERVAL_SECONDS = 10
const AIM_PAGE_MS = 50
const AIM_SECONDS = 60
const AIM_MB = 300
/** Exports that nobody reads, asked for at once. */
const UNREAD = [20, 500]

const size = { applications: Number(flags.applications), pipelines: Number(flags.pipelines) }
const records = Number(process.env['RECORDS'] ?? 1_000_000)

type Row = readonly [figure: string, aim: string, seen: string]

/** What `make bench-registry` does: reconciliations, pages and exports of the built service, pinned to one core. */
async function run(directory: string): Promise<void> {
  const ofRegistry = flags.unread ? [] : await registry(directory)
  const rows = [...ofRegistry, ...(records > 0 ? await exporting(directory) : [])]
  process.stdout.write(printRows([['figure', 'aim', 'seen'], ['---', '---', '---'], ...rows]))
}

async function registry(directory: string): Promise<Row[]> {
  const applications = applicationList(size.applications)
  const pipelines = pipelineList(size.pipelines, size.applications)
  const storage = await serveHeld({ applications, pipelines })
  const orchestrator = { storageUrl: storage.origin, reconcileIntervalSeconds: INTERVAL_SECONDS }
  const service = await start(directory, 'registry', { orchestrator })
  try {
    // What is compiled while it runs is compiled by then.
    await measureQuiet(service, URL, Number(flags.seconds) / 2)
    const quiet = await measureQuiet(service, URL, Number(flags.seconds))
    const first = await measureReconciliation('first reconciliation', service, URL, storage)
    const again = await measureReconciliation('one without changes', service, URL, storage)
    const pages = await measurePages(URL, size)
    return [
      ['size of the list of pipelines', '', `${(pipelines.length / 1e6).toFixed(0)} MB`],
      ...[quiet, first, again].flatMap(phaseRows),
      ...pages.map(pageRow),
    ]
  } finally {
    await service.stop()
    storage.close()
  }
}

async function exporting(directory: string): Promise<Row[]> {
  await fillTrail(join(directory, 'trail'), records)
  const service = await start(directory, 'trail', {})
  try {
    await service.idle()
    const unread: Row[] = []
    for (const asked of UNREAD) unread.push(...(await unreadRows(service, asked)))
    if (flags.unread) return unread
    return [
      ...unread,
      ...(await exportRows('to a slow reader', service, readSlowly)),
      ...(await exportRows('to a fast reader', service, readFast)),
    ]
  } finally {
    await service.stop()
  }
}

async function exportRows(
  name: string,
  service: RunningBenchServer,
  read: (url: string) => Promise<Exported>,
): Promise<Row[]> {
  service.resetPeak()
  const { megabytes, seconds } = await read(URL)
  const perSecond = `${megabytes.toFixed(0)} MB in ${seconds.toFixed(0)} s`
  return [
    [`peak memory, export of ${records} records with bodies ${name}`, '', `${mb(service)}, ${perSecond}`],
  ]
}

async function unreadRows(service: RunningBenchServer, asked: number): Promise<Row[]> {
  const seen = await leaveUnread(URL, service, asked)
  const { running, refused, refusedMs, servedAgainSeconds, beforeMb, peakMb, afterMb } = seen
  const memory = [beforeMb, peakMb, afterMb].map((megabytes) => `${megabytes.toFixed(0)} MB`).join(', ')
  return [
    [`${asked} exports that nobody reads: memory before, at its peak, after`, '', memory],
    [
      '  served; refused with 503',
      '8; the rest',
      `${running}; ${refused}, the last after ${refusedMs.toFixed(0)} ms`,
    ],
    ['  until another export is served', '', `${servedAgainSeconds?.toFixed(0) ?? 'more than 180'} s`],
  ]
}

async function start(directory: string, name: string, settings: object): Promise<RunningBenchServer> {
  const config = join(directory, `${name}.json`)
  const dataDir = join(directory, name)
  await mkdir(dataDir, { recursive: true })
  const all = {
    server: { addr: `127.0.0.1:${PORT}` },
    dataDir,
    policies: { directories: ['bench/policies'] },
    log: { level: 'warn' },
    ...settings,
  }
  await writeFile(config, JSON.stringify(all))
  const command = [process.execPath, 'dist/cli.js', 'serve', '--config', config]
  return startBenchServer({ name: 'tidegate', url: URL, command, env: {} }, SERVER_CORE, directory)
}

function phaseRows({ name, seconds, decisions, peakMb, cpuSeconds }: Phase): Row[] {
  const isReconciling = name !== 'no reconciliation'
  const { p50Ms, p99Ms, maxMs, requests } = decisions
  return [
    [
      `${name}: time (CPU time)`,
      isReconciling ? `${AIM_SECONDS} s` : '',
      `${seconds.toFixed(1)} s (${cpuSeconds.toFixed(1)} s)`,
    ],
    [`${name}: peak memory`, isReconciling ? `${AIM_MB} MB` : '', `${peakMb.toFixed(0)} MB`],
    [
      `${name}: ${requests} decisions, p50, p99, max`,
      isReconciling ? 'as without' : '',
      `${[p50Ms, p99Ms, maxMs].map((ms) => ms.toFixed(2)).join(', ')} ms`,
    ],
  ]
}

function pageRow({ name, pages, p99Ms }: PageFigure): Row {
  return [`page p99, ${name} (${pages})`, `${AIM_PAGE_MS} ms`, `${p99Ms.toFixed(1)} ms`]
}

function mb(service: RunningBenchServer): string {
  return `${service.peakMb().toFixed(0)} MB`
}

function printRows(rows: readonly Row[]): string {
  return rows.map((row) => `| ${row.join(' | ')} |\n`).join('')
}

const directory = await mkdtemp(join(process.env['BENCH_DIR'] ?? tmpdir(), 'tidegate-bench-registry-'))
try {
  await run(directory)
} finally {
  await rm(directory, { recursive: true, force: true })
}
