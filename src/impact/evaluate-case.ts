import { Enforcement, evaluatesBy } from '../enforcement/enforcement.js'
import type { EnforcementDeps } from '../enforcement/enforcement.js'
import { ExceptionBook } from '../enforcement/exceptions/exception-book.js'
import type { Verdict } from '../enforcement/verdict.js'
import { AppError, toAppError } from '../errors/app-error.js'
import type { DecisionOutcome } from '../store/ports/decision-store.js'
import type { PolicyException } from '../store/ports/exception-store.js'
import {
  denialsByPackage,
  evaluateDocument,
  evaluateWithAnswers,
  parseDataPath,
  planDocument,
  replayCalls,
  selectPackages,
  strictnessOf,
  type DocumentPlan,
  type EvaluationCall,
  type PackageDenials,
  type ReplayedCalls,
  type Snapshot,
  type StrictBuiltinErrors,
} from '../rego/index.js'
import { readVerdict } from './read-verdict.js'
import type { ReplayCase } from './replay-case.js'

/** What one revision decides about a case. */
export interface CaseAnswer {
  readonly outcome: DecisionOutcome
  /** Denying packages with their reasons. */
  readonly reasons: readonly PackageDenials[]
  /** Reasons of packages that do not deny, by `warn` rules, levels and exceptions. */
  readonly warnings: readonly PackageDenials[]
  /** JSON text of a document that is no verdict. */
  readonly value?: string | undefined
  readonly error?: string | undefined
  /** Duration of the evaluation, in milliseconds. */
  readonly durationMs: number
}

/** Settings that evaluations depend on, as in the service. */
export interface EvaluationSettings {
  /** Package patterns of the static policies. */
  readonly staticPackages: readonly string[]
  readonly strictBuiltinErrors: StrictBuiltinErrors
  /** Levels of packages. */
  readonly levels: EnforcementDeps['levels']
  readonly exceptions: readonly PolicyException[]
}

/** Answers of both revisions; undefined if a call of theirs was not recorded. */
export interface CaseAnswers {
  readonly before: CaseAnswer
  readonly after: CaseAnswer
}

/** The revisions to compare. */
export interface Sides {
  readonly before: CaseEvaluator
  readonly after: CaseEvaluator
}

/** Limit on cached plans: clients choose the paths of decisions, so there may be any number. */
const MAX_PLANS = 4096

/** Error code if a policy called another host and the answer was not recorded. */
const UNRECORDED = 'evaluation_request_refused'

/** Evaluates cases with one revision. */
export class CaseEvaluator {
  readonly #snapshot: Snapshot
  readonly #settings: EvaluationSettings
  /** The keys of the static packages. */
  readonly packages: readonly string[]
  readonly #plans = new Map<string, DocumentPlan>()
  readonly #enforcement: Enforcement

  constructor(snapshot: Snapshot, settings: EvaluationSettings) {
    this.#snapshot = snapshot
    this.#settings = settings
    this.packages = selectPackages(snapshot, settings.staticPackages)
    const exceptions = new ExceptionBook()
    exceptions.replace(settings.exceptions)
    this.#enforcement = new Enforcement({ levels: settings.levels, exceptions })
  }

  /**
   * Evaluates a case with the recorded calls. Random values that it makes are added to the calls,
   * so that the other revision gets the same ones. `packages` are the static packages to evaluate.
   * Undefined if a call was not recorded. A failed evaluation is an answer. Never rejects.
   */
  async evaluate(
    replayed: ReplayCase,
    calls: ReplayedCalls,
    packages = this.packages,
  ): Promise<CaseAnswer | undefined> {
    const startedAt = performance.now()
    try {
      const answer = await this.#decide(replayed, calls, packages)
      return { ...answer, durationMs: performance.now() - startedAt }
    } catch (raw) {
      const error = toAppError(raw)
      if (error.code === UNRECORDED) return undefined
      return {
        ...{ outcome: 'error', reasons: [], warnings: [], error: describe(error) },
        durationMs: performance.now() - startedAt,
      }
    }
  }

  async #decide(
    replayed: ReplayCase,
    { nowMs = replayed.timeMs, recorded, requests }: ReplayedCalls,
    packages: readonly string[],
  ): Promise<Omit<CaseAnswer, 'durationMs'>> {
    const { kind, path, input } = replayed
    const strictness = strictnessOf(this.#settings.strictBuiltinErrors, isVerdict(replayed))
    const run = <A>(evaluate: (call: EvaluationCall) => A): Promise<A> =>
      evaluateWithAnswers(evaluate, requests, { ...strictness, nowMs, recorded })
    const evaluations = evaluatesBy(run)
    const options = { nowMs }
    if (kind === 'static') {
      this.#requirePackages()
      return ofVerdict(await this.#enforcement.static(evaluations, this.#snapshot, packages, input, options))
    }
    const plan = this.#planFor(path)
    if (kind === 'runtime')
      return ofVerdict(await this.#enforcement.runtime(evaluations, plan, input, options))
    return {
      warnings: [],
      ...readVerdict(plan.path, await run((call) => evaluateDocument(plan, input, call))),
    }
  }

  #requirePackages(): void {
    if (this.packages.length > 0) return
    const patterns = this.#settings.staticPackages.join(', ')
    throw new AppError('evaluation_failed', `no static policy is loaded: no package matches ${patterns}`)
  }

  #planFor(path: string): DocumentPlan {
    const known = this.#plans.get(path)
    if (known !== undefined) return known
    const plan = planDocument(this.#snapshot, parseDataPath(path))
    if (this.#plans.size >= MAX_PLANS) this.#plans.clear()
    this.#plans.set(path, plan)
    return plan
  }
}

/** Whether the answer allows or denies something. A failing built-in is then an error. */
function isVerdict({ kind }: ReplayCase): boolean {
  return kind === 'static' || kind === 'runtime'
}

function ofVerdict({ denials, warnings }: Verdict): Omit<CaseAnswer, 'durationMs'> {
  return {
    outcome: denials.length > 0 ? 'deny' : 'allow',
    reasons: denialsByPackage(denials),
    warnings: denialsByPackage(warnings),
  }
}

function describe({ message, details }: AppError): string {
  return [message, ...details.map(({ code, message: text }) => `${code}: ${text}`)].join('; ')
}

/** Sends no requests: everything that was not recorded is refused with `UNRECORDED`. */
const NO_REQUESTS: Parameters<typeof replayCalls>[1] = {
  begin: () => ({
    answer: ({ name }) =>
      Promise.reject(new AppError('evaluation_failed', `${name} was not recorded`, { code: UNRECORDED })),
    end: () => undefined,
  }),
}

/** Returns the recorded calls of a case. Raises `invalid` if they are not readable. */
export function recordedCallsOf({ recordedCalls }: ReplayCase): ReplayedCalls {
  if (recordedCalls === undefined) return { requests: NO_REQUESTS, recorded: new Map(), nowMs: undefined }
  return replayCalls(Buffer.from(recordedCalls).toString(), NO_REQUESTS)
}

/**
 * Evaluates a case with both revisions. The second one gets the random values of the first, so
 * that a difference comes from the policies alone. `isAfterFirst` alternates, so that neither side
 * always evaluates with warm caches. Undefined if a call was not recorded.
 */
export async function evaluateBoth(
  replayed: ReplayCase,
  { before, after }: Sides,
  isAfterFirst: boolean,
): Promise<CaseAnswers | undefined> {
  const calls = recordedCallsOf(replayed)
  const [first, second] = isAfterFirst ? [after, before] : [before, after]
  const one = await first.evaluate(replayed, calls)
  const two = one && (await second.evaluate(replayed, calls))
  if (one === undefined || two === undefined) return undefined
  return isAfterFirst ? { before: two, after: one } : { before: one, after: two }
}
