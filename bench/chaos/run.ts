import { parseArgs } from 'node:util'

import { HARD_STOPS, stopHeldUpBy } from '../../test/support/chaos/hard-stops.js'
import type { HardStopResult } from '../../test/support/chaos/hard-stops.js'
import { killRepeatedly } from '../../test/support/chaos/kill-rounds.js'
import type { KillResult } from '../../test/support/chaos/kill-rounds.js'
import { stopRepeatedly } from '../../test/support/chaos/stop-rounds.js'
import type { StopResult } from '../../test/support/chaos/stop-rounds.js'

const { values: flags } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    stops: { type: 'string', default: '20' },
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

function reportKills(rounds: number, { promised, problems }: KillResult): boolean {
  const { events, instances, approved, analyses, gates, decisions } = promised
  console.log(
    `${rounds} kills under load: ${events.size} events, ${instances.size} gate instances, ${approved.size} approvals, ` +
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

const kills = Number(flags.kills)
const stops = Number(flags.stops)
console.log(`seed ${seed}`)
const areStopsClean = reportStops(
  stops,
  await stopRepeatedly({ rounds: stops, callers, loadMs: 1000, seed, finished: progress('stop', stops) }),
)
let areHardStopsClean = true
for (const heldUpBy of HARD_STOPS) {
  areHardStopsClean = reportHardStop(await stopHeldUpBy(heldUpBy)) && areHardStopsClean
}
const areKillsClean = reportKills(
  kills,
  await killRepeatedly({ rounds: kills, callers, longestMs: 400, seed, finished: progress('kill', kills) }),
)
process.exitCode = areStopsClean && areHardStopsClean && areKillsClean ? 0 : 1
