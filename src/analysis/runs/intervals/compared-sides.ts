import { redactWords } from '../../../lib/redaction/redact-text.js'
import type { TimeWindow } from '../../sources.js'
import type { PlannedSide, RunPlan } from '../definitions/plan.js'
import { intervalWindow } from './schedule.js'

/** Which instances, and which time of them. */
export interface ComparedSide extends TimeWindow {
  /** Without secrets. */
  readonly scope: Readonly<Record<string, string>>
}

/** The compared scopes of one part of a service. */
export interface ComparedSides {
  readonly name: string
  readonly part: 'metrics' | 'log'
  readonly baseline: ComparedSide
  readonly canary: ComparedSide
}

/** Each service more makes the report longer; a run may have hundreds. */
const MAX_SERVICES = 20

/** The compared scopes of an interval, for the first services of a run. */
export function comparedSides({ targets, timing }: RunPlan, interval: number): readonly ComparedSides[] {
  const side = (planned: PlannedSide): ComparedSide => ({
    scope: Object.fromEntries(
      Object.entries(planned.scope).map(([name, value]) => [name, redactWords(value)]),
    ),
    ...intervalWindow(timing, planned, interval),
  })
  return targets.slice(0, MAX_SERVICES).flatMap(({ name, metrics, logs }) =>
    (
      [
        ['metrics', metrics],
        ['log', logs],
      ] as const
    ).flatMap(([part, sides]) =>
      sides === undefined ? [] : [{ name, part, baseline: side(sides.baseline), canary: side(sides.canary) }],
    ),
  )
}
