import { AppError } from '../../errors/app-error.js'
import type { Reader } from '../../store/ports/readers.js'
import type { Scope } from '../sources.js'
import { undefinedAnalysis } from './analysis-operations.js'
import { joinPlan } from './definitions/kept-plan.js'
import { warningsOf } from './definitions/plan.js'
import type { RunPlan } from './definitions/plan.js'
import { readRegistration } from './definitions/registration.js'
import { readUsableDefinition } from './define-analysis.js'
import type { TriedPlan, TryTask } from './intervals/try-queries.js'
import { makeRun } from './plan-run.js'
import type { BacktestPart, BacktestTask } from './backtest/backtest.js'

export interface TryDefinitionDeps {
  readonly reader: Reader
  /** The configured sources: the type of each by its name. */
  readonly sources: ReadonlyMap<string, string>
  /** Sends the queries of a plan, for its first interval. */
  readonly tryQueries: (task: TryTask) => Promise<TriedPlan>
  readonly backtest: (task: BacktestTask) => Promise<BacktestPart>
}

export interface TryRequest {
  readonly application: string
  /** The definition to try, unchecked; that of the application by default. */
  readonly definition?: unknown
  /** The length of the window. */
  readonly minutes: number
  /** End of the window, in epoch milliseconds; now by default. */
  readonly untilMs?: number | undefined
  /** Whether to judge the data of the window. */
  readonly judges?: boolean
  /** Scope values that distinguish the sides, in addition to those of the definition. */
  readonly scopes: { readonly baseline: Scope; readonly canary: Scope }
  readonly user: string | undefined
  readonly nowMs: number
}

/** The results of a definition's queries. */
export interface TriedDefinition extends TriedPlan {
  readonly application: string
  readonly window: { readonly startMs: number; readonly endMs: number }
  readonly warnings: readonly string[]
}

/** A request to test the judge on one day of the past. */
export interface BacktestRequest extends Omit<TryRequest, 'minutes' | 'untilMs' | 'judges'> {
  /** How many days ago the day began. */
  readonly daysAgo: number
  /** Maximum number of windows of the day, each as long as an analysis. */
  readonly windows: number
}

/** The outcomes of the windows of one day. */
export interface BacktestDay extends BacktestPart {
  readonly application: string
  readonly window: { readonly startMs: number; readonly endMs: number }
  readonly windows: number
  readonly judge: RunPlan['judge']
  readonly lifetimeMinutes: number
}

const MS_PER_MINUTE = 60_000
const MS_PER_DAY = 86_400_000
/** Maximum number of metrics times windows, so that judging takes seconds. */
const MAX_JUDGED = 600
/** Each may take as much memory as a judged interval. */
const MAX_CONCURRENT = 2

/** Tries definitions, a few at a time. */
export class DefinitionTrials {
  readonly #deps: TryDefinitionDeps
  #underWay = 0

  constructor(deps: TryDefinitionDeps) {
    this.#deps = deps
  }

  /**
   * Sends every query of an application's definition for a stretch of time, with windows of equal
   * length on both sides, and stores nothing: errors of a source are found before a release depends
   * on it. Raises the errors of `makeRun`, `not_found` without a definition, `invalid` with all
   * problems of a sent one, and `unavailable` while others run.
   */
  async try(request: TryRequest): Promise<TriedDefinition> {
    return await this.#alone(() => tryDefinition(this.#deps, request))
  }

  /**
   * Judges windows of one past day of the baseline against themselves, unchanged and changed, and
   * stores nothing. Raises the errors of `try`, and `conflict` without metrics.
   */
  async backtest(request: BacktestRequest): Promise<BacktestDay> {
    return await this.#alone(() => backtestDay(this.#deps, request))
  }

  async #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#underWay >= MAX_CONCURRENT) {
      throw new AppError('unavailable', 'other definitions are being tried: retry in a minute', {
        retryAfterSeconds: 60,
      })
    }
    this.#underWay += 1
    try {
      return await work()
    } finally {
      this.#underWay -= 1
    }
  }
}

async function tryDefinition(deps: TryDefinitionDeps, request: TryRequest): Promise<TriedDefinition> {
  const { application, minutes, nowMs, untilMs: endMs = nowMs, judges = false } = request
  if (endMs > nowMs) throw new AppError('invalid', 'the time range must end in the past')
  const startMs = endMs - minutes * MS_PER_MINUTE
  const canaryConfig = { lifetimeMinutes: minutes, interval: minutes, delay: 0, lookBackType: 'growing' }
  const plan = await planOf(deps, request, { startMs, canaryConfig })
  const tried = await deps.tryQueries({ plan, judges })
  return { application, window: { startMs, endMs }, warnings: warningsOf(plan), ...tried }
}

async function backtestDay(deps: TryDefinitionDeps, request: BacktestRequest): Promise<BacktestDay> {
  const { application, daysAgo, nowMs } = request
  const startMs = nowMs - daysAgo * MS_PER_DAY
  const plan = await planOf(deps, { ...request, scopes: { ...request.scopes, canary: {} } }, { startMs })
  const metrics = plan.targets.reduce((sum, target) => sum + (target.metrics?.metrics.length ?? 0), 0)
  if (metrics === 0) {
    throw new AppError('conflict', `the analysis of ${application} has no metrics, and logs are not tested`)
  }
  const { lifetimeMs, stepMs } = plan.timing
  // A window and the stretch after it.
  const most = Math.max(1, Math.floor(MS_PER_DAY / (2 * lifetimeMs)))
  const windows = Math.max(1, Math.min(request.windows, most, Math.floor(MAX_JUDGED / metrics)))
  const startsMs = Array.from(
    { length: windows },
    (_, index) => Math.floor((startMs + (index * MS_PER_DAY) / windows) / stepMs) * stepMs,
  )
  const { judge } = plan
  const about = { application, window: { startMs, endMs: startMs + MS_PER_DAY }, windows, judge }
  return {
    ...about,
    lifetimeMinutes: lifetimeMs / MS_PER_MINUTE,
    ...(await deps.backtest({ plan, startsMs })),
  }
}

async function planOf(
  { reader, sources }: TryDefinitionDeps,
  { application, definition, scopes, user, nowMs }: Omit<TryRequest, 'minutes'>,
  { startMs, canaryConfig = {} }: { readonly startMs: number; readonly canaryConfig?: object },
): Promise<RunPlan> {
  const sideOf = (scope: Scope): object => ({
    metric: { [application]: scope },
    log: { [application]: scope },
  })
  const isScoped = Object.keys({ ...scopes.baseline, ...scopes.canary }).length > 0
  const registration = readRegistration({
    application,
    canaryConfig,
    canaryDeployments: [
      {
        ...{ canaryStartTimeMs: startMs, baselineStartTimeMs: startMs },
        ...(isScoped && { baseline: sideOf(scopes.baseline), canary: sideOf(scopes.canary) }),
      },
    ],
  })
  const made = await reader.run(makeRun, {
    registration: { ...registration, warmUpMinutes: 0 },
    ...{ user: user ?? '', nowMs, sources },
    ...(definition !== undefined && { definition: readUsableDefinition(definition) }),
  })
  if (made === undefined) throw undefinedAnalysis(application)
  return joinPlan(made.run.plan, new Map(made.planParts.map(({ sha256, body }) => [sha256, body])))
}
