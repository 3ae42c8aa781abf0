import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { pathText } from '../../lib/text/path-text.js'
import { schemaSentence } from '../../lib/validation/schema-sentence.js'
import { countedOutOf, exposureProblems } from './series/exposure.js'
import type { JudgeInput, MetricSeries, MetricSpec, ScoreThresholds, Side } from './series/types.js'

const MAX_NAMED_PROBLEMS = 100
/** A margin above all of the baseline is a percentage by mistake. */
const MAX_MARGIN = 1
const PER_CENT = 100
/** Members that hold the points of both sides. */
const POINTS: readonly string[] = ['values', 'exposure']

/** Values that JSON cannot hold, as Prometheus and Kayenta write them. They count as gaps. */
const GAPS: readonly unknown[] = [null, 'NaN', 'Infinity', '-Infinity', '+Inf', '-Inf', 'Inf']

/**
 * The points of a side, checked by hand: a schema for each of a million points takes longer than
 * judging them.
 */
const Points = z.array(z.unknown()).transform((values, context) => pointsOf(values, context, []))
/** The points of a side, or a list of those of each of its units. */
const Units = z.array(z.unknown()).transform((values, context) => {
  const lists = values.filter((value) => Array.isArray(value))
  if (lists.length === 0 || lists.length < values.length) return [pointsOf(values, context, [])]
  return lists.map((list: readonly unknown[], unit) => pointsOf(list, context, [unit]))
})
const ValueSides = z.object({ control: Units, experiment: Units })
const Sides = z.object({ control: Points, experiment: Points })

function pointsOf(
  values: readonly unknown[],
  context: z.RefinementCtx,
  path: readonly number[],
): Float64Array {
  const points = new Float64Array(values.length)
  values.forEach((value, index) => {
    points[index] = typeof value === 'number' ? value : Number.NaN
    if (typeof value === 'number' || GAPS.includes(value)) return
    context.addIssue({
      code: 'custom',
      message: 'must be a number, or null for a gap',
      path: [...path, index],
    })
  })
  return points
}

/**
 * Accepts one of these words in any case. Rejects other words, since a guess could hide the change
 * that the author looks for.
 */
export function anyCase<const Word extends string>(words: readonly [Word, ...Word[]]) {
  const spelling = (given: unknown): unknown =>
    typeof given === 'string'
      ? (words.find((word) => word.toLowerCase() === given.toLowerCase()) ?? given)
      : given
  return z.preprocess(spelling, z.enum(words))
}

/** Null is no direction, as in Kayenta. */
const direction = anyCase(['increase', 'decrease', 'either'])
  .nullish()
  .transform((given) => given ?? 'either')
const policy = z.enum(['fail', 'review', 'ignore'])
const ratio = z.number().min(0)

const EffectSize = z
  .object({
    measure: anyCase(['meanRatio', 'cles']).default('meanRatio'),
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

/** The settings of a metric for the judges: Kayenta's members and those that only Tidegate has. */
export const CanaryMembers = z.object({
  direction,
  nanStrategy: anyCase(['remove', 'replace']).default('remove'),
  critical: z.boolean().default(false),
  mustHaveData: z.boolean().default(false),
  muted: z.boolean().default(false),
  /** Argo's name for `muted`. */
  dryRun: z.boolean().default(false),
  outliers: z
    .object({
      strategy: anyCase(['keep', 'remove']).default('keep'),
      outlierFactor: z.number().positive().default(3),
    })
    .prefault({}),
  effectSize: EffectSize,
  margin: z.number().min(0).optional(),
  kind: z.enum(['auto', 'gauge', 'count']).default('auto'),
  exposure: z.string().min(1).optional(),
  upperBound: z.union([z.number().positive(), z.literal(false)]).optional(),
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
const Canary = CanaryMembers.superRefine(({ margin = 0, upperBound }, context) => {
  // As a share of a distance from a bound it may be any number.
  if (margin <= MAX_MARGIN || typeof upperBound === 'number') return
  context.addIssue({
    code: 'custom',
    path: ['margin'],
    message: `is a share of the baseline, so ${margin} would accept a change of ${margin * PER_CENT} %. Write ${margin / PER_CENT} for ${margin} %, or use effectSize.allowedIncrease for a larger one`,
  })
}).prefault({})

/** A metric of a canary config. Other members of Kayenta are ignored. */
export const CanaryMetric = z.object({
  name: z.string().min(1),
  groups: z.array(z.string()).default([]),
  analysisConfigurations: z.object({ canary: Canary }).prefault({}),
  values: ValueSides.optional(),
  exposure: Sides.optional(),
  exposureQuery: z.unknown().optional(),
  error: z.string().optional(),
})

/** Thresholds of a config without scores. */
export const DEFAULT_THRESHOLDS: ScoreThresholds = { pass: 95, marginal: 75 }

const Score = z.number().min(0).max(100)
const Classifier = z
  .object({
    groupWeights: z.record(z.string(), z.number().min(0)).default({}),
    scoreThresholds: z
      .object({
        pass: Score.default(DEFAULT_THRESHOLDS.pass),
        marginal: Score.default(DEFAULT_THRESHOLDS.marginal),
      })
      .prefault({}),
  })
  .prefault({})

type MetricDocument = z.output<typeof CanaryMetric>

/** The members of Kayenta's canary config that are read. */
export const CanaryConfig = z.object({ metrics: z.array(CanaryMetric).min(1), classifier: Classifier })

/**
 * Refined on its own, so that the values of one metric are checked even if another metric is
 * malformed.
 */
const JudgedMetric = CanaryMetric.superRefine((metric, context) => {
  for (const { at, message } of seriesProblems(metric)) {
    context.addIssue({ code: 'custom', message, path: [...at] })
  }
})
const JudgedConfig = CanaryConfig.extend({ metrics: z.array(JudgedMetric).min(1) })

/**
 * Reads a canary config of Kayenta in which each metric also has `values` (analysis.md 1.1) as
 * input of a judge. Ignores unknown members, since configs carry queries too. Raises `invalid` with
 * all problems.
 */
export function readCanaryConfig(document: unknown): JudgeInput {
  const { metrics, classifier } = readConfig(JudgedConfig, document)
  return {
    metrics: toSeries(metrics),
    groupWeights: classifier.groupWeights,
    thresholds: classifier.scoreThresholds,
  }
}

/**
 * Reads the metrics of a config without values, as templates for a run that fetches them. Raises
 * `invalid`.
 */
export function readMetricSpecs(document: unknown): readonly MetricSpec[] {
  return readConfig(CanaryConfig, document).metrics.map(toSpec)
}

function readConfig(schema: typeof CanaryConfig, document: unknown): z.output<typeof CanaryConfig> {
  const read = schema.safeParse(withoutNulls(document), { error: schemaSentence, reportInput: true })
  if (!read.success) throw invalid(read.error.issues.map(describe))
  const problems = configProblems(read.data.metrics)
  if (problems.length > 0) throw invalid(problems)
  return read.data
}

/** Kayenta writes what a config leaves out as null. Points stay: there null is a gap. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => [name, POINTS.includes(name) ? member : withoutNulls(member)]),
  )
}

function toSpec({ name, groups, analysisConfigurations }: MetricDocument): MetricSpec {
  const { outliers, dryRun, ...canary } = analysisConfigurations.canary
  return {
    ...canary,
    muted: canary.muted || dryRun,
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
  const [first = new Float64Array(), ...others] = values?.[name] ?? []
  const units = others.length > 0 ? [first, ...others] : undefined
  return { values: first, units, exposure: exposure?.[name], error }
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

interface SeriesProblem {
  readonly at: readonly string[]
  readonly message: string
}

function seriesProblems({ values, exposure, error }: MetricDocument): SeriesProblem[] {
  if (values === undefined) {
    return error === undefined
      ? [{ at: ['values'], message: 'is required: {"control": […], "experiment": […]}' }]
      : []
  }
  if (exposure === undefined) return []
  return (['control', 'experiment'] as const).flatMap((side) => {
    const [points = [], ...others] = values[side]
    if (others.length > 0)
      return [{ at: ['exposure', side], message: 'cannot be given for values of several units' }]
    return points.length === exposure[side].length
      ? []
      : [
          {
            at: ['exposure', side],
            message: `must have a number for each of the ${points.length} values`,
          },
        ]
  })
}

function describe({ path, message }: z.core.$ZodIssue): ErrorDetail {
  return problem(path.length === 0 ? 'the document' : pathText(path), message)
}

function problem(path: string, message: string): ErrorDetail {
  return { code: 'invalid_value', message: `${path} ${message}` }
}

function invalid(problems: readonly ErrorDetail[]): AppError {
  return new AppError('invalid', 'the canary config is invalid: correct the listed problems', {
    code: 'invalid_canary_config',
    details: [...problems.slice(0, MAX_NAMED_PROBLEMS), ...omitted(problems.length - MAX_NAMED_PROBLEMS)],
  })
}

function omitted(amount: number): ErrorDetail[] {
  return amount > 0 ? [{ code: 'and_more', message: `${amount} more problems are not named` }] : []
}
