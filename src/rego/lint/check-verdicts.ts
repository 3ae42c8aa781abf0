import type { ErrorDetail } from '../../errors/app-error.js'
import type { ShortTurns } from '../../lib/turns/short-turns.js'
import { checkArmoryPackage } from './armory-packages.js'
import { EvaluatedPackages } from './evaluated-packages.js'
import type { DescribedModule } from './describe-module.js'
import { positionIn } from '../modules/tokens/read-tokens.js'
import { DENY_RULES, VERDICT_RULES, verdictOf, warningOf } from '../values/verdict-rules.js'

/** Returns rules that resemble a verdict, and packages without a verdict that should have one. */
export async function checkVerdicts(
  modules: readonly DescribedModule[],
  staticPatterns: readonly string[],
  turns: ShortTurns,
): Promise<ErrorDetail[]> {
  const evaluated = new EvaluatedPackages(staticPatterns)
  const packages = groupByPackage(modules)
  await turns.pause()
  const names = new Set(packages.map(({ path }) => path.join('.')))
  const found: ErrorDetail[] = []
  for (const described of packages) {
    const isPart = names.has(described.path.slice(0, -1).join('.'))
    found.push(
      ...checkPackage(described, evaluated),
      ...checkArmoryPackage(described),
      ...(isPart ? [] : unservedParts(described, evaluated)),
    )
    await turns.pause()
  }
  return found
}

function checkPackage(described: DescribedPackage, evaluated: EvaluatedPackages): ErrorDetail[] {
  const caller = evaluated.callerKindOf(described.path)
  const isEvaluated = caller !== 'nobody'
  const hidden = isEvaluated ? hiddenVerdicts(described) : []
  if (hidden.length > 0) return hidden
  const misnamed = isEvaluated || !described.statesVerdict ? misnamedVerdicts(described) : []
  if (misnamed.length > 0) return misnamed
  const [module] = described.modules
  if (module === undefined || described.isLibrary) return []
  const name = described.path.join('.')
  if (isEvaluated && !described.statesVerdict && !described.warns) {
    const effect =
      caller === 'static' ? 'it never denies anything' : 'a request for its path returns 500 undefined_policy'
    const message = `package ${name} has no rule deny, violation or allow: ${effect}`
    return [{ code: 'no_verdict', message, location: locate(module, module.packageOffset) }]
  }
  const start =
    isEvaluated || !described.statesVerdict
      ? undefined
      : evaluated.intendedStart(described.path, module.module.file)
  if (start === undefined) return []
  const message = `package ${name} states a verdict, but is not among the evaluated packages; did you mean ${start}.${described.path.slice(1).join('.') || name}?`
  return [{ code: 'unasked_package', message, location: locate(module, module.packageOffset) }]
}

/**
 * A verdict after a variable: its documents depend on the input, so they cannot all be evaluated.
 */
function hiddenVerdicts({ path, modules }: DescribedPackage): ErrorDetail[] {
  return modules.flatMap((module) => {
    const names = new Set(
      module.module.rules.filter(({ hidesVerdict }) => hidesVerdict).map((rule) => rule.path[0]),
    )
    const heads = module.heads.filter(({ name }) => names.has(name))
    return heads.map(({ name, offset }) => ({
      code: 'hidden_verdict',
      message: `${name} in package ${path.join('.')} states a verdict after a variable, which is never evaluated. Write the name of the rule first, as in deny contains text`,
      location: locate(module, offset),
    }))
  })
}

/**
 * Returns rules that would deny by the name of their package if its parent were evaluated: `prod`
 * in `static.freeze.deny`.
 */
function unservedParts(
  { path, modules, statesVerdict, helpers, functions }: DescribedPackage,
  evaluated: EvaluatedPackages,
): ErrorDetail[] {
  const name = path.at(-1) ?? ''
  if (!DENY_RULES.includes(name) || !statesVerdict || evaluated.callerKindOf(path) === 'nobody') return []
  const isNone = (rule: string): boolean =>
    VERDICT_RULES.includes(rule) || helpers.has(rule) || functions.has(rule)
  return modules.flatMap((module) =>
    module.heads
      .filter((head) => !isNone(head.name))
      .map((head) => ({
        code: 'hidden_verdict',
        message: `${head.name} in package ${path.join('.')} is never evaluated, because ${name} is the name of its package. Write ${name} contains … if, or name the rule ${name}.${head.name} in package ${path.slice(0, -1).join('.')}`,
        location: locate(module, head.offset),
      })),
  )
}

function misnamedVerdicts({ path, modules, helpers, functions }: DescribedPackage): ErrorDetail[] {
  if (helpers.has(EVERY_RULE)) return []
  const name = path.join('.')
  const seen = new Set<string>()
  return modules.flatMap((module) =>
    module.heads.flatMap((head) => {
      const isFunction = functions.has(head.name)
      const meant = isFunction && VERDICT_RULES.includes(head.name) ? head.name : head.resembles
      const isOutput = VERDICT_RULES.some((rule) => head.uses.has(rule))
      if (meant === undefined || helpers.has(head.name) || isOutput || seen.has(head.name)) return []
      seen.add(head.name)
      const what =
        meant === head.name
          ? `${head.name} in package ${name} is a function, which is never evaluated for a verdict; remove its parameters`
          : `${head.name} in package ${name} is not a verdict: only deny, violation and allow are evaluated; did you mean ${meant}?`
      return [{ code: 'misnamed_verdict', message: what, location: locate(module, head.offset) }]
    }),
  )
}

function locate({ module, text }: DescribedModule, offset: number): NonNullable<ErrorDetail['location']> {
  return { file: module.file, ...positionIn(text, offset) }
}

/** True among helpers of a package that others read as a whole. */
const EVERY_RULE = '*'

/** The modules of a package. */
export interface DescribedPackage {
  readonly path: readonly string[]
  readonly modules: readonly DescribedModule[]
  /** True if the package has a verdict rule; functions do not count. */
  readonly statesVerdict: boolean
  /** True if the package has a `warn` rule. */
  readonly warns: boolean
  /** The rules that other rules use, in any package. */
  readonly helpers: ReadonlySet<string>
  readonly functions: ReadonlySet<string>
  /** True if other packages use it. */
  readonly isLibrary: boolean
}

/** Returns the packages of modules, in the order of their first modules. */
function groupByPackage(modules: readonly DescribedModule[]): DescribedPackage[] {
  const groups = new Map<string, DescribedModule[]>()
  for (const described of modules) {
    const key = keyOf(described.module.packagePath)
    groups.set(key, [...(groups.get(key) ?? []), described])
  }
  const used = usedFromElsewhere(modules)
  return [...groups].map(([key, members]) => describe(members, used.get(key)))
}

function describe(
  modules: readonly DescribedModule[],
  used: ReadonlySet<string> | undefined,
): DescribedPackage {
  const rules = modules.flatMap(({ module }) => module.rules)
  const heads = modules.flatMap((module) => module.heads)
  const isVerdict = ({ path, isFunction }: (typeof rules)[number]): boolean =>
    !isFunction && verdictOf(path) !== undefined
  return {
    path: modules[0]?.module.packagePath ?? [],
    modules,
    statesVerdict: rules.some(isVerdict),
    warns: rules.some(({ path, isFunction }) => !isFunction && warningOf(path) !== undefined),
    helpers: new Set([...heads.flatMap(({ uses }) => [...uses]), ...(used ?? [])]),
    functions: new Set(rules.filter(({ isFunction }) => isFunction).map(({ path }) => path[0] ?? '')),
    isLibrary: used !== undefined,
  }
}

/** The members of each package that modules of other packages use. */
function usedFromElsewhere(modules: readonly DescribedModule[]): Map<string, Set<string>> {
  const packages = new Map<string, Set<string>>()
  const known = new Set(modules.map(({ module }) => keyOf(module.packagePath)))
  for (const { module, reads } of modules) {
    const own = keyOf(module.packagePath)
    for (const { path } of reads) {
      for (let length = 1; length <= path.length; length++) {
        const key = keyOf(path.slice(0, length))
        if (!known.has(key) || key === own) continue
        const members = packages.get(key) ?? new Set<string>()
        members.add(String(path[length] ?? EVERY_RULE))
        packages.set(key, members)
      }
    }
  }
  return packages
}

function keyOf(path: readonly (string | number)[]): string {
  return JSON.stringify(path)
}
