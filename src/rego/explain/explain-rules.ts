import { pathKey } from '../values/path-key.js'
import { printPackageName } from '../values/print-data-ref.js'
import { HELD, cut } from '../tracing/trace.js'
import type { BodyTrace, ReachedStep, Sample, Trace } from '../tracing/trace.js'
import { RESULT } from './traced-body.js'
import type { TracedBody, TracedCondition, TracedDefinition, UsedRule } from './traced-body.js'

/** A term of a condition with its values as JSON: none if undefined, several for `_`. */
export interface ShownValue {
  readonly term: string
  readonly values: readonly string[]
}

/** Values that occurred together, and how often. */
export interface ShownSample {
  readonly values: readonly ShownValue[]
  readonly count: number
}

/** A condition that did not hold. */
export interface FailedCondition {
  readonly file: string
  readonly row: number
  readonly col: number
  /** The condition on one line. */
  readonly text: string
  /** The line of source. */
  readonly source: string
  /** How often it was evaluated: once for each value that the conditions before it accepted. */
  readonly count: number
  readonly samples: readonly ShownSample[]
  /** The condition within `every` that did not hold, for the first such element. */
  readonly inEvery?: (FailedCondition & { readonly element: readonly ShownValue[] }) | undefined
  /** The rules and functions that the condition uses. */
  readonly because: readonly RuleExplanation[]
}

/** A value that a rule has, with the values that led to it. */
export interface RuleResult extends ShownSample {
  /** JSON. */
  readonly value: string
  /** The key of a value in an object, as JSON. */
  readonly key?: string | undefined
}

/**
 * `fired`: all conditions hold. `not_fired`: one does not. `default`: no other definition has a
 * value. `not_evaluated`: an earlier definition answered, or nothing used the rule.
 */
export type RuleOutcome = 'fired' | 'not_fired' | 'default' | 'not_evaluated'

/** Why one definition of a rule has a value or has none. */
export interface RuleExplanation {
  readonly package: string
  readonly rule: string
  readonly file: string
  readonly row: number
  readonly col: number
  /** The beginning of its source, on one line. */
  readonly text: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly custom?: Readonly<Record<string, unknown>> | undefined
  readonly outcome: RuleOutcome
  /** The arguments of a function, as JSON. */
  readonly args?: readonly string[] | undefined
  readonly results: readonly RuleResult[]
  readonly failed?: FailedCondition | undefined
  /** The functions and rules of the same package that led to a result. */
  readonly because: readonly RuleExplanation[]
}

/** Levels of functions and rules that an explanation follows. */
const MAX_DEPTH = 3
const MAX_HELPERS = 12
/** Different calls of a function that are shown if the arguments of one call are unknown. */
const MAX_SAME_CALLS = 5

/** Explains definitions from the trace of an evaluation. */
export class RuleExplainer {
  readonly #trace: Trace
  readonly #byPath = new Map<string, TracedDefinition[]>()

  constructor(definitions: readonly TracedDefinition[], trace: Trace) {
    this.#trace = trace
    for (const definition of definitions) {
      const key = pathKey(fullPath(definition))
      this.#byPath.set(key, [...(this.#byPath.get(key) ?? []), definition])
    }
  }

  /** Explains a definition; for a function, with the arguments of a call. */
  explain(definition: TracedDefinition, argsKey = '', depth = 0): RuleExplanation {
    const { packagePath, rulePath, file, row, col, text, labels, isDefault } = definition
    const trace = this.#trace.bodies.get(definition.id)?.get(argsKey)
    const held = trace?.steps.get(HELD)
    const named = {
      package: printPackageName(packagePath),
      rule: printPackageName(rulePath),
      ...{ file, row, col, text, ...labels },
      ...(trace?.args !== undefined && definition.isFunction && { args: trace.args }),
    }
    if (isDefault) return { ...named, outcome: this.#defaultOutcome(definition), results: [], because: [] }
    if (held !== undefined) {
      const results = held.samples.map((sample) => resultOf(definition, sample))
      return { ...named, outcome: 'fired', results, because: this.#reasonsOf(definition, held, depth) }
    }
    const failed = trace && this.#failedIn(definition, trace, depth)
    return { ...named, outcome: failed ? 'not_fired' : 'not_evaluated', results: [], failed, because: [] }
  }

  #defaultOutcome(definition: TracedDefinition): RuleOutcome {
    const others = this.#byPath.get(pathKey(fullPath(definition))) ?? []
    const hasValue = others.some(({ id }) =>
      [...(this.#trace.bodies.get(id)?.values() ?? [])].some(({ steps }) => steps.has(HELD)),
    )
    return hasValue ? 'not_evaluated' : 'default'
  }

  /** The first condition that no values fulfilled; undefined if the body was not evaluated. */
  #failedIn(body: TracedBody, { steps }: BodyTrace, depth: number): FailedCondition | undefined {
    const step = body.conditions.findLastIndex((_, place) => steps.has(String(place)))
    const [condition, reached] = [body.conditions[step], steps.get(String(step))]
    if (condition === undefined || reached === undefined) return undefined
    const { file, row, col, text, source, operands } = condition
    return {
      ...{ file, row, col, text, source, count: reached.hits },
      samples: reached.samples.map((sample) => ({ values: shown(operands, sample, 0), count: sample.hits })),
      inEvery: this.#failedEvery(condition, depth),
      because: this.#helpersOf(condition.uses, reached.samples, 0, depth),
    }
  }

  #failedEvery({ every }: TracedCondition, depth: number): FailedCondition['inEvery'] {
    if (every === undefined) return undefined
    const elements = [...(this.#trace.bodies.get(every.id)?.values() ?? [])]
    const failing = elements.find(({ steps }) => !steps.has(HELD))
    const failed = failing && this.#failedIn(every, failing, depth)
    if (failed === undefined) return undefined
    const element = every.shown.map((term, place) => ({ term, values: [failing?.args?.[place] ?? ''] }))
    return { ...failed, element }
  }

  /** The functions and rules of a package's own that led to its results. */
  #reasonsOf(definition: TracedDefinition, held: ReachedStep, depth: number): readonly RuleExplanation[] {
    const own = definition.uses.filter(({ path }) =>
      definition.packagePath.every((segment, place) => path[place] === segment),
    )
    const found = this.#helpersOf(own, held.samples, 2, depth)
    return found.filter(({ outcome }) => outcome === 'fired')
  }

  #helpersOf(
    uses: readonly UsedRule[],
    samples: readonly Sample[],
    offset: number,
    depth: number,
  ): readonly RuleExplanation[] {
    if (depth >= MAX_DEPTH) return []
    const found = new Map<string, RuleExplanation>()
    for (const use of uses) {
      for (const key of use.isCall ? this.#callKeys(use, samples, offset) : [''])
        for (const [id, helper] of this.#explainUse(use, key, depth)) found.set(`${id} ${key}`, helper)
    }
    return [...found.values()].slice(0, MAX_HELPERS)
  }

  /**
   * The keys of the arguments with which a function was called: those of a marker, else all if they
   * are few.
   */
  #callKeys({ path, callAt }: UsedRule, samples: readonly Sample[], offset: number): Iterable<string> {
    if (callAt !== undefined) return new Set(samples.flatMap(({ values }) => values[callAt + offset] ?? []))
    const calls = this.#definitionsAt(path).flatMap(({ id }) => [
      ...(this.#trace.bodies.get(id)?.keys() ?? []),
    ])
    const keys = new Set(calls)
    return keys.size <= MAX_SAME_CALLS ? keys : []
  }

  /** Those definitions that have a value; if none has, those that were evaluated. */
  #explainUse({ path }: UsedRule, argsKey: string, depth: number): [string, RuleExplanation][] {
    const all = this.#definitionsAt(path).map((definition): [string, RuleExplanation] => [
      definition.id,
      this.explain(definition, argsKey, depth + 1),
    ])
    const answering = all.filter(([, { outcome }]) => outcome === 'fired' || outcome === 'default')
    return answering.length > 0 ? answering : all.filter(([, { outcome }]) => outcome === 'not_fired')
  }

  /** The definitions of the rule that a path leads to, or into. */
  #definitionsAt(path: readonly string[]): readonly TracedDefinition[] {
    for (let length = path.length; length > 0; length -= 1) {
      const found = this.#byPath.get(pathKey(path.slice(0, length)))
      if (found !== undefined) return found
    }
    return []
  }
}

/** The path of a definition below `data`. */
export function fullPath({ packagePath, rulePath }: TracedDefinition): readonly string[] {
  return [...packagePath, ...rulePath]
}

/** The first two operands of the last marker are value and key of the head. */
function resultOf({ shown: terms }: TracedDefinition, sample: Sample): RuleResult {
  const [value = '', key] = sample.values.slice(0, 2).map(([text]) => text)
  return {
    value: cut(value),
    ...(key !== undefined && key !== NO_KEY && { key: cut(key) }),
    // A variable for the value would repeat it.
    values: shown(terms, sample, 2).filter(({ values }) => values[0] !== cut(value)),
    count: sample.hits,
  }
}

/** What a marker shows for a head without a key. */
const NO_KEY = '"-"'

/** The calculated value of a rule is shown as its result. */
function shown(terms: readonly string[], { values }: Sample, offset: number): ShownValue[] {
  return terms.flatMap((term, place) =>
    term === RESULT ? [] : [{ term, values: (values[place + offset] ?? []).map(cut) }],
  )
}
