import type { ErrorDetail } from '../../errors/app-error.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { pathKey } from '../values/path-key.js'
import { printDataRef } from '../values/print-data-ref.js'
import { locateRules } from '../modules/locate-rules.js'
import { compileError } from '../modules/opa-errors.js'
import type { RegoModule, RegoRule } from '../modules/rego-module.js'

/** A rule with its full path below `data`. */
interface PlacedRule {
  readonly module: RegoModule
  readonly index: number
  readonly rule: RegoRule
  readonly path: readonly string[]
}

/**
 * Keys of the paths after which a rule's reference continues with a variable or a non-string key.
 */
interface Prefixes {
  readonly all: ReadonlySet<string>
  /** Paths of sets, as in `p[k] contains …`. */
  readonly ofSets: ReadonlySet<string>
  /** Paths with a number, a boolean or null, as in `p[1] := …`. */
  readonly fixed: ReadonlySet<string>
}

/**
 * Raises `invalid` with file, line and column for each rule that OPA's planner merges wrongly.
 *
 * Fault: the planner merges a set with an object of sets (`p contains …`, `p[k] contains …`), a
 * function with an object (`p.f(x)`, `p[k] := …`), and a default with an object that has non-string
 * keys (`default p.x := …`, `p[1] := …`). The compiled code then differs from the evaluator.
 * Versions: 0.70 compiles the first two to wrong code or panics, 1.20 refuses them. Both lose the
 * default.
 */
export async function refuseMergedRules(opa: OpaProgram, modules: readonly RegoModule[]): Promise<void> {
  const rules = modules.flatMap((module) =>
    module.rules.map((rule, index) => ({ module, index, rule, path: [...module.packagePath, ...rule.path] })),
  )
  const dynamic = rules.filter(({ rule }) => rule.isDynamic)
  if (dynamic.length === 0) return
  const keysOf = (some: readonly PlacedRule[]): ReadonlySet<string> =>
    new Set(some.map(({ path }) => pathKey(path)))
  const prefixes = {
    all: keysOf(dynamic),
    ofSets: keysOf(dynamic.filter(({ rule }) => rule.isSet)),
    fixed: keysOf(dynamic.filter(({ rule }) => !rule.excludesData)),
  }
  const problems = rules.flatMap((placed) => {
    const message = problemOf(placed, prefixes)
    return message === undefined ? [] : [{ placed, message }]
  })
  if (problems.length === 0) return
  const details = problems.map(async ({ placed, message }) => await toDetail(opa, placed, message))
  throw compileError(await Promise.all(details))
}

function problemOf({ rule, path }: PlacedRule, { all, ofSets, fixed }: Prefixes): string | undefined {
  const name = printDataRef(path)
  if (!rule.isDynamic && rule.isSet && ofSets.has(pathKey(path)))
    return `conflicting rules ${name} found: one is a set (contains), another an object of sets (a key before contains). Rename one of them`
  const above = rule.isFunction ? prefixIn(all, path) : rule.isDefault ? prefixIn(fixed, path) : undefined
  if (above === undefined) return undefined
  return rule.isFunction
    ? `function ${name} conflicts with rule ${above}, which has keys that are not strings. Define the function outside ${above}`
    : `default rule ${name} conflicts with rule ${above}, which has keys that are not strings. Define the default rule outside ${above}`
}

/** Returns the first path above a rule that is among the prefixes, as a reference. */
function prefixIn(prefixes: ReadonlySet<string>, path: readonly string[]): string | undefined {
  const length = path.findIndex((_, above) => prefixes.has(pathKey(path.slice(0, above))))
  return length === -1 ? undefined : printDataRef(path.slice(0, length))
}

async function toDetail(
  opa: OpaProgram,
  { module, index }: PlacedRule,
  message: string,
): Promise<ErrorDetail> {
  const locations = await locateRules(opa, module)
  const location = locations[index] ?? { file: module.file, row: 1, col: 1 }
  return { code: 'rego_type_error', message, location }
}
