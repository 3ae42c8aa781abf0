import type { RegoModule } from '../compile/rego-module.js'
import { findReferences } from '../lint/find-references.js'
import { readTokens } from '../compile/tokens/read-tokens.js'

type Path = readonly string[]

/** What of `data` a module defines and reads, as far as it is fixed when the module is compiled. */
export interface ModuleLinks {
  readonly packagePath: Path
  /** The paths of its rules and functions. */
  readonly rules: readonly Path[]
  /** What it refers to, replaces by `with`, or imports; more than it reads, never less. */
  readonly references: readonly Path[]
  /** Whether it reads annotations, which those of the packages above belong to. */
  readonly readsAnnotations: boolean
}

const known = new WeakMap<RegoModule, ModuleLinks>()

/** The links of a module, found once. */
export function linksOf(module: RegoModule): ModuleLinks {
  const links = known.get(module) ?? findLinks(module)
  known.set(module, links)
  return links
}

function findLinks({ packagePath, rules, text }: RegoModule): ModuleLinks {
  const { imports, reads, replaced } = findReferences(readTokens(text).tokens)
  return {
    packagePath,
    rules: rules.map(({ path }) => [...packagePath, ...path]),
    references: [...imports, ...reads, ...replaced].map(({ path }) => texts(path)),
    readsAnnotations: text.includes('rego.metadata'),
  }
}

/** The front of a path that names packages and rules: a number is an index. */
function texts(path: readonly (string | number)[]): string[] {
  const end = path.findIndex((segment) => typeof segment === 'number')
  return (end === -1 ? path : path.slice(0, end)).map(String)
}

/** Whether the code of one module may depend on what another defines. */
export function dependsOn(one: ModuleLinks, other: ModuleLinks): boolean {
  return isBound(one, other) || one.references.some((reference) => reaches(reference, other))
}

function reaches(reference: Path, { packagePath, rules }: ModuleLinks): boolean {
  return isStart(reference, packagePath) || rules.some((rule) => isEitherStart(reference, rule))
}

/**
 * Whether modules are compiled together or not at all: they are of one package, whose rules know each other by their bare names, a
 * rule of one stands where the other has a package or a rule, or one reads the annotations of the other.
 */
function isBound(one: ModuleLinks, other: ModuleLinks): boolean {
  if (!isEitherStart(one.packagePath, other.packagePath)) return false
  if (one.packagePath.length === other.packagePath.length) return true
  const [upper, lower] = one.packagePath.length < other.packagePath.length ? [one, other] : [other, one]
  // What stands below the upper package may be in the lower one, above it, or a rule of both.
  return lower.readsAnnotations || upper.rules.some((rule) => isEitherStart(rule, lower.packagePath))
}

function isEitherStart(one: Path, other: Path): boolean {
  return isStart(one, other) || isStart(other, one)
}

function isStart(start: Path, path: Path): boolean {
  return start.length <= path.length && start.every((segment, index) => segment === path[index])
}
