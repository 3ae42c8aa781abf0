import { z } from 'zod'
import { readBySchema } from '../../../lib/validation/read-by-schema.js'
import { SERIES_AGGREGATES } from '../../sources.js'
import { oddPlaceholders } from './store-query.js'

/** Three seconds and a week: how short and how long an analysis and its intervals may be. */
export const MINUTES_RANGE = { least: 0.05, most: 7 * 24 * 60 }
/** A judge divides what it may err by among all intervals. */
export const MAX_INTERVALS = 1000
/** Each is fetched by a query of its own. */
const MAX_TIMES = 8
const MAX_STEP_SECONDS = 3600

/** Every service of a registration gets its own copy. */
const MAX_VARIABLES = 50
const Name = z.string().min(1).max(200)
const Scope = z
  .record(z.string().max(200), z.string().max(1000))
  .refine((scope) => Object.keys(scope).length <= MAX_VARIABLES, {
    error: `has more than ${MAX_VARIABLES} variables`,
  })
/** A query whose placeholders are names of the scope. Others would fail every run. */
export const QueryText = z
  .string()
  .min(1)
  .superRefine((text, context) => {
    const message = oddPlaceholders(text)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
/** Copied into each plan; queries of many lines have a tenth of it. */
const Query = QueryText.max(32 * 1024)
const Document = z.record(z.string(), z.unknown())

/** A number of minutes, as a number or a string: the orchestrator's clients send both. */
function minutes(least: number): z.ZodType<number> {
  return z.coerce.number().min(least).max(MINUTES_RANGE.most)
}

const Metrics = z
  .strictObject({
    source: Name,
    aggregate: z.enum(SERIES_AGGREGATES).optional(),
    template: Name.optional(),
    canaryConfig: Document.optional(),
  })
  .refine(({ template, canaryConfig }) => (template === undefined) !== (canaryConfig === undefined), {
    error:
      'needs either template, the name of a metric template, or canaryConfig, a canary config of Kayenta',
  })

const Logs = z.strictObject({
  source: Name,
  query: Query.optional(),
  template: Name.optional(),
  index: QueryText.max(1000).optional(),
  maxLines: z.number().int().min(1).optional(),
})

const MAX_INSTANCES = 100
const Instances = z.strictObject({
  source: Name,
  query: Query,
  label: z
    .string()
    .regex(/^[A-Za-z_]\w{0,199}$/, { error: 'must be the name of a label, such as pod' })
    .default('pod'),
  size: z.number().int().min(1).max(MAX_INSTANCES).optional(),
  choose: z.enum(['newest', 'oldest']).default('newest'),
})

const MAX_CHECKS = 20
const Check = z.strictObject({
  name: Name,
  source: Name,
  query: Query,
  rule: z
    .string()
    .max(1000)
    .regex(/^\/?[^/\s]+(?:\/[^/\s]+)*$/, { error: 'must be the path of a rule, such as shop/budget/kept' })
    .refine((rule) => !/^\/?data[./]/.test(rule), {
      error: 'must be the path of a rule without the leading data',
    }),
})

const Definition = z
  .strictObject({
    lifetimeMinutes: minutes(MINUTES_RANGE.least).default(30),
    intervalMinutes: minutes(MINUTES_RANGE.least).optional(),
    lookBack: z.enum(['growing', 'sliding']).default('growing'),
    lookBackMinutes: minutes(MINUTES_RANGE.least).optional(),
    delayMinutes: minutes(0).default(0),
    warmUpMinutes: minutes(0).default(0),
    baselineOffsetMinutes: minutes(0).default(0),
    baselineTimes: z.number().int().min(1).max(MAX_TIMES).default(1),
    stepSeconds: z.number().int().min(1).max(MAX_STEP_SECONDS).default(60),
    judge: z.enum(['default', 'kayenta']).default('default'),
    pass: z.number().min(0).max(100).optional(),
    marginal: z.number().min(0).max(100).optional(),
    scopes: z.strictObject({ baseline: Scope.default({}), canary: Scope.default({}) }).prefault({}),
    instances: Instances.optional(),
    metrics: Metrics.optional(),
    logs: Logs.optional(),
    checks: z
      .array(Check)
      .min(1)
      .max(MAX_CHECKS)
      .refine((checks) => new Set(checks.map(({ name }) => name)).size === checks.length, {
        error: 'has two checks with the same name',
      })
      .optional(),
  })
  .refine(({ metrics, logs, checks }) => (metrics ?? logs ?? checks) !== undefined, {
    error: 'needs metrics, logs or checks: without them there is nothing to analyse',
  })
  .refine(({ lookBack, lookBackMinutes }) => lookBack === 'growing' || lookBackMinutes !== undefined, {
    error: 'needs lookBackMinutes with a sliding look-back',
  })
  .refine(
    ({ lifetimeMinutes, intervalMinutes = lifetimeMinutes }) =>
      lifetimeMinutes <= MAX_INTERVALS * intervalMinutes,
    { error: `needs more than ${MAX_INTERVALS} intervals: set a longer intervalMinutes` },
  )
  .refine(
    ({ baselineTimes, baselineOffsetMinutes, lifetimeMinutes }) =>
      baselineTimes === 1 || baselineOffsetMinutes >= lifetimeMinutes,
    { error: 'needs a baselineOffsetMinutes of at least the lifetime with several baselineTimes' },
  )
  .refine(({ instances, baselineTimes }) => instances === undefined || baselineTimes === 1, {
    error: 'has instances and several baselineTimes, at which other instances ran: leave one of them out',
  })
  .refine(({ pass = 100, marginal = 0 }) => marginal <= pass, {
    error: 'has a marginal score above its pass score, which leaves nothing to review',
  })

/**
 * The definition of the analyses of one application. Times are minutes, the step is in seconds,
 * scores are 0 to 100.
 */
export type AnalysisDefinition = z.output<typeof Definition>

/** Reads a definition. Raises `invalid` with all problems. */
export function readDefinition(document: unknown): AnalysisDefinition {
  return readBySchema(Definition, document, { name: 'the definition', code: 'invalid_field' })
}
