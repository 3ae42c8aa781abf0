import { execFileSync, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

import { freePort } from './free-port.js'
import { ask } from './http-client.js'
import { waitUntil } from './wait-until.js'

/** A real Prometheus on a free port of loopback. */
export interface PrometheusServer {
  readonly url: string
  /** Waits until a query has a result now, and gives the value of its first series. */
  readonly waitFor: (query: string) => Promise<number>
  /** Waits until a query has exemplars, and gives the labels of the first. */
  readonly waitForExemplar: (query: string) => Promise<Readonly<Record<string, string>>>
  readonly stop: () => Promise<void>
}

interface PrometheusOptions {
  /** `host:port` of each program to scrape, every second. */
  readonly targets?: readonly string[]
  /** Samples with times in OpenMetrics text, to have at the start; `# EOF` is added. */
  readonly history?: string
}

const PROGRAM = findProgram('prometheus')
const TOOL = findProgram('promtool')

/** Suffix of a test name: the reason for skipping it, if any. */
export const prometheusNote =
  PROGRAM && TOOL ? '' : ' (skipped: no prometheus here, apt-get install prometheus)'
export const hasPrometheus = prometheusNote === ''

/** Starts Prometheus in a directory of its own. */
export async function startPrometheus({
  targets = [],
  history = '',
}: PrometheusOptions): Promise<PrometheusServer> {
  const directory = mkdtempSync(join(tmpdir(), 'tidegate-prometheus-'))
  writeFileSync(join(directory, 'prometheus.yml'), configuration(targets))
  if (history !== '') backfill(directory, history)
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(PROGRAM ?? 'prometheus', flags(directory, address), {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  let complaints = ''
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  const url = `http://${address}`
  await waitUntil(
    async () => ((await isReady(url)) ? true : undefined),
    () => `prometheus does not serve: ${complaints}`,
  )
  return {
    url,
    waitFor: (query) =>
      waitUntil(
        () => firstValue(url, query),
        () => `prometheus has no result for ${query}: ${complaints}`,
      ),
    waitForExemplar: (query) =>
      waitUntil(
        () => firstExemplar(url, query),
        () => `prometheus has no exemplar for ${query}: ${complaints}`,
      ),
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function configuration(targets: readonly string[]): string {
  return JSON.stringify({
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    scrape_configs: [{ job_name: 'program', static_configs: [{ targets }] }],
  })
}

function flags(directory: string, address: string): string[] {
  return [
    `--config.file=${join(directory, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=${address}`,
    '--log.level=warn',
    '--enable-feature=exemplar-storage',
  ]
}

function backfill(directory: string, history: string): void {
  const file = join(directory, 'history.txt')
  writeFileSync(file, `${history.trimEnd()}\n# EOF\n`)
  const args = ['tsdb', 'create-blocks-from', 'openmetrics', file, join(directory, 'data')]
  execFileSync(TOOL ?? 'promtool', args, { stdio: 'pipe' })
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await ask(url, { path: '/-/ready' })).status === 200
  } catch {
    return false
  }
}

async function firstValue(url: string, query: string): Promise<number | undefined> {
  const { text } = await ask(url, { path: `/api/v1/query?query=${encodeURIComponent(query)}` })
  const { data } = JSON.parse(text) as { data?: { result: { value: [number, string] }[] } }
  const value = data?.result[0]?.value[1]
  return value === undefined ? undefined : Number(value)
}

async function firstExemplar(url: string, query: string): Promise<Record<string, string> | undefined> {
  const path = `/api/v1/query_exemplars?query=${encodeURIComponent(query)}&start=0&end=${Date.now()}`
  const { data } = JSON.parse((await ask(url, { path })).text) as {
    data?: { exemplars: { labels: Record<string, string> }[] }[]
  }
  return data?.[0]?.exemplars[0]?.labels
}

function findProgram(name: string): string | undefined {
  const paths = (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, name))
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
