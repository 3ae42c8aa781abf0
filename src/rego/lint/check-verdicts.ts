import type { ErrorDetail } from '../../errors/app-error.js'
import type { ShortTurns } from '../../lib/turns/short-turns.js'
import { AskedPackages } from './asked-packages.js'
import type { DescribedModule } from './describe-module.js'
import { EVERY_RULE, groupByPackage } from './described-package.js'
import type { DescribedPackage } from './described-package.js'
import { positionIn } from '../modules/tokens/read-tokens.js'
import { DENY_RULES, VERDICT_RULES } from '../values/verdict-rules.js'

/** Returns rules that resemble a verdict, and packages without a verdict that should have one. */
export async function checkVerdicts(
  modules: readonly DescribedModule[],
  staticPatterns: readonly string[],
  turns: ShortTurns,
): Promise<ErrorDetail[]> {
  const asked = new AskedPackages(staticPatterns)
  const packages = groupByPackage(modules)
  await turns.pause()
  const names = new Set(packages.map(({ path }) => path.join('.')))
  const found: ErrorDetail[] = []
  for (const described of packages) {
    const isPart = names.has(described.path.slice(0, -1).join('.'))
    found.push(...checkPackage(described, asked), ...(isPart ? [] : unaskedParts(described, asked)))
    await turns.pause()
  }
  return found
}

function checkPackage(described: DescribedPackage, asked: AskedPackages): ErrorDetail[] {
  const caller = asked.callerKindOf(described.path)
  const isAsked = caller !== 'nobody'
  const hidden = isAsked ? hiddenVerdicts(described) : []
  if (hidden.length > 0) return hidden
  const misnamed = isAsked || !described.statesVerdict ? misnamedVerdicts(described) : []
  if (misnamed.length > 0) return misnamed
  const [module] = described.modules
  if (module === undefined || described.isLibrary) return []
  const name = described.path.join('.')
  if (isAsked && !described.statesVerdict) {
    const effect =
      caller === 'static'
        ? 'it never denies anything'
        : 'asked for by its path it answers 500 undefined_policy'
    const message = `package ${name} has no rule deny, violation or allow: ${effect}`
    return [{ code: 'no_verdict', message, location: locate(module, module.packageOffset) }]
  }
  const start =
    isAsked || !described.statesVerdict ? undefined : asked.intendedStart(described.path, module.module.file)
  if (start === undefined) return []
  const message = `package ${name} states a verdict, but is not among the packages that are asked; did you mean ${start}.${described.path.slice(1).join('.') || name}?`
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
      message: `${name} in package ${path.join('.')} states a verdict behind a variable, which nobody asks for: write the name of the rule first, as in deny contains text`,
      location: locate(module, offset),
    }))
  })
}

/**
 * Returns rules that would deny by the name of their package if its parent were evaluated: `prod`
 * in `static.freeze.deny`.
 */
function unaskedParts(
  { path, modules, statesVerdict, helpers, functions }: DescribedPackage,
  asked: AskedPackages,
): ErrorDetail[] {
  const name = path.at(-1) ?? ''
  if (!DENY_RULES.includes(name) || !statesVerdict || asked.callerKindOf(path) === 'nobody') return []
  const isNone = (rule: string): boolean =>
    VERDICT_RULES.includes(rule) || helpers.has(rule) || functions.has(rule)
  return modules.flatMap((module) =>
    module.heads
      .filter((head) => !isNone(head.name))
      .map((head) => ({
        code: 'hidden_verdict',
        message: `${head.name} in package ${path.join('.')} is asked by nobody, though the package is called ${name}: write ${name} contains … if, or name the rule ${name}.${head.name} in package ${path.slice(0, -1).join('.')}`,
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
          ? `${head.name} in package ${name} is a function, which nobody asks for a verdict; give it no parameters`
          : `${head.name} in package ${name} is no verdict: only deny, violation and allow are asked for; did you mean ${meant}?`
      return [{ code: 'misnamed_verdict', message: what, location: locate(module, head.offset) }]
    }),
  )
}

function locate({ module, text }: DescribedModule, offset: number): NonNullable<ErrorDetail['location']> {
  return { file: module.file, ...positionIn(text, offset) }
}
