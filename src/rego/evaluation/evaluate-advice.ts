import { AppError } from '../../errors/app-error.js'
import { pathOfKey } from '../values/path-key.js'
import { printPackageName } from '../values/print-data-ref.js'
import { WARN_RULE } from '../values/verdict-rules.js'
import type { Entrypoint, Snapshot } from '../snapshot/snapshot.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'
import type { Denial, Warning } from './denial.js'
import { denyStatement } from './denials.js'
import { evaluateEntrypoints } from './evaluate-entrypoints.js'
import { evaluatePackages } from './evaluate-packages.js'
import type { PackageOptions } from './evaluate-packages.js'
import { OVER_BUDGET } from './evaluation-error.js'
import { entrypointsAt } from './find-entrypoints.js'
import { inStageOrder } from './stage-order.js'

/** The parts of a decision that may warn but never deny. */
export interface AdviceRequest extends PackageOptions {
  /** The keys of packages whose `warn` rules are evaluated. */
  readonly rules: readonly string[]
  /** The keys of packages whose denials are warnings. */
  readonly packages: readonly string[]
}

/** True if a package has a rule `warn`. */
export function hasWarnRule(snapshot: Snapshot, key: string): boolean {
  return warnRulesOf(snapshot, key).length > 0
}

/**
 * Evaluates `warn` rules, and packages whose denials are warnings. A package that fails gives a
 * warning with its error, because a decision does not depend on it.
 */
export function evaluateAdvice(
  snapshot: Snapshot,
  { rules, packages, mustState }: AdviceRequest,
  input: Uint8Array | undefined,
  call: EvaluationCall,
): readonly Warning[] {
  const denials = eachAlone(packages, 'level', (keys) => {
    return evaluatePackages(snapshot, keys, input, call, { mustState }).denials
  })
  const warnings = eachAlone(rules, 'rule', (keys) => evaluateWarnRules(snapshot, keys, input, call))
  return inStageOrder([...denials, ...warnings], input)
}

/**
 * Evaluates packages together and, if that fails, each alone. After a time limit they are not
 * evaluated again.
 */
function eachAlone(
  keys: readonly string[],
  kind: Warning['kind'],
  evaluate: (keys: readonly string[]) => readonly Denial[],
): readonly Warning[] {
  if (keys.length === 0) return []
  try {
    return evaluate(keys).map((denial) => ({ ...denial, kind }))
  } catch (raw) {
    if (!(raw instanceof AppError)) throw raw
    if (keys.length > 1 && raw.code !== OVER_BUDGET)
      return keys.flatMap((key) => eachAlone([key], kind, evaluate))
    return keys.map((key) => ({
      packageName: printPackageName(pathOfKey(key)),
      text: `could not be evaluated: ${[raw.message, ...raw.details.map(({ message }) => message)].join('; ')}`,
      kind: 'error',
    }))
  }
}

function evaluateWarnRules(
  snapshot: Snapshot,
  keys: readonly string[],
  input: Uint8Array | undefined,
  call: EvaluationCall,
): readonly Denial[] {
  const rules = keys.map((key) => ({ path: pathOfKey(key), entrypoints: warnRulesOf(snapshot, key) }))
  const all = rules.flatMap(({ entrypoints }) => entrypoints)
  const values = evaluateEntrypoints(snapshot, all, input, call)
  let next = 0
  return rules.flatMap(({ path, entrypoints }) => {
    const packageName = printPackageName(path)
    const texts = entrypoints.flatMap(() => {
      const statement = denyStatement(values[next++], `${packageName}.${WARN_RULE}`)
      return typeof statement === 'string' ? [] : statement
    })
    return [...new Set(texts)].map((text) => ({ packageName, text }))
  })
}

function warnRulesOf(snapshot: Snapshot, key: string): readonly Entrypoint[] {
  return entrypointsAt(snapshot, [...pathOfKey(key), WARN_RULE]).filter(({ kind }) => kind === 'rule')
}
