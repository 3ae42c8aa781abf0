import { redactWords } from '../../../lib/redaction/redact-text.js'
import { INSTANCE_SEPARATOR } from '../../sources.js'
import type { TimeWindow } from '../../sources.js'
import type { PlannedSide, PlannedSides, RunPlan } from '../definitions/plan.js'
import { withInstances } from './choose-instances.js'
import type { TargetInstances } from './choose-instances.js'
import { intervalWindow } from './schedule.js'

/** The instances of one side and their time window. */
export interface ComparedSide extends TimeWindow {
  /** Without secrets. */
  readonly scope: Readonly<Record<string, string>>
}

/** The compared instances for the metrics or the log of one service. */
export interface ComparedSides {
  readonly name: string
  readonly part: 'metrics' | 'log'
  readonly baseline: ComparedSide
  readonly canary: ComparedSide
}

/** Limits the size of the report; a run may have hundreds of services. */
const MAX_SERVICES = 20

/**
 * Returns the compared instances of an interval, for the first `MAX_SERVICES` services of a run.
 */
export function comparedSides(
  { targets, timing }: RunPlan,
  interval: number,
  data: readonly { readonly instances?: TargetInstances | undefined }[] = [],
): readonly ComparedSides[] {
  const side = (planned: PlannedSide): ComparedSide => ({
    scope: Object.fromEntries(
      Object.entries(planned.scope).map(([name, value]) => [
        name,
        redactWords(value.replaceAll(INSTANCE_SEPARATOR, ', ')),
      ]),
    ),
    ...intervalWindow(timing, planned, interval),
  })
  return targets.slice(0, MAX_SERVICES).flatMap(({ name, metrics, logs }, index) => {
    const { instances } = data[index] ?? {}
    return (
      [
        ['metrics', metrics && withInstances<PlannedSides>(metrics, instances?.metrics)],
        ['log', logs && withInstances<PlannedSides>(logs, instances?.logs)],
      ] as const
    ).flatMap(([part, sides]) =>
      sides === undefined ? [] : [{ name, part, baseline: side(sides.baseline), canary: side(sides.canary) }],
    )
  })
}
