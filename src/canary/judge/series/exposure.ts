import type { ErrorDetail } from '../../../errors/app-error.js'
import type { Side } from './types.js'

/**
 * A side whose values are counted out of those of another series, point by point. It cannot be
 * judged if the other series has no data.
 */
export function countedOutOf(side: Side, exposure: Side): Side {
  const problem = problemOf(side, exposure)
  if (problem !== undefined) return { ...side, error: side.error ?? problem }
  return { ...side, exposure: exposure.values }
}

function problemOf({ values, startMs, stepMs }: Side, exposure: Side): string | undefined {
  if (exposure.error !== undefined) return `exposure: ${exposure.error}`
  if (values.length === 0) return undefined
  if (exposure.values.length !== values.length) {
    return `the exposure has ${exposure.values.length} points for ${values.length} values`
  }
  const isOnGrid = exposure.startMs === startMs && exposure.stepMs === stepMs
  return isOnGrid ? undefined : 'the exposure has its points at other times'
}

/** The exposure of a metric: the name of another metric, or its own values or query. */
export interface ExposedMetric {
  readonly name: string
  readonly exposure: string | undefined
  /** The member that gives an exposure of its own. */
  readonly own: string | undefined
}

/** The problems of the exposures that metrics name. */
export function exposureProblems(metrics: readonly ExposedMetric[]): ErrorDetail[] {
  const names = new Set(metrics.map(({ name }) => name))
  return metrics.flatMap(({ name, exposure, own }, index) => {
    if (exposure === undefined) return []
    const at = `metrics[${index}].analysisConfigurations.canary.exposure`
    const says = (message: string): ErrorDetail[] => [{ code: 'invalid_value', message: `${at}: ${message}` }]
    if (own !== undefined) return says(`the metric has ${own} too: leave one of them out`)
    if (exposure === name) return says('must be another metric than the one that is counted')
    return names.has(exposure) ? [] : says(`there is no metric named "${exposure}"`)
  })
}
