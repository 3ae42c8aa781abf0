import { AppError } from '../errors/app-error.js'
import {
  evaluateAdvice,
  evaluateRuntimePolicy,
  evaluateStaticPolicies,
  mayStateVerdict,
  packagePathOf,
  pathKey,
  pathOfKey,
  printPackageName,
} from '../rego/index.js'
import type {
  AdviceRequest,
  Denial,
  DocumentPlan,
  EvaluateOptions,
  EvaluationCall,
  Evaluations,
  Snapshot,
} from '../rego/index.js'
import type { ExceptionBook } from './exceptions/exception-book.js'
import type { PolicyException } from '../store/ports/exception-store.js'
import { PartsOfPackages } from './evaluated-parts.js'
import { Levels, levelFor } from './levels.js'
import type { LevelEntry } from './levels.js'
import { Subject } from './about/subject.js'
import type { DecisionWarning, UsedException, Verdict } from './verdict.js'

export interface EnforcementDeps {
  readonly levels: readonly LevelEntry[]
  readonly exceptions: Pick<ExceptionBook, 'isEmpty' | 'find'>
  /**
   * The longest time that what only warns may delay an answer, in milliseconds; unlimited by
   * default.
   */
  readonly maxAdviceMs?: number
}

/** `maxAdviceMs` of a service. */
export const MAX_ADVICE_MS = 500

type Evaluates = Pick<Evaluations, 'static' | 'runtime' | 'advice'>

/** Returns evaluations outside of the service, each of which `run` calls. */
export function evaluatesBy(run: <A>(evaluate: (call: EvaluationCall) => A) => Promise<A>): Evaluates {
  return {
    static: (snapshot, packages, input) =>
      run((call) => evaluateStaticPolicies(snapshot, packages, input, call).denials),
    runtime: (plan, input, _, packages) => run((call) => evaluateRuntimePolicy(plan, input, call, packages)),
    advice: (snapshot, request, input) => run((call) => evaluateAdvice(snapshot, request, input, call)),
  }
}

/** An evaluation of a decision: its policies, input and options. */
interface Case {
  readonly evaluations: Evaluates
  readonly snapshot: Snapshot
  readonly input: Uint8Array | undefined
  readonly options: EvaluateOptions
  readonly subject: Subject
}

const NO_WARNINGS: readonly DecisionWarning[] = []
const NO_DENIALS: readonly Denial[] = []

/**
 * Evaluates the policies of a decision by the levels of their packages. Packages at the level `warn`
 * and `warn` rules never deny, and their errors are warnings. An error of another package is an
 * error of the decision.
 */
export class Enforcement {
  #levels: Levels
  #parts: PartsOfPackages
  readonly #exceptions: EnforcementDeps['exceptions']
  readonly #maxAdviceMs: number | undefined

  constructor({ levels, exceptions, maxAdviceMs }: EnforcementDeps) {
    this.#maxAdviceMs = maxAdviceMs
    this.#levels = new Levels(levels)
    this.#exceptions = exceptions
    this.#parts = new PartsOfPackages(this.#levels)
  }

  get levels(): Levels {
    return this.#levels
  }

  /** Uses other levels from now on. */
  use(levels: readonly LevelEntry[]): void {
    this.#levels = new Levels(levels)
    this.#parts = new PartsOfPackages(this.#levels)
  }

  /** Evaluates static policies. Raises as `Evaluations.static`. */
  static(
    evaluations: Evaluates,
    snapshot: Snapshot,
    packages: readonly string[],
    input: Uint8Array | undefined,
    options: EvaluateOptions,
  ): Verdict | Promise<Verdict> {
    const subject = new Subject(input)
    const { enforced, advice } = this.#parts.divide(snapshot, packages, false, subject, options.nowMs)
    const denials =
      enforced.length === 0 ? NO_DENIALS : evaluations.static(snapshot, enforced, input, options)
    return this.#withAdvice({ evaluations, snapshot, input, options, subject }, denials, advice)
  }

  /** Evaluates a runtime policy. Raises as `Evaluations.runtime`. */
  runtime(
    evaluations: Evaluates,
    plan: DocumentPlan,
    input: Uint8Array | undefined,
    options: EvaluateOptions,
  ): Verdict | Promise<Verdict> {
    const { snapshot, packages } = plan
    const subject = new Subject(input)
    const evaluated = { evaluations, snapshot, input, options, subject }
    if (packages.length === 0) return this.#evaluateRule(evaluated, plan)
    const { enforced, advice } = this.#parts.divide(snapshot, packages, true, subject, options.nowMs)
    const some = enforced === packages ? undefined : enforced
    const denials = enforced.length === 0 ? NO_DENIALS : evaluations.runtime(plan, input, options, some)
    return this.#withAdvice(evaluated, denials, advice)
  }

  /**
   * Evaluates a rule that is queried by its own path, by the level of its package. A path that names
   * no rule is an error at every level: nobody rolls out what does not exist.
   */
  #evaluateRule(
    { evaluations, snapshot, input, options, subject }: Case,
    plan: DocumentPlan,
  ): Verdict | Promise<Verdict> {
    const packagePath = packagePathOf(plan)
    const stated = mayStateVerdict(plan) ? this.#levels.of(snapshot, pathKey(packagePath)) : []
    const level = levelFor(stated, subject, options.nowMs)
    if (level === 'off') return { denials: NO_DENIALS, warnings: NO_WARNINGS }
    if (level === 'enforce')
      return then(evaluations.runtime(plan, input, options), (denials) =>
        this.#excuse(denials, subject, options.nowMs),
      )
    return attempt(
      () =>
        then(
          this.#withinLimit(options, (limited) => evaluations.runtime(plan, input, limited)),
          (denials) => asWarnings(denials),
        ),
      (error) => ({ denials: NO_DENIALS, warnings: [failed(printPackageName(packagePath), error)] }),
    )
  }

  #withAdvice(
    { evaluations, snapshot, input, options, subject }: Case,
    denied: readonly Denial[] | Promise<readonly Denial[]>,
    advice: AdviceRequest | undefined,
  ): Verdict | Promise<Verdict> {
    const excuse = (denials: readonly Denial[]): Verdict => this.#excuse(denials, subject, options.nowMs)
    if (advice === undefined) return then(denied, excuse)
    return then(denied, (denials) =>
      then(
        attempt<readonly DecisionWarning[]>(
          () => this.#withinLimit(options, (limited) => evaluations.advice(snapshot, advice, input, limited)),
          (error) => packagesOf(advice).map((name) => failed(name, error)),
        ),
        (found) => {
          const verdict = excuse(denials)
          return { ...verdict, warnings: [...verdict.warnings, ...found] }
        },
      ),
    )
  }

  /**
   * Raises `unavailable` and cancels an evaluation that another thread or a request to another host
   * delays by more than the limit. On this thread, the slice limits it.
   */
  #withinLimit<A>(
    options: EvaluateOptions,
    evaluate: (limited: EvaluateOptions) => A | Promise<A>,
  ): A | Promise<A> {
    const maxMs = this.#maxAdviceMs
    if (maxMs === undefined) return evaluate(options)
    let isOver = false
    let drop = (): void => undefined
    const { nowMs, strictBuiltinErrors, isVerdict, caller, wantsCost, known } = options
    const value = evaluate({
      // The options of a decision are members of its class, which a spread would not copy.
      ...{ nowMs, caller, known },
      ...(strictBuiltinErrors !== undefined && { strictBuiltinErrors }),
      ...(isVerdict !== undefined && { isVerdict }),
      ...(wantsCost !== undefined && { wantsCost }),
      spent: (cost) => (isOver ? undefined : options.spent?.(cost)),
      recorded: (calls) => (isOver ? undefined : options.recorded?.(calls)),
      onClientGone: (given) => {
        drop = given
        options.onClientGone?.(given)
        if (isOver) given()
      },
    })
    if (!(value instanceof Promise)) return value
    const { promise: limit, reject } = Promise.withResolvers<A>()
    const timer = setTimeout(() => {
      isOver = true
      drop()
      reject(new AppError('unavailable', `the warnings took over ${maxMs} ms`))
    }, maxMs)
    return Promise.race([value, limit]).finally(() => clearTimeout(timer))
  }

  /** Makes the denials that exceptions excuse warnings. */
  #excuse(denials: readonly Denial[], subject: Subject, nowMs: number): Verdict {
    if (denials.length === 0 || this.#exceptions.isEmpty) return { denials, warnings: NO_WARNINGS }
    const kept: Denial[] = []
    const warnings: DecisionWarning[] = []
    for (const denial of denials) {
      const exception = this.#exceptions.find(denial.packageName, subject, nowMs)
      if (exception === undefined) kept.push(denial)
      else warnings.push({ ...denial, kind: 'exception', exception: usedException(exception) })
    }
    return { denials: kept, warnings }
  }
}

function usedException({ id, owner, untilMs }: PolicyException): UsedException {
  return { id, owner, until: new Date(untilMs).toISOString() }
}

function asWarnings(denials: readonly Denial[]): Verdict {
  return { denials: NO_DENIALS, warnings: denials.map((denial) => ({ ...denial, kind: 'level' })) }
}

function failed(packageName: string, { message }: AppError): DecisionWarning {
  return { packageName, text: `could not be evaluated: ${message}`, kind: 'error' }
}

function packagesOf({ packages, rules }: AdviceRequest): string[] {
  return [...new Set([...packages, ...rules])].map((key) => printPackageName(pathOfKey(key)))
}

/** Most evaluations end on the deciding thread, without a promise. */
function then<A, B>(value: A | Promise<A>, next: (value: A) => B | Promise<B>): B | Promise<B> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Runs what may fail without an effect on the decision. */
function attempt<A>(run: () => A | Promise<A>, recover: (error: AppError) => A): A | Promise<A> {
  const handle = (raw: unknown): A => {
    if (raw instanceof AppError) return recover(raw)
    throw raw
  }
  try {
    const value = run()
    return value instanceof Promise ? value.catch(handle) : value
  } catch (raw) {
    return handle(raw)
  }
}
