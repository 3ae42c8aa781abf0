import { z } from 'zod'

import { AppError } from '../../errors.js'
import type { ErrorDetail } from '../../errors.js'
import { countedOutOf, exposureProblems } from './exposure.js'
import type { JudgeInput, MetricSeries, MetricSpec, Side } from './types.js'

const MAX_NAMED_PROBLEMS = 100

/** How Prometheus and Kayenta write what JSON cannot: gaps, since nothing can be compared with them. */
const GAPS: readonly unknown[] = [null, 'NaN', 'Infinity', '-Infinity', '+Inf', '-Inf', 'Inf']

/** The points of a side. Checked by hand: a schema for each of a million points takes longer than to judge them. */
const Points = z.array(z.unknown()).transform((values, context) => {
  const points = new Float64Array(values.length)
  values.forEach((value, index) => {
    points[index] = typeof value === 'number' ? value : Number.NaN
    if (typeof value === 'number' || GAPS.includes(value)) return
    context.addIssue({ code: 'custom', message: 'must be a number, or null for a gap', path: [index] })
  })
  return points
})
const Sides = z.object({ control: Points, experiment: Points })

/** Unknown directions mean either, as Kayenta reads them. */
const direction = z.enum(['increase', 'decrease', 'either']).catch('either').default('either')
const policy = z.enum(['fail', 'review', 'ignore'])
const ratio = z.number().min(0)

const EffectSize = z
  .object({
    measure: z.enum(['meanRatio', 'cles']).default('meanRatio'),
    allowedIncrease: ratio.optional(),
    allowedDecrease: ratio.optional(),
    criticalIncrease: ratio.optional(),
    criticalDecrease: ratio.optional(),
  })
  .default({ measure: 'meanRatio' })
  .transform((given) => {
    const neutral = given.measure === 'cles' ? 0.5 : 1
    return {
      measure: given.measure,
      allowedIncrease: given.allowedIncrease ?? neutral,
      allowedDecrease: given.allowedDecrease ?? neutral,
      criticalIncrease: given.criticalIncrease ?? neutral,
      criticalDecrease: given.criticalDecrease ?? neutral,
    }
  })

const Canary = z
  .object({
    direction,
    nanStrategy: z.enum(['remove', 'replace']).default('remove'),
    critical: z.boolean().default(false),
    mustHaveData: z.boolean().default(false),
    muted: z.boolean().default(false),
    outliers: z
      .object({
        strategy: z.enum(['keep', 'remove']).default('keep'),
        outlierFactor: z.number().positive().default(3),
      })
      .prefault({}),
    effectSize: EffectSize,
    margin: z.number().min(0).optional(),
    kind: z.enum(['auto', 'gauge', 'count']).default('auto'),
    exposure: z.string().min(1).optional(),
    limits: z
      .object({
        figure: z.enum(['mean', 'median', 'p95', 'p99', 'max']).default('mean'),
        max: z.number().optional(),
        min: z.number().optional(),
      })
      .optional(),
    noData: z
      .partialRecord(z.enum(['sourceError', 'empty', 'oneSideEmpty', 'tooFewPoints', 'noTraffic']), policy)
      .default({}),
  })
  .prefault({})

const Metric = z.object({
  name: z.string().min(1),
  groups: z.array(z.string()).default([]),
  analysisConfigurations: z.object({ canary: Canary }).prefault({}),
  values: Sides.optional(),
  exposure: Sides.optional(),
  exposureQuery: z.unknown().optional(),
  error: z.string().optional(),
})

const Config = z.object({
  metrics: z.array(Metric).min(1),
  classifier: z
    .object({
      groupWeights: z.record(z.string(), z.number().min(0)).default({}),
      scoreThresholds: z
        .object({ pass: z.number().default(95), marginal: z.number().default(75) })
        .prefault({}),
    })
    .prefault({}),
})

type MetricDocument = z.output<typeof Metric>

/**
 * A canary config of Kayenta in which each metric also has `values` (analysis.md 1.1), as the input of a judge. Members
 * that it does not know are passed over, since configs carry queries too. Raises `invalid` naming everything wrong.
 */
export function readCanaryConfig(document: unknown): JudgeInput {
  const read = Config.safeParse(document)
  if (!read.success) throw invalid(read.error.issues.map(describe))
  const { metrics, classifier } = read.data
  const problems = [...configProblems(metrics), ...metrics.flatMap(seriesProblems)]
  if (problems.length > 0) throw invalid(problems)
  return {
    metrics: toSeries(metrics),
    groupWeights: classifier.groupWeights,
    thresholds: classifier.scoreThresholds,
  }
}

/** The metrics of a config without values, as templates for a run that fetches them. Raises `invalid`. */
export function readMetricSpecs(document: unknown): readonly MetricSpec[] {
  const read = Config.safeParse(document)
  if (!read.success) throw invalid(read.error.issues.map(describe))
  const problems = configProblems(read.data.metrics)
  if (problems.length > 0) throw invalid(problems)
  return read.data.metrics.map(toSpec)
}

function toSpec({ name, groups, analysisConfigurations }: MetricDocument): MetricSpec {
  const { outliers, ...canary } = analysisConfigurations.canary
  return {
    ...canary,
    name,
    groups: groups.length > 0 ? groups : [''],
    outliers: { strategy: outliers.strategy, factor: outliers.outlierFactor },
  }
}

function toSeries(metrics: readonly MetricDocument[]): MetricSeries[] {
  const own = metrics.map((metric) => ({
    spec: toSpec(metric),
    control: toSide(metric, 'control'),
    experiment: toSide(metric, 'experiment'),
  }))
  return own.map((metric) => {
    const exposure = own.find(({ spec }) => spec.name === metric.spec.exposure)
    if (exposure === undefined) return metric
    return {
      spec: metric.spec,
      control: countedOutOf(metric.control, exposure.control),
      experiment: countedOutOf(metric.experiment, exposure.experiment),
    }
  })
}

function toSide({ values, exposure, error }: MetricDocument, name: 'control' | 'experiment'): Side {
  return { values: values?.[name] ?? new Float64Array(), exposure: exposure?.[name], error }
}

function configProblems(metrics: readonly MetricDocument[]): ErrorDetail[] {
  const exposed = metrics.map(({ name, analysisConfigurations, exposure, exposureQuery }) => ({
    name,
    exposure: analysisConfigurations.canary.exposure,
    own: exposure ? 'exposure' : exposureQuery ? 'exposureQuery' : undefined,
  }))
  return [...repeatedNames(metrics), ...exposureProblems(exposed)]
}

function repeatedNames(metrics: readonly MetricDocument[]): ErrorDetail[] {
  const seen = new Set<string>()
  return metrics.flatMap(({ name }, index) => {
    const isRepeated = seen.has(name)
    seen.add(name)
    return isRepeated ? [problem(`metrics[${index}].name`, `there is another metric named "${name}"`)] : []
  })
}

function seriesProblems({ values, exposure, error }: MetricDocument, index: number): ErrorDetail[] {
  const at = `metrics[${index}]`
  if (values === undefined) {
    return error === undefined
      ? [problem(`${at}.values`, 'is missing: {"control": […], "experiment": […]}')]
      : []
  }
  if (exposure === undefined) return []
  return (['control', 'experiment'] as const).flatMap((side) =>
    values[side].length === exposure[side].length
      ? []
      : [
          problem(
            `${at}.exposure.${side}`,
            `must have a number for each of the ${values[side].length} values`,
          ),
        ],
  )
}

function describe(issue: z.core.$ZodIssue): ErrorDetail {
  const path = issue.path.reduce<string>(
    (text, segment) =>
      typeof segment === 'number'
        ? `${text}[${segment}]`
        : `${text}${text === '' ? '' : '.'}${String(segment)}`,
    '',
  )
  return problem(path === '' ? 'the document' : path, issue.message)
}

function problem(path: string, message: string): ErrorDetail {
  return { code: 'invalid_value', message: `${path}: ${message}` }
}

function invalid(problems: readonly ErrorDetail[]): AppError {
  return new AppError('invalid', 'the canary config cannot be used: mend what is named below', {
    code: 'invalid_canary_config',
    details: problems.slice(0, MAX_NAMED_PROBLEMS),
  })
}
