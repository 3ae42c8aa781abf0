import type { LogExposure, LogJudgeInput } from '../model/types.js'
import type { CountedEvents } from './count-events.js'
import { instanceMinutes } from './exposure.js'

/** Traffic and time that differ more than this let one doubt both. */
const MOST_DISAGREEMENT = 3

/** What a reader of the report should know about the lines it rests on. */
export function warningsOf(
  { baseline, canary }: LogJudgeInput,
  { otherEvents, timelessLines }: CountedEvents,
  exposure: LogExposure,
): readonly string[] {
  const warnings: string[] = []
  if (baseline?.isTruncated) warnings.push('a limit left lines of the baseline out')
  if (canary.isTruncated) warnings.push('a limit left lines of the canary out')
  if (otherEvents > 0) {
    warnings.push(`${otherEvents} events came when the table of templates was full and were not told apart`)
  }
  if (timelessLines > 0) {
    warnings.push('some lines have no time, so that bursts among them count in full')
  }
  if (baseline !== undefined && exposure.basis === 'ordinaryLines') {
    const byTime = instanceMinutes(canary) / instanceMinutes(baseline)
    const factor = exposure.canary / exposure.baseline / byTime
    if (byTime > 0 && Number.isFinite(byTime) && Math.max(factor, 1 / factor) > MOST_DISAGREEMENT) {
      warnings.push(
        `the canary logs ${factor.toFixed(1)} times as many ordinary lines a minute as the baseline: give the numbers of requests if that is not its traffic`,
      )
    }
  }
  return warnings
}
