import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { startBenchServer } from '../servers.js'
import { runSteadily } from '../steady-load.js'
import type { Latencies, Step } from '../steady-load.js'
import { ENDLESS_POLICY } from '../../test/support/endless-policy.js'

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    rate: { type: 'string', default: '200' },
    runaways: { type: 'string', default: '5' },
  },
})

const PORT = 18_397
const URL = `http://127.0.0.1:${PORT}`
/** All cores: the service has threads of its own, and they are what is measured. */
const CORES = '0-1'
const AIM_MORE_MS = 50
const AIM_MAX_MS = 250
const CHEAP = JSON.stringify({ input: { block: false, name: 'a pipeline', stages: [{ type: 'wait' }] } })
const RUNAWAY = JSON.stringify({ input: { size: 1_000_000 } })

/** What `make bench-runaways` does: cheap decisions at a steady rate, alone and beside others of the same path without end. */
async function run(directory: string): Promise<void> {
  await writeFile(join(directory, 'q.rego'), ENDLESS_POLICY)
  const command = [process.execPath, 'dist/cli.js', 'serve', '--policies', directory]
  const service = await startBenchServer(
    {
      name: 'tidegate',
      url: URL,
      command: [...command, '--addr', `127.0.0.1:${PORT}`, '--data-dir', join(directory, 'data')],
      env: {},
    },
    CORES,
    directory,
  )
  try {
    const seconds = Number(flags.seconds)
    const perSecond = Number(flags.rate)
    await runSteadily(cheap(), perSecond, seconds / 4)
    const [alone] = await runSteadily(cheap(), perSecond, seconds)
    const every = Math.max(2, Math.round(perSecond / Number(flags.runaways)))
    const beside = await runSteadily(withRunaways(every), perSecond, seconds)
    print(alone, beside)
  } finally {
    await service.stop()
  }
}

function* cheap(): Generator<Step> {
  for (;;) yield { kind: 'cheap', send: () => ask(CHEAP, [200]) }
}

function* withRunaways(every: number): Generator<Step> {
  for (let index = 0; ; index++) {
    if (index % every === 0) yield { kind: 'runaway', send: () => ask(RUNAWAY, [500, 503]) }
    else yield { kind: 'cheap', send: () => ask(CHEAP, [200]) }
  }
}

async function ask(body: string, expected: readonly number[]): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${URL}/v1/staticPolicy/eval`, { method: 'POST', headers, body })
  const text = await response.text()
  if (!expected.includes(response.status)) throw new Error(`answered ${response.status}: ${text}`)
}

function print(alone: Latencies | undefined, beside: readonly Latencies[]): void {
  const besides = beside.find(({ kind }) => kind === 'cheap')
  const runaways = beside.find(({ kind }) => kind === 'runaway')
  const moreMs = (besides?.p99Ms ?? Infinity) - (alone?.p99Ms ?? 0)
  const lines = [
    `cheap decisions alone:           ${show(alone)}`,
    `cheap decisions beside runaways: ${show(besides)}`,
    `runaways:                        ${show(runaways)}`,
    `p99 rises by ${moreMs.toFixed(1)} ms (aim: ${AIM_MORE_MS} at most); the longest takes ${(besides?.maxMs ?? Infinity).toFixed(1)} ms (aim: ${AIM_MAX_MS})`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

function show(latencies: Latencies | undefined): string {
  if (latencies === undefined) return 'none'
  const { requests, p50Ms, p99Ms, maxMs } = latencies
  return `${requests} requests, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, max ${maxMs.toFixed(1)} ms`
}

const directory = await mkdtemp(join(tmpdir(), 'tidegate-bench-'))
try {
  await run(directory)
} finally {
  await rm(directory, { recursive: true, force: true })
}
