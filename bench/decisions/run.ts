import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { max, median, sum } from 'd3-array'

import { ENDLESS_POLICY } from '../../test/support/endless-policy.js'
import { generatePipeline } from '../../test/support/generate-pipeline.js'
import { LATENCY_COLUMNS, requestText, drive, latencyCells, runSteadily } from '../lib/load.js'
import type { Step, WrkResult } from '../lib/load.js'
import { partsOf, readFlags, runParts, table } from '../lib/report.js'
import { SERVER_CORE, opaPeers, startOpa, startTidegate, withFolder } from '../lib/servers.js'
import type { Server } from '../lib/servers.js'
import { CONSOLE_CONFIG, measureConsoles, medianOf } from './consoles.js'
import { CROWDS, gatherCrowd } from './crowd.js'
import { measureTracing } from './tracing.js'

/**
 * `make bench-decisions`: decisions per second compared with `opa run --server`, with tracing, during
 * endless evaluations, for thousands of simultaneous requests, and with open consoles.
 */

const flags = readFlags({
  only: ['', 'some of compare,tracing,runaways,crowd,consoles; all by default'],
  body: ['', 'only bodies whose name contains this text'],
  log: ['off,on', 'decision log on, off, or both'],
  connections: ['16', 'numbers of connections, e.g. 16,1000,2000,new; new is one per request'],
  seconds: ['5', 'duration of each measurement'],
  rounds: ['1', 'rounds of compare and tracing; with several, medians are printed'],
  opa: ['', 'additional opa programs to compare, as PATH,PATH'],
  rate: ['200', 'cheap decisions per second during endless ones'],
  runaways: ['5', 'endless decisions per second'],
  consoles: ['50', 'home pages that update themselves'],
  workers: ['1', 'processes that decide, for runaways and crowd'],
})
const WARM_UP_SECONDS = 2
const POLICIES = 'bench/policies'
const AIMS = { moreMs: 50, maxMs: 250, withConsolesMs: 2 }

/** Path and body of a request. */
interface Body {
  readonly name: string
  readonly path: string
  readonly body: string
}

const ACCESS = {
  user: 'ana',
  application: 'shop',
  account: 'prod-account',
  action: 'deploy',
  roles: ['dev', 'ops'],
  approved: true,
  n: 100,
}
const pipeline = (stages: number, size: string): Body => ({
  name: `pipeline of ${stages} stages, ${size}`,
  path: '/v1/data/bench/pipeline/deny',
  body: JSON.stringify({ input: { new: generatePipeline(stages) } }),
})
const BODIES: readonly Body[] = [
  { name: 'access, 134 B', path: '/v1/data/bench/access/allow', body: JSON.stringify({ input: ACCESS }) },
  pipeline(20, '5.6 KB'),
  pipeline(800, '215 KB'),
]

interface Sample extends WrkResult {
  readonly residentMb: number
  readonly dropped: number
}

interface Candidate {
  readonly name: string
  readonly start: (log: string, directory: string) => Promise<Server>
}

async function candidates(): Promise<Candidate[]> {
  const others = (await opaPeers(flags.opa)).map((peer) => ({
    name: peer.name,
    // OPA logs decisions to the console, which is a file here.
    start: (log: string, directory: string) =>
      startOpa(peer, {
        directory,
        policies: POLICIES,
        cores: SERVER_CORE,
        args: log === 'on' ? ['--set', 'decision_logs.console=true'] : [],
      }),
  }))
  const start = (log: string, directory: string): Promise<Server> =>
    startTidegate({
      directory,
      cores: SERVER_CORE,
      config: { decisions: { enabled: log === 'on' }, server: { workers: 1 } },
    })
  return [{ name: 'tidegate', start }, ...others]
}

/**
 * Runs the servers in turn for several rounds and prints the median of each measurement, so that
 * disturbances affect all servers alike.
 */
async function compare(): Promise<void> {
  const columns =
    'body | log | connections | server | req/s | times | p50 ms | p99 ms | MB | failed | dropped'
  const row = table(
    'Decisions per second, one core each; `times` is Tidegate relative to this server',
    columns,
  )
  const all = await candidates()
  for (const log of partsOf(flags.log)) {
    for (const body of BODIES.filter(({ name }) => name.includes(flags.body))) {
      for (const connections of partsOf(flags.connections)) {
        const samples = all.map((): Sample[] => [])
        const answers = new Set<string>()
        for (let round = 0; round < Number(flags.rounds); round += 1)
          for (const [index, candidate] of all.entries())
            samples[index]?.push(await measure(candidate, body, log, connections, answers))
        if (answers.size !== 1) throw new Error(`the servers differ: ${[...answers].join('; ')}`)
        const own = median(samples[0] ?? [], ({ perSecond }) => perSecond) ?? Number.NaN
        for (const [index, { name }] of all.entries()) {
          const of = samples[index] ?? []
          const perSecond = median(of, (one) => one.perSecond) ?? Number.NaN
          row(
            ...[
              body.name,
              log,
              connections,
              name,
              Math.round(perSecond),
              index === 0 ? undefined : own / perSecond,
            ],
            ...[
              median(of, ({ p50Ms }) => p50Ms),
              median(of, ({ p99Ms }) => p99Ms),
              max(of, ({ residentMb }) => residentMb),
            ],
            ...[sum(of, ({ failures }) => failures), sum(of, ({ dropped }) => dropped)],
          )
        }
      }
    }
  }
}

async function measure(
  { start, name }: Candidate,
  body: Body,
  log: string,
  connections: string,
  answers: Set<string>,
): Promise<Sample> {
  let sample: Sample | undefined
  await withFolder(async (directory) => {
    const server = await start(log, directory)
    try {
      const headers = { 'content-type': 'application/json' }
      const { result } = JSON.parse(await requestText(server.url, { ...body, headers })) as {
        result?: unknown
      }
      answers.add(JSON.stringify(result))
      const load = { connections: connections === 'new' ? 'new' : Number(connections), directory } as const
      await drive(server.url, body, { ...load, seconds: WARM_UP_SECONDS })
      const driven = await drive(server.url, body, { ...load, seconds: Number(flags.seconds) })
      const dropped = name === 'tidegate' ? await droppedDecisions(server) : 0
      sample = { ...driven, residentMb: server.residentMb(), dropped }
    } finally {
      await server.end()
    }
  })
  if (sample === undefined) throw new Error('nothing was measured')
  return sample
}

/** CPU time of a decision of 5.6 KB without and with a collector. */
async function tracing(): Promise<void> {
  const [, decision = { name: '', path: '', body: '' }] = BODIES
  const [seconds, rounds] = [Number(flags.seconds), Number(flags.rounds)]
  const row = table(`CPU time of a ${decision.name}, log off`, 'telemetry | us | more')
  const taken = await measureTracing(decision, { warmUpSeconds: WARM_UP_SECONDS, seconds, rounds })
  const off = median(taken.get('off') ?? []) ?? Number.NaN
  for (const [name, microseconds] of taken) {
    const own = median(microseconds) ?? Number.NaN
    row(name, own, `${Math.round((own / off - 1) * 100)} %`)
  }
}

/** Decisions that the log lost in whole or in part. Dropping them would make the log look fast. */
async function droppedDecisions({ url }: Server): Promise<number> {
  const text = await requestText(url, { path: '/metrics' })
  return sum(text.matchAll(/^tidegate_decision_log_dropped_total\{[^}]*\} (\d+)$/gm), ([, count]) =>
    Number(count),
  )
}

/** Starts a service with a policy that contains endless evaluations. */
async function withEndless(act: (server: Server) => Promise<void>): Promise<void> {
  await withFolder(async (directory) => {
    const policies = join(directory, 'policies')
    mkdirSync(policies)
    writeFileSync(join(policies, 'q.rego'), ENDLESS_POLICY)
    const server = await startTidegate({
      directory,
      policies,
      config: { server: { workers: Number(flags.workers) } },
    })
    await act(server).finally(() => server.end())
  })
}

/**
 * Measures cheap decisions at a steady rate, alone and during endless evaluations of the same path.
 */
async function runaways(): Promise<void> {
  await withEndless(async ({ url }) => {
    const decide = (input: object, statuses: readonly number[]) => () =>
      requestText(url, { path: '/v1/staticPolicy/eval', value: { input } }, statuses)
    const cheap: Step = {
      kind: 'cheap',
      send: decide({ block: false, name: 'a pipeline', stages: [{ type: 'wait' }] }, []),
    }
    const runaway: Step = { kind: 'runaway', send: decide({ size: 1_000_000 }, [500, 503]) }
    const [rate, seconds] = [Number(flags.rate), Number(flags.seconds)]
    const every = Math.max(2, Math.round(rate / Number(flags.runaways)))
    const steps = function* (hasRunaways: boolean): Generator<Step> {
      for (let index = 0; ; index += 1) yield hasRunaways && index % every === 0 ? runaway : cheap
    }
    await runSteadily(steps(false), rate, WARM_UP_SECONDS)
    const alone = await runSteadily(steps(false), rate, seconds)
    const mixed = await runSteadily(steps(true), rate, 3 * seconds)
    const row = table(
      `${rate} cheap decisions per second, with ${flags.runaways} endless ones per second of the same path`,
      `requests | ${LATENCY_COLUMNS}`,
    )
    for (const [kind, latencies] of alone) row(`${kind}, alone`, ...latencyCells(latencies))
    for (const [kind, latencies] of mixed) row(`${kind}, both`, ...latencyCells(latencies))
    const [before, now] = [alone.get('cheap'), mixed.get('cheap')]
    const isMissed =
      now === undefined ||
      before === undefined ||
      now.p99Ms - before.p99Ms > AIMS.moreMs ||
      now.maxMs > AIMS.maxMs
    if (isMissed)
      console.error(`MISSED: p99 may rise by ${AIMS.moreMs} ms, and none may take more than ${AIMS.maxMs} ms`)
    if (isMissed) process.exitCode = 1
  })
}

async function crowd(): Promise<void> {
  const columns =
    'simultaneous | answered | refused | failed | last ms | probe ms | new ms | open ms | peak MB'
  const row = table(
    'Simultaneous requests: the longest latency of a probe, and of a decision over a new and an open connection, during them',
    columns,
  )
  for (const asked of CROWDS) {
    await withEndless(async (server) => {
      const { answered, refused, failed, lastMs, longestMs, peakMb } = await gatherCrowd(server, asked)
      row(asked.name, answered, refused, failed, Math.round(lastMs), ...longestMs.map(Math.round), peakMb)
    })
  }
}

async function consoles(): Promise<void> {
  await withFolder(async (directory) => {
    const server = await startTidegate({ directory, config: CONSOLE_CONFIG })
    const [decision = { path: '', body: '' }] = BODIES
    const load = { consoles: Number(flags.consoles), rate: Number(flags.rate), decision }
    const spent = { seconds: Number(flags.seconds), rounds: Number(flags.rounds) }
    try {
      const { alone, open, events } = await measureConsoles(server, { ...load, ...spent })
      const row = table(
        `${load.rate} decisions per second without and with ${load.consoles} open consoles, which got ${events} updates`,
        `consoles | ${LATENCY_COLUMNS}`,
      )
      const [before, now] = [medianOf(alone), medianOf(open)]
      row('none', ...latencyCells(before))
      row(load.consoles, ...latencyCells(now))
      if (now.p99Ms - before.p99Ms <= AIMS.withConsolesMs) return
      console.error(`MISSED: p99 may rise by ${AIMS.withConsolesMs} ms`)
      process.exitCode = 1
    } finally {
      await server.end()
    }
  })
}

await runParts(flags.only, { compare, tracing, runaways, crowd, consoles })
