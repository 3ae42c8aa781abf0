import { judgeKayenta } from './kayenta/judge-kayenta.js'
import { comparableUnits } from './series/units.js'
import { assessMetric, classify } from './robust/judge-metric.js'
import { scoreRun } from './robust/score-run.js'
import { makeSettings } from './robust/samples/settings.js'
import type { JudgeInput, JudgeOptions, JudgeReport, MetricSpec, Side, MetricResult } from './series/types.js'
import { benjaminiHochberg, holm } from '../statistics/benjamini-hochberg.js'
import type { Adjusted, Assessment } from './robust/assessment.js'

const NOTHING_FOUND = { p: 1, familyWise: 1 }

/** Judges the metrics of a run. The same input and options give the same report. */
export function judgeMetrics(input: JudgeInput, options: JudgeOptions): JudgeReport {
  const metrics = input.metrics.map(({ spec, overlap, usualSpread, ...sides }) => {
    const { control, experiment } = comparableUnits(sides)
    return {
      ...{ spec, overlap, usualSpread },
      control: judgeableSide(control, spec),
      experiment: judgeableSide(experiment, spec),
    }
  })
  const judge = options.judge === 'kayenta' ? judgeKayenta : judgeByEvidence
  return judge({ ...input, metrics }, options)
}

/**
 * The default judge: tests each metric on its own, then combines all of them
 * (docs/explanation/judge.md).
 */
function judgeByEvidence(input: JudgeInput, options: JudgeOptions): JudgeReport {
  const settings = makeSettings(options)
  const assessments = input.metrics.map((metric, index) => {
    const assessment = assessMetric(metric, settings)
    options.onMetric?.(index + 1, input.metrics.length)
    return assessment
  })
  const adjusted = adjustOverRun(assessments)
  const results = assessments.map((assessment, index) =>
    classify(assessment, adjusted[index] ?? NOTHING_FOUND, settings),
  )
  return { judgeName: 'tidegate-v1', ...scoreRun(results, input), results }
}

/**
 * Largest accepted size. Squares of the statistics, and sums of squares over all points, stay far
 * from the end of the range of doubles.
 */
const LARGEST = 1e75
/**
 * Smaller sizes, which decaying averages leave, count as 0: shares of them would leave the range of
 * doubles.
 */
const SMALLEST = 1e-75

/**
 * The side with values in the range that the judge can compute with. Sizes near 0 become 0, sizes
 * that are too large become gaps, and `outOfRange` reports those.
 */
function judgeableSide(side: Side, { kind }: Pick<MetricSpec, 'kind'>): Side {
  const { values, exposure } = side
  const outOfRange =
    problemOf('value', values) ??
    (exposure === undefined ? undefined : problemOf('exposure', exposure)) ??
    (kind === 'count' || (kind === 'auto' && exposure !== undefined) ? negativeOf(values) : undefined)
  return {
    ...side,
    values: inRange(values),
    ...(exposure && { exposure: inRange(exposure) }),
    ...(outOfRange !== undefined && { outOfRange }),
  }
}

function problemOf(what: string, values: Float64Array): string | undefined {
  const found = values.find((value) => Math.abs(value) > LARGEST)
  return found === undefined
    ? undefined
    : `The ${what} ${found.toPrecision(4)} cannot be judged: its size exceeds ${LARGEST}`
}

function negativeOf(values: Float64Array): string | undefined {
  const found = values.find((value) => value < 0)
  return found === undefined
    ? undefined
    : `The value ${found.toPrecision(4)} cannot be judged: a count of events is never negative`
}

/** Returns the same array if all values are in range, as in nearly all series. */
function inRange(values: Float64Array): Float64Array {
  return values.some(isOdd) ? values.map((value) => (isOdd(value) ? replaced(value) : value)) : values
}

function isOdd(value: number): boolean {
  const size = Math.abs(value)
  return size > LARGEST || (size < SMALLEST && size > 0)
}

function replaced(value: number): number {
  return Math.abs(value) > LARGEST ? Number.NaN : 0
}

/**
 * The adjusted p-values of a run's metrics. Critical metrics are adjusted by Holm: one of them
 * alone fails a run, so false alarms must be rare, and ordinary metrics must not hide it. Other
 * metrics are adjusted by Benjamini and Hochberg. Muted and untested metrics do not affect the
 * others.
 */
function adjustOverRun(assessments: readonly Assessment[]): Adjusted[] {
  const adjusted = assessments.map(({ p }) => p)
  const families = [
    { adjust: holm, isMember: ({ muted, critical }: Assessment['spec']) => !muted && critical },
    { adjust: benjaminiHochberg, isMember: ({ muted, critical }: Assessment['spec']) => !muted && !critical },
    { adjust: benjaminiHochberg, isMember: ({ muted }: Assessment['spec']) => muted },
  ]
  for (const { adjust, isMember } of families) {
    const members = [...assessments.entries()].filter(([, { spec, isTested }]) => isTested && isMember(spec))
    const values = adjust(members.map(([, { p }]) => p))
    members.forEach(([index], place) => (adjusted[index] = values[place] ?? 1))
  }
  const counting = [...assessments.entries()].filter(([, { spec, isTested }]) => isTested && !spec.muted)
  const familyWise = new Map(
    holm(counting.map(([, { p }]) => p)).map((value, place) => [counting[place]?.[0], value]),
  )
  return adjusted.map((p, index) => ({ p, familyWise: familyWise.get(index) ?? 1 }))
}

/**
 * A report as a JSON value: the shape of Kayenta's result (analysis.md 1.2) plus the findings of
 * the default judge. `warnings` are sentences about unread members of the config.
 */
export function reportDocument(
  { judgeName, score, verdict, endsRun, groupScores, results }: JudgeReport,
  warnings: readonly string[] = [],
): object {
  return {
    ...{ judgeName, score, verdict, endsRun },
    ...(warnings.length > 0 && { warnings }),
    groupScores,
    results: results.map(resultDocument),
  }
}

function resultDocument(result: MetricResult): object {
  const { controlStats, experimentStats, ratio, finding, noData, ...rest } = result
  return {
    ...rest,
    ...(noData === null ? {} : { noData }),
    experimentMetadata: { stats: experimentStats },
    controlMetadata: { stats: controlStats },
    resultMetadata: { ratio },
    ...(finding === null ? {} : { finding }),
  }
}
