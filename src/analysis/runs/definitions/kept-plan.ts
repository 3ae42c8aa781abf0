import { createHash } from 'node:crypto'
import { AppError } from '../../../errors/app-error.js'
import type { PlanPart } from '../../../store/ports/analysis-store.js'
import type {
  PlannedChecks,
  PlannedLogs,
  PlannedMetrics,
  PlannedSides,
  PlannedTarget,
  RunPlan,
} from './plan.js'

/**
 * Maximum size of a plan without the common parts of its services. A registration of hundreds of
 * services with their scopes takes a third of it.
 */
const MAX_PLAN_BYTES = 1024 * 1024
/**
 * Maximum size of a part. A template of 256 KiB gives at most three times as much, since names of
 * metrics are also their queries.
 */
const MAX_PART_BYTES = 1024 * 1024

/**
 * A plan in its stored form. Parts that its services share are stored separately, once for all
 * plans.
 */
export interface KeptPlan {
  /** The plan as JSON text. */
  readonly plan: string
  readonly parts: readonly PlanPart[]
}

/** The metrics or the logs of a target: its own sides, and the rest by the SHA-256 of its JSON. */
interface KeptComparison extends PlannedSides {
  readonly part: string
}

interface KeptTarget {
  readonly name: string
  readonly metrics?: KeptComparison | PlannedMetrics | undefined
  readonly logs?: KeptComparison | PlannedLogs | undefined
  readonly checks?: PlannedChecks | undefined
}

type CommonPart = Omit<PlannedMetrics, keyof PlannedSides> | Omit<PlannedLogs, keyof PlannedSides>

/**
 * Converts a plan to its stored form. Raises `invalid` with the limit for a plan that is too large.
 */
export function keepPlan({ targets, ...plan }: RunPlan): KeptPlan {
  const parts = new PlanParts()
  const kept: string[] = []
  let bytes = 0
  for (const { name, metrics, logs, checks } of targets) {
    const target: KeptTarget = {
      name,
      metrics: metrics && parts.keep(metrics),
      logs: logs && parts.keep(logs),
      checks,
    }
    const text = JSON.stringify(target)
    kept.push(text)
    bytes += Buffer.byteLength(text)
    if (bytes > MAX_PLAN_BYTES) {
      throw new AppError(
        'invalid',
        `the plan of the analysis comes to more than ${MAX_PLAN_BYTES} bytes with its ${targets.length} services and their scopes: register fewer at a time, or shorten the scopes`,
      )
    }
  }
  const text = `${JSON.stringify(plan).slice(0, -1)},"targets":[${kept.join(',')}]}`
  return { plan: text, parts: parts.all }
}

/** Which parts a plan that was stored needs, by their SHA-256. */
export function partsOf(plan: string): readonly string[] {
  const { targets } = JSON.parse(plan) as { readonly targets: readonly KeptTarget[] }
  const named = targets.flatMap(({ metrics, logs }) =>
    [metrics, logs].flatMap((one) => (isKept(one) ? one.part : [])),
  )
  return [...new Set(named)]
}

/** Restores a stored plan. Shared parts of its services are shared objects. */
export function joinPlan(plan: string, parts: ReadonlyMap<string, string>): RunPlan {
  const read = new Map<string, CommonPart>()
  for (const [sha256, body] of parts) read.set(sha256, JSON.parse(body) as CommonPart)
  const join = <One extends PlannedSides>(one: One | KeptComparison | undefined): One | undefined => {
    if (!isKept(one)) return one
    const { part, baseline, canary } = one
    const common = read.get(part)
    if (common === undefined)
      throw new AppError('internal', `a part of the plan is not kept any more: ${part}`)
    return { ...common, baseline, canary } as unknown as One
  }
  const { targets, ...rest } = JSON.parse(plan) as Omit<RunPlan, 'targets'> & {
    readonly targets: readonly KeptTarget[]
  }
  const joined = targets.map(({ name, metrics, logs, checks }): PlannedTarget => ({
    name,
    metrics: join<PlannedMetrics>(metrics),
    logs: join<PlannedLogs>(logs),
    ...(checks && { checks }),
  }))
  return { ...rest, targets: joined }
}

/** Gathers what targets have in common. */
class PlanParts {
  readonly #parts = new Map<string, PlanPart>()
  /** Parts by their source: hundreds of services have the same template. */
  readonly #known = new Map<unknown, string>()

  get all(): readonly PlanPart[] {
    return [...this.#parts.values()]
  }

  keep({ baseline, canary, ...common }: PlannedMetrics | PlannedLogs): KeptComparison {
    const origin = 'metrics' in common ? common.metrics : common.template
    const part = this.#known.get(origin) ?? this.#add(common)
    this.#known.set(origin, part)
    return { part, baseline, canary }
  }

  #add(common: CommonPart): string {
    const body = JSON.stringify(common)
    if (Buffer.byteLength(body) > MAX_PART_BYTES) {
      throw new AppError('invalid', `the template of the analysis comes to more than ${MAX_PART_BYTES} bytes`)
    }
    const sha256 = createHash('sha256').update(body).digest('hex')
    this.#parts.set(sha256, { sha256, body })
    return sha256
  }
}

function isKept(one: KeptComparison | object | undefined): one is KeptComparison {
  return one !== undefined && 'part' in one
}
