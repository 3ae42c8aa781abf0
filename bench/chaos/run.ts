import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { HARD_STOPS, stopHeldUpBy } from '../../test/support/chaos/hard-stops.js'
import type { HardStopResult } from '../../test/support/chaos/hard-stops.js'
import { killRepeatedly } from '../../test/support/chaos/kill-rounds.js'
import type { KillResult } from '../../test/support/chaos/kill-rounds.js'
import { killReplicasRepeatedly } from '../../test/support/chaos/replica-rounds.js'
import type { ReplicaKillResult } from '../../test/support/chaos/replica-rounds.js'
import { postgresPrograms } from '../../test/support/postgres/postgres-programs.js'
import { stopRepeatedly } from '../../test/support/chaos/stop-rounds.js'
import type { StopResult } from '../../test/support/chaos/stop-rounds.js'

const { values: flags } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    stops: { type: 'string', default: '20' },
    /** Kills of one of two services over one PostgreSQL. */
    replicas: { type: 'string', default: '100' },
    /** The built program (`dist/cli.js`) of an older release, which one of the two then is as often as not. */
    old: { type: 'string' },
    callers: { type: 'string', default: '24' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const callers = Number(flags.callers)
const seed = Number(flags.seed)
const LONGEST_STOP_MS = 3000

function progress(name: string, rounds: number): (round: number) => void {
  return (round) => {
    if (process.stderr.isTTY)
      process.stderr.write(`\r${name} ${round} of ${rounds}${round === rounds ? '\n' : ''}`)
  }
}

function reportKills(what: string, { promised, problems }: KillResult): boolean {
  const { events, instances, approved, analyses, gates, decisions } = promised
  console.log(
    `${what} under load: ${events.size} events, ${instances.size} gate instances, ${approved.size} approvals, ` +
      `${gates.size} gates and ${analyses.size} analyses acknowledged, ${decisions} decisions answered; ` +
      `${problems.length} lost, doubled or broken`,
  )
  for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`)
  return problems.length === 0
}

function reportStops(rounds: number, { cut, codes, durationsMs }: StopResult): boolean {
  const longestMs = Math.max(...durationsMs)
  const failed = codes.filter((code) => code !== 0)
  console.log(
    `${rounds} stops under load: ${cut.length} requests cut, ${failed.length} exit codes other than 0, ` +
      `longest ${Math.round(longestMs)} ms`,
  )
  for (const line of cut.slice(0, 20)) console.log(`  ${line}`)
  return cut.length === 0 && failed.length === 0 && longestMs < LONGEST_STOP_MS
}

function reportHardStop({ heldUpBy, answers, code, durationMs }: HardStopResult): boolean {
  const cut = answers.filter(({ status }) => status === 0)
  console.log(
    `stop with ${heldUpBy}: ${cut.length} of ${answers.length} outstanding requests cut, exit code ${code}, ${Math.round(durationMs)} ms`,
  )
  return cut.length === 0 && code === 0 && durationMs < LONGEST_STOP_MS
}

function reportReplicas(rounds: number, result: ReplicaKillResult): boolean {
  const isClean = reportKills(`${rounds} kills of one of two services over PostgreSQL`, result)
  console.log(
    `  ${result.contested} gates contested at both, ${result.refused} requests refused for a moment`,
  )
  const { started, refused } = result.older
  if (flags.old !== undefined)
    console.log(
      `  ${started} starts of the older build, ${refused} more were refused as too old for the database`,
    )
  return isClean
}

/** Nothing of it where its rounds are none. */
async function stops(rounds: number): Promise<boolean> {
  if (rounds === 0) return true
  const stopped = await stopRepeatedly({
    rounds,
    callers,
    loadMs: 1000,
    seed,
    finished: progress('stop', rounds),
  })
  let isClean = reportStops(rounds, stopped)
  for (const heldUpBy of HARD_STOPS) isClean = reportHardStop(await stopHeldUpBy(heldUpBy)) && isClean
  return isClean
}

async function kills(rounds: number): Promise<boolean> {
  if (rounds === 0) return true
  const options = { rounds, callers, longestMs: 400, seed, finished: progress('kill', rounds) }
  return reportKills(`${rounds} kills`, await killRepeatedly(options))
}

async function replicas(rounds: number): Promise<boolean> {
  if (rounds === 0) return true
  if (postgresPrograms() === undefined) {
    console.log('PostgreSQL is not installed: two services over it are left out')
    return true
  }
  const finished = progress('replica', rounds)
  const old = flags.old === undefined ? undefined : resolve(flags.old)
  const options = { rounds, callers, longestMs: 1000, seed, finished, old }
  return reportReplicas(rounds, await killReplicasRepeatedly(options))
}

console.log(`seed ${seed}`)
const outcomes = [
  await stops(Number(flags.stops)),
  await kills(Number(flags.kills)),
  await replicas(Number(flags.replicas)),
]
process.exitCode = outcomes.every(Boolean) ? 0 : 1
