import { mean } from 'd3-array'

import { runWorstBodies } from '../../test/support/bodies/run-worst-bodies.js'
import type { BodyOutcome } from '../../test/support/bodies/run-worst-bodies.js'
import { HARD_STOPS, stopHeldUpBy } from '../../test/support/chaos/hard-stops.js'
import { killRepeatedly } from '../../test/support/chaos/kill-rounds.js'
import type { KillResult } from '../../test/support/chaos/kill-rounds.js'
import { killReplicasRepeatedly } from '../../test/support/chaos/replica-rounds.js'
import { stopRepeatedly } from '../../test/support/chaos/stop-rounds.js'
import { readEvilRows } from '../../test/support/evil/evil-row.js'
import { runEvilRows } from '../../test/support/evil/run-evil-rows.js'
import { fuzzHttp } from '../../test/support/fuzz/fuzz-http.js'
import { postgresPrograms } from '../../test/support/postgres/postgres-programs.js'
import { soak } from '../../test/support/soak/soak.js'
import type { SoakSample } from '../../test/support/soak/soak.js'
import { startTidegate } from '../../test/support/tidegate-process.js'
import { makeWorkspace } from '../../test/support/workspace.js'
import { partsOf, readFlags, runParts, table } from '../lib/report.js'

/**
 * `make soak`: twenty minutes of mixed load, kills and stops, malformed requests, and policies and
 * bodies that exceed limits.
 */

const flags = readFlags({
  only: ['load', 'some of load,kills,stops,replicas,malformed,evil,bodies'],
  seconds: ['1200', 'duration of the mixed load'],
  rate: ['2000', 'decisions per second'],
  writers: ['4', 'clients that write'],
  runaways: ['1', 'endless evaluations per second'],
  reload: ['30', 'seconds between two reloads'],
  workers: ['1', 'processes that decide'],
  kills: ['100', 'kills of the service under load, and of one of two over one PostgreSQL'],
  stops: ['20', 'stops of the service under load'],
  requests: ['200000', 'malformed requests'],
  callers: ['24', 'parallel clients for kills, stops and malformed requests'],
  seed: [String(Date.now() % 1_000_000), 'of the random numbers'],
  old: ['', 'dist/cli.js of an older build, used by half of the services'],
  pick: ['', 'only evil policies or body routes whose name contains one of these texts'],
})
const [callers, seed] = [Number(flags.callers), Number(flags.seed)]
const LIMITS = { stopMs: 3000, evilMs: 3000, decidingMs: 250 }

/** Reports failures, the first of them in words, and makes the program fail. */
function complain(problems: readonly unknown[]): void {
  for (const problem of problems.slice(0, 20)) console.error(`  ${String(problem)}`)
  if (problems.length > 0) process.exitCode = 1
}

async function load(): Promise<void> {
  const seconds = Number(flags.seconds)
  /** Memory is compared between the first and last eighth of the time after the first fifth. */
  const settledFrom = seconds * 0.2
  const partSeconds = (seconds - settledFrom) / 8
  /**
   * Endless evaluations stop this long before the end, because their thread is kept for a minute.
   */
  const isCalm = (second: number): boolean =>
    [settledFrom, seconds - partSeconds].some(
      (start) => second >= start - 70 && second <= start + partSeconds,
    )
  const row = table('Mixed load', 'second | resident MB | files | threads | data MB')
  const { samples, decisions, failures, longestDecisionMs, exitCode } = await soak({
    ...{
      seconds,
      decisionsPerSecond: Number(flags.rate),
      writers: Number(flags.writers),
      workers: Number(flags.workers),
    },
    ...{ runawaysPerSecond: Number(flags.runaways), hasRunaways: (second: number) => !isCalm(second) },
    ...{ reloadEverySeconds: Number(flags.reload), sampleEverySeconds: Math.max(1, seconds / 60) },
    sampled: ({ second, residentMb, openFiles, threads, dataMb }) =>
      row(String(second), residentMb, openFiles, threads, dataMb),
  })
  const meanMb = (part: readonly SoakSample[]): number =>
    mean(part, ({ residentMb }) => residentMb) ?? Number.NaN
  const early = meanMb(
    samples.filter(({ second }) => second >= settledFrom && second <= settledFrom + partSeconds),
  )
  const late = meanMb(samples.filter(({ second }) => second >= seconds - partSeconds))
  const sum = table(
    'In all',
    'decisions | longest ms | failures | exit code | MB settled | MB at the end | more %',
  )
  sum(
    String(decisions),
    Math.round(longestDecisionMs),
    failures.length,
    exitCode ?? 'killed',
    early,
    late,
    (late / early - 1) * 100,
  )
  complain([...failures, ...(exitCode === 0 ? [] : [`exit code ${String(exitCode)}`])])
}

const KILL_COLUMNS =
  'kills | events | instances | approvals | gates | analyses | decisions | lost, doubled or broken'

function reportKills(what: string, { promised, problems }: KillResult): void {
  const { events, instances, approved, gates, analyses, decisions } = promised
  const sizes = [events, instances, approved, gates, analyses].map(({ size }) => size)
  table('Acknowledged requests under load, and their results', KILL_COLUMNS)(
    what,
    ...sizes,
    decisions,
    problems.length,
  )
  complain(problems)
}

async function kills(): Promise<void> {
  const rounds = Number(flags.kills)
  reportKills(`${rounds} of the service`, await killRepeatedly({ rounds, callers, longestMs: 400, seed }))
}

async function replicas(): Promise<void> {
  if (postgresPrograms() === undefined) {
    console.error('PostgreSQL is not installed: replicas are skipped')
    return
  }
  const rounds = Number(flags.kills)
  const old = flags.old === '' ? undefined : flags.old
  const result = await killReplicasRepeatedly({ rounds, callers, longestMs: 1000, seed, old })
  reportKills(`${rounds} of one of two over PostgreSQL`, result)
  const { contested, refused, older } = result
  const row = table(
    'Of them',
    'gates decided at both | requests refused | starts of the older build | refused as too old',
  )
  row(String(contested), refused, older.started, older.refused)
}

async function stops(): Promise<void> {
  const row = table('Stops under load', 'stop | requests cut | exit codes other than 0 | longest ms')
  const rounds = Number(flags.stops)
  const { cut, codes, durationsMs } = await stopRepeatedly({ rounds, callers, loadMs: 1000, seed })
  const failed = codes.filter((code) => code !== 0)
  row(`${rounds} stops`, cut.length, failed.length, Math.round(Math.max(...durationsMs)))
  complain([...cut, ...failed.map((code) => `exit code ${String(code)}`)])
  for (const heldUpBy of HARD_STOPS) {
    const { answers, code, durationMs } = await stopHeldUpBy(heldUpBy)
    const lost = answers.filter(({ status }) => status === 0)
    row(`with ${heldUpBy}`, lost.length, code === 0 ? 0 : 1, Math.round(durationMs))
    if (lost.length > 0 || code !== 0 || durationMs > LIMITS.stopMs)
      complain([`a stop with ${heldUpBy} cuts requests, or takes too long`])
  }
}

async function malformed(): Promise<void> {
  const workspace = makeWorkspace({ 'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n' })
  const tidegate = await startTidegate({ workspace })
  const state = { isOver: false, longestMs: 0 }
  const probing = probe(tidegate.url, state)
  const { sent, statuses, complaints } = await fuzzHttp(tidegate.url, {
    requests: Number(flags.requests),
    seed,
    atOnce: callers,
  })
  state.isOver = true
  await probing
  const code = tidegate.isRunning() ? await tidegate.end('SIGTERM') : 'dead'
  workspace.remove()
  const row = table(
    `Malformed requests over all routes, seed ${seed}`,
    'requests | undocumented or missing answers | exit code | longest probe ms | answers by status',
  )
  const byStatus = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  row(String(sent), complaints.length, code ?? 'killed', Math.round(state.longestMs), byStatus.join(', '))
  complain([...complaints, ...(code === 0 ? [] : [`exit code ${String(code)}`])])
}

/** Checks repeatedly whether the service is up. */
async function probe(url: string, state: { readonly isOver: boolean; longestMs: number }): Promise<void> {
  while (!state.isOver) {
    const begun = performance.now()
    await fetch(`${url}/health`).then(
      ({ ok }) => ok || complain(['a probe failed']),
      (raw: unknown) => complain([raw]),
    )
    state.longestMs = Math.max(state.longestMs, performance.now() - begun)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function evil(): Promise<void> {
  const row = table(
    'Policies and inputs that exceed limits, with concurrent cheap requests',
    'row | status | ms | CPU ms | longest cheap ms | of it CPU | code',
  )
  const picked = readEvilRows().filter(
    ({ name }) => flags.pick === '' || partsOf(flags.pick).some((part) => name.includes(part)),
  )
  const { outcomes, exitCode } = await runEvilRows(
    picked,
    ({ name, status, durationMs, busiestThreadMs, longestCheapMs, decidingMs, code }) =>
      row(
        name.slice(0, 44),
        status,
        ...[durationMs, busiestThreadMs, longestCheapMs, decidingMs].map(Math.round),
        code,
      ),
  )
  // CPU time, because other programs on the machine prolong the answers.
  const bad = outcomes.filter(
    ({ status, busiestThreadMs, decidingMs }) =>
      status === 200 || busiestThreadMs > LIMITS.evilMs || decidingMs > LIMITS.decidingMs,
  )
  complain([
    ...bad.map(
      ({ name }) =>
        `allowed, or a thread over ${LIMITS.evilMs} ms, or the deciding one over ${LIMITS.decidingMs}: ${name}`,
    ),
    ...(exitCode === 0 ? [] : [`exit code ${String(exitCode)}`]),
  ])
}

/** The body of each route that blocked the deciding thread for longest. */
async function bodies(): Promise<void> {
  const worst = new Map<string, BodyOutcome>()
  const { outcomes, exitCode } = await runWorstBodies({ route: flags.pick }, (outcome) => {
    if ((worst.get(outcome.route)?.decidingMs ?? -1) < outcome.decidingMs) worst.set(outcome.route, outcome)
  })
  const row = table(
    `The worst of ${outcomes.length} bodies`,
    'route | status | ms | longest cheap ms | CPU ms | bytes | body',
  )
  for (const { route, status, durationMs, longestCheapMs, decidingMs, bytes, body } of worst.values())
    row(route.slice(0, 44), status, ...[durationMs, longestCheapMs, decidingMs].map(Math.round), bytes, body)
  const bad = outcomes.filter(
    ({ status, decidingMs }) => status === 0 || status >= 500 || decidingMs > LIMITS.decidingMs,
  )
  complain([
    ...bad.map(({ route, body, text }) => `${route}: ${body}: ${text}`),
    ...(exitCode === 0 ? [] : [`exit code ${String(exitCode)}`]),
  ])
}

await runParts(flags.only, { load, kills, stops, replicas, malformed, evil, bodies })
