import { spawn } from 'node:child_process'
import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { requestText, runSteadily, timeRequest } from '../lib/load.js'
import type { Step } from '../lib/load.js'
import { latenciesOf, readFlags, runParts, table } from '../lib/report.js'
import { startTidegate, withFolder } from '../lib/servers.js'
import type { Server } from '../lib/servers.js'
import { applicationList, pipelineList } from '../stores/registry.js'
import { readPolicies } from '../../src/cli/impact/read-policies.js'
import { generatePipeline } from '../../test/support/generate-pipeline.js'
import { fillLog } from './fill-log.js'
import { history, smallDecisions } from './history.js'
import { measureReload } from './reload.js'

/**
 * `make bench-lifecycle`: what changing policies costs: stored inputs, comparisons with those that
 * serve and the latency of decisions during them, explanations, and batches.
 */

const flags = readFlags({
  only: ['', 'some of inputs, decisions, pipelines, why, batch, reload; all by default'],
  decisions: ['100000', 'stored decisions of 5.6 KB to compare'],
  pipelines: ['50000', 'pipelines of the registry to compare'],
  history: ['20000', 'decisions of the history whose stored size is measured'],
  rate: ['200', 'small decisions per second during a comparison'],
  seconds: ['10', 'seconds of the load without a comparison'],
})
const POLICIES = 'policies'
const APPLICATIONS = 1000
const BATCH_ROWS = 180
const POLL_MS = 100
const WHY_STAGES = 200
const [BATCH_INPUTS, BATCH_ROUNDS] = [100, 1000]
const printRow = table('Lifecycle', 'figure | value | unit | aim')
const row = (figure: string, value: number | undefined, unit: string, aim = ''): void =>
  printRow(figure, value, unit, aim)

interface Run {
  readonly impactId: string
  readonly state: string
  readonly error?: { readonly message: string }
  readonly result?: { readonly compared: { readonly total: number }; readonly flips: readonly unknown[] }
}

/** Candidates with an unused rule added to one file, which must give no flip. */
const CANDIDATES = {
  'a package': 'static/manual_judgment.rego',
  'a library that most packages use': 'lib/pipeline.rego',
} as const
const OTHER_PROCESSES = { 'lower priority': ['nice', '-n', '10'], 'the idle class': ['chrt', '--idle', '0'] }
type Changed = keyof typeof CANDIDATES

/** Compares the policies that serve with a candidate that answers the same. */
async function compare(url: string, over: string, changed: Changed, aim: string): Promise<void> {
  const file = CANDIDATES[changed]
  const { directories: [files = {}] = [] } = await readPolicies([POLICIES], POLICIES)
  const policies = { directories: [{ ...files, [file]: `${files[file] ?? ''}\nadded_rule := 1\n` }] }
  const startedAt = performance.now()
  const asked = { method: 'POST', path: '/policies/impact', value: { policies, over: [over] } }
  let run = JSON.parse(await requestText(url, asked, [202])) as Run
  while (run.state === 'running') {
    await sleep(POLL_MS)
    run = JSON.parse(await requestText(url, { path: `/policies/impact/${run.impactId}` })) as Run
  }
  const seconds = (performance.now() - startedAt) / 1000
  if (run.result === undefined) throw new Error(run.error?.message ?? 'no result')
  row(`${run.result.compared.total} ${over}, ${changed} changed`, seconds, 's', aim)
  row('  flips', run.result.flips.length, '', '0')
}

/** The p99 of small decisions at a fixed rate, in milliseconds. */
async function latencyMs(url: string, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const body = JSON.stringify({ input: { new: { application: 'shop', stages: [], triggers: [] } } })
  const send = (): Promise<unknown> => timeRequest(`${url}/v1/staticPolicy/eval`, body, agent)
  function* steps(): Generator<Step> {
    for (;;) yield { kind: 'decision', send }
  }
  const taken = await runSteadily(steps(), Number(flags.rate), seconds)
  agent.destroy()
  return taken.get('decision')?.p99Ms ?? Number.NaN
}

async function withLatency(server: Server, over: string, changed: Changed, aim: string): Promise<void> {
  const before = await latencyMs(server.url, Number(flags.seconds))
  const cpuSeconds = server.cpuSeconds()
  const comparing = compare(server.url, over, changed, aim)
  const during = await latencyMs(server.url, Number(flags.seconds))
  await comparing
  row('  CPU time of the service', server.cpuSeconds() - cpuSeconds, 's')
  row('  p99 of decisions without a comparison', before, 'ms')
  row('  p99 of decisions during it', during, 'ms', `${(before + 2).toFixed(1)} ms`)
}

/** As many busy processes as a comparison has threads, which have nothing to do with the service. */
async function withOtherProcesses(server: Server): Promise<void> {
  const loop =
    'for (const all = new Map(), n = { at: 0 }; ; n.at += 1) all.set(n.at % 50000, { text: `${n.at}` })'
  for (const [name, command] of Object.entries(OTHER_PROCESSES)) {
    const [program, ...args] = [...command, process.execPath, '-e', loop]
    const others = Array.from({ length: 2 }, () => spawn(program, args, { stdio: 'ignore' }))
    const p99 = await latencyMs(server.url, Number(flags.seconds))
    for (const other of others) other.kill('SIGKILL')
    row(`p99 of decisions beside two busy processes of ${name}`, p99, 'ms')
  }
}

async function measureInputs(): Promise<void> {
  for (const batchRows of [1, BATCH_ROWS])
    await withFolder(async (folder) => {
      const filled = await fillLog(join(folder, 'decisions.db'), history(Number(flags.history)), batchRows)
      row(`inputs of a history, ${batchRows} in a batch, as JSON`, filled.inputBytes / 1e6, 'MB')
      row('  the whole log in % of it', (filled.fileBytes / filled.inputBytes) * 100, '%', '25 %')
      row('  time to write a decision', (filled.seconds / filled.decisions) * 1e6, 'us')
    })
}

async function measureDecisions(): Promise<void> {
  await withFolder(async (folder) => {
    const file = join(folder, 'data', 'decisions.db')
    const filled = await fillLog(file, smallDecisions(Number(flags.decisions), Date.now()), BATCH_ROWS)
    row('unlike inputs of 5.6 KB, the whole log in %', (filled.fileBytes / filled.inputBytes) * 100, '%')
    row('  time to write a decision', (filled.seconds / filled.decisions) * 1e6, 'us')
    const server = await startTidegate({ directory: folder, policies: POLICIES })
    try {
      await withLatency(server, 'decisions', 'a package', '60 s')
      await withLatency(server, 'decisions', 'a library that most packages use', '60 s')
      await withOtherProcesses(server)
    } finally {
      await server.end()
    }
  })
}

async function measurePipelines(): Promise<void> {
  const lists = [applicationList(APPLICATIONS), pipelineList(Number(flags.pipelines), APPLICATIONS)] as const
  const storage = createServer(({ url }, response) => {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(lists[url?.startsWith('/v2/applications') === true ? 0 : 1])
  })
  await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve))
  const storageUrl = `http://127.0.0.1:${(storage.address() as AddressInfo).port}`
  try {
    await withFolder(async (folder) => {
      const config = { orchestrator: { storageUrl } }
      const server = await startTidegate({ directory: folder, policies: POLICIES, config })
      try {
        await untilReconciled(server.url)
        await withLatency(server, 'pipelines', 'a package', '30 s')
      } finally {
        await server.end()
      }
    })
  } finally {
    storage.closeAllConnections()
    storage.close()
  }
}

async function untilReconciled(url: string): Promise<void> {
  for (;;) {
    const metrics = await requestText(url, { path: '/metrics' })
    if (/^tidegate_reconciliations_total\{result="success"\} [1-9]/m.test(metrics)) return
    await sleep(POLL_MS)
  }
}

/** Explains an allow of a long pipeline, for which all packages are compiled with markers. */
async function measureWhy(): Promise<void> {
  await withFolder(async (folder) => {
    const server = await startTidegate({ directory: folder, policies: POLICIES })
    try {
      const value = { input: { new: generatePipeline(WHY_STAGES) } }
      const decide = { method: 'POST', path: '/v1/staticPolicy/eval', value }
      const { decisionId } = JSON.parse(await requestText(server.url, decide)) as { decisionId: string }
      const path = `/decisions/${decisionId}`
      while ((await timeRequest(`${server.url}${path}`)).status !== 200) await sleep(POLL_MS)
      for (const which of ['first', 'second']) {
        const { status, ms } = await timeRequest(`${server.url}${path}/why`)
        if (status !== 200) throw new Error(`why: ${status}`)
        row(`why, ${WHY_STAGES} stages, ${which} time`, ms / 1000, 's', '2 s')
      }
    } finally {
      await server.end()
    }
  })
}

/** A request with 100 small inputs compared with a request with one. */
async function measureBatch(): Promise<void> {
  await withFolder(async (folder) => {
    const server = await startTidegate({ directory: folder, policies: POLICIES })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const path = 'data/static/wait_time/deny'
    const input = { new: { application: 'shop', stages: [], triggers: [] } }
    const inputs = Object.fromEntries(Array.from({ length: BATCH_INPUTS }, (_, id) => [id, input]))
    const send = async (url: string, body: object): Promise<number> => {
      const { status, ms } = await timeRequest(`${server.url}/v1/${url}`, JSON.stringify(body), agent)
      if (status !== 200) throw new Error(`${url}: ${status}`)
      return ms
    }
    try {
      const [one, many]: number[][] = [[], []]
      for (let round = 0; round < BATCH_ROUNDS; round += 1) {
        one?.push(await send(path, { input }))
        many?.push(await send(`batch/${path}`, { inputs }))
      }
      const [single, batch] = [one ?? [], many ?? []].map((times) => latenciesOf(times).p50Ms)
      row('one small input', single, 'ms')
      row(`a batch of ${BATCH_INPUTS}`, batch, 'ms')
      row('  times one', (batch ?? 0) / (single ?? 1), '', '10')
    } finally {
      agent.destroy()
      await server.end()
    }
  })
}

await runParts(flags.only, {
  inputs: measureInputs,
  decisions: measureDecisions,
  pipelines: measurePipelines,
  why: measureWhy,
  batch: measureBatch,
  reload: () => measureReload(row, Number(flags.rate), Number(flags.seconds)),
})
