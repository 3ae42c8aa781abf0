import { evaluatePackages } from './evaluate-packages.js'
import { ALLOW_RULE, DENY_RULES, VERDICT_RULES } from '../values/verdict-rules.js'
import type { Denial } from './denial.js'
import { notTrue, allowStatement, denyStatement, documentStatement } from './denials.js'
import { evaluateRule } from './evaluate-document.js'
import type { DocumentPlan } from './evaluate-document.js'
import { explainUndefined } from './explain-undefined.js'
import { printDataRef, printPackageName } from '../values/print-data-ref.js'
import type { RegoValue } from '../values/value.js'
import { undefinedPolicy } from './evaluation-error.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'
import type { Statement } from './denials.js'
import { RegoObject, RegoSet } from '../values/value.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { questionOf } from './package-question.js'
import { packageMatcher } from './select-packages.js'

/** The packages of the configuration, and the path segments that stages may use. */
const NAMEABLE = /^[\w-]+(?:\/[\w-]+)*$/

/**
 * Evaluates the policy at a path (a package with those below it, or one rule) to the reasons
 * against an execution. No reasons is an allow. Raises `evaluation_failed` if the policy cannot be
 * evaluated or states no verdict. A path to nothing, or to a base document, never allows. `packages`
 * are those of the plan to evaluate.
 */
export function evaluateRuntimePolicy(
  plan: DocumentPlan,
  input: Uint8Array | undefined,
  call: EvaluationCall,
  packages = plan.packages,
): readonly Denial[] {
  const { path, snapshot } = plan
  if (packages.length > 0)
    return evaluatePackages(snapshot, packages, input, call, { mustState: true }).denials
  const value = evaluateRule(plan, input, call)
  const reasons = ruleReasons(plan, value)
  if (reasons === undefined)
    throw noVerdict(path, value === undefined ? explainUndefined(snapshot, path, false) : undefined)
  const packageName = printPackageName(packagePathOf(plan))
  return [...new Set(reasons)].map((text) => ({ packageName, text }))
}

/** Returns the package that the path leads into, or the path itself if packages are unknown. */
export function packagePathOf({ path, steps }: DocumentPlan): readonly string[] {
  return steps.length < path.length ? path.slice(0, path.length - steps.length) : path
}

/**
 * False if the path never states a verdict, whatever the input: it leads to nothing, to a base
 * document, or below a verdict rule.
 */
export function mayStateVerdict({ target, packages, steps }: DocumentPlan): boolean {
  return packages.length > 0 || (target !== undefined && !isBelowVerdict(steps))
}

function isBelowVerdict(steps: readonly string[]): boolean {
  return steps.slice(0, -1).some((step) => VERDICT_RULES.includes(step))
}

function ruleReasons(
  { target, path, steps }: DocumentPlan,
  value: RegoValue | undefined,
): readonly string[] | undefined {
  if (target === undefined) return undefined
  const name = printPackageName(path)
  const isAllowRule = target.rest.length === 0 && steps.length === 1 && steps[0] === ALLOW_RULE
  if (value === undefined && isAllowRule) return [notTrue(name)]
  const statement = ruleStatement(value, steps, name)
  return typeof statement === 'string' ? undefined : statement
}

function noVerdict(path: readonly string[], why: string | undefined): Error {
  const hint = why === undefined ? '' : `${why}. `
  return undefinedPolicy(
    `${printDataRef(path)} states no verdict for this input: ${hint}Check the path and that its package is loaded, and request the package, or a rule such as deny`,
  )
}

/**
 * Returns the verdict of the value at `steps` below a package, if `steps` lead to a rule or into
 * its value. A string, a number, an object or null states nothing, because the path names the wrong
 * rule. Nothing below a verdict rule is a verdict: `deny/x` may be true and mean no.
 */
function ruleStatement(value: RegoValue | undefined, steps: readonly string[], name: string): Statement {
  const rule = steps.at(-1) ?? ''
  if (value === undefined || isBelowVerdict(steps)) return 'undefined'
  if (DENY_RULES.includes(rule)) return denyStatement(value, name)
  if (rule === ALLOW_RULE) return allowStatement(value, name)
  if (value === false) return [`${name} is false`]
  if (value === true) return []
  if (Array.isArray(value) || value instanceof RegoSet) return denyStatement(value, name)
  return value instanceof RegoObject ? documentStatement(value, name) : 'undefined'
}

/** Packages that are not for running pipelines. */
interface OtherPackages {
  readonly staticPackages: readonly string[]
  /** The path evaluated by default. */
  readonly defaultDecision: string
}

/** Returns the paths of packages with verdicts on running pipelines, sorted. */
export function runtimePolicies(
  snapshot: Snapshot,
  { staticPackages, defaultDecision }: OtherPackages,
): readonly string[] {
  const isStatic = packageMatcher(staticPackages)
  const isDefault = (key: string): boolean => `${defaultDecision.replace(/^\//, '')}/`.startsWith(`${key}/`)
  return snapshot.packages.filter(
    (key) =>
      NAMEABLE.test(key) && !isStatic(key) && !isDefault(key) && questionOf(snapshot, key).parts.length > 0,
  )
}
