import { AppError } from '../../errors/app-error.js'
import type { Reader } from '../../store/ports/readers.js'
import type { Scope } from '../sources.js'
import { undefinedAnalysis } from './analysis-operations.js'
import { joinPlan } from './definitions/kept-plan.js'
import { warningsOf } from './definitions/plan.js'
import type { RunPlan } from './definitions/plan.js'
import { readRegistration } from './definitions/registration.js'
import type { TriedTarget } from './intervals/try-queries.js'
import { makeRun } from './plan-run.js'

export interface TryDefinitionDeps {
  readonly reader: Reader
  /** The configured sources: the type of each by its name. */
  readonly sources: ReadonlyMap<string, string>
  /** Sends the queries of a plan, for its first interval. */
  readonly tryQueries: (plan: RunPlan) => Promise<readonly TriedTarget[]>
}

export interface TryRequest {
  readonly application: string
  /** The length of the window, which ends now. */
  readonly minutes: number
  /** Scope values that distinguish the sides, in addition to those of the definition. */
  readonly scopes: { readonly baseline: Scope; readonly canary: Scope }
  readonly user: string | undefined
  readonly nowMs: number
}

/** The current results of a definition's queries. */
export interface TriedDefinition {
  readonly application: string
  readonly window: { readonly startMs: number; readonly endMs: number }
  readonly warnings: readonly string[]
  readonly targets: readonly TriedTarget[]
}

const MS_PER_MINUTE = 60_000
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
   * Sends every query of an application's definition for the time until now, with windows of equal
   * length on both sides, and stores nothing: errors of a source are found before a release depends
   * on it. Raises the errors of `makeRun`, `not_found` without a definition, and `unavailable`
   * while others run.
   */
  async try(request: TryRequest): Promise<TriedDefinition> {
    if (this.#underWay >= MAX_CONCURRENT) {
      throw new AppError('unavailable', 'other definitions are being tried: retry in a minute', {
        retryAfterSeconds: 60,
      })
    }
    this.#underWay += 1
    try {
      return await tryDefinition(this.#deps, request)
    } finally {
      this.#underWay -= 1
    }
  }
}

async function tryDefinition(
  { reader, sources, tryQueries }: TryDefinitionDeps,
  { application, minutes, scopes, user, nowMs }: TryRequest,
): Promise<TriedDefinition> {
  const startMs = nowMs - minutes * MS_PER_MINUTE
  const sideOf = (scope: Scope): object => ({
    metric: { [application]: scope },
    log: { [application]: scope },
  })
  const isScoped = Object.keys({ ...scopes.baseline, ...scopes.canary }).length > 0
  const registration = readRegistration({
    application,
    canaryConfig: { lifetimeMinutes: minutes, interval: minutes, delay: 0, lookBackType: 'growing' },
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
  })
  if (made === undefined) throw undefinedAnalysis(application)
  const plan = joinPlan(made.run.plan, new Map(made.planParts.map(({ sha256, body }) => [sha256, body])))
  const targets = await tryQueries(plan)
  return { application, window: { startMs, endMs: nowMs }, warnings: warningsOf(plan), targets }
}
