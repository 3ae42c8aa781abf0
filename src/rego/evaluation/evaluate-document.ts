import { AppError } from '../../errors/app-error.js'
import { refuseNumber } from './refuse-number.js'
import { baseDocumentAt, placeBelow } from './compose-document.js'
import { evaluateEntrypoint, evaluateEntrypoints, withTypedErrors } from './evaluate-entrypoints.js'
import { entrypointsAt, namesIn, packageLength, ruleAbove } from './find-entrypoints.js'
import { mergeDocuments } from '../values/merge-documents.js'
import { parseRegoText } from '../values/parse-text.js'
import { isPrintedScalar, printGoJson } from '../values/print-go-json.js'
import { RegoObject, RegoSet } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { pathKey, pathOfKey } from '../values/path-key.js'
import { walkValue } from '../values/walk-value.js'
import type { Entrypoint, Snapshot } from '../snapshot/snapshot.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'
import type { PolicyModule } from '../wasm/policy-module.js'

/** What takes a module some milliseconds. */
const MUCH_DATA = 64 * 1024

/** How one path of `data` is answered; the same for every request until the snapshot changes. */
export interface DocumentPlan {
  readonly snapshot: Snapshot
  readonly path: readonly string[]
  /** The rule or package to evaluate, and the way from its value to the path. */
  readonly target: { readonly entrypoint: Entrypoint; readonly rest: readonly string[] } | undefined
  /** Where no single entrypoint holds the document: those whose values make it up, beside the base documents. */
  readonly parts: readonly Entrypoint[]
  /** The keys of the packages at the path and below it. */
  readonly packages: readonly string[]
  /** The way from the package that the path leads into; all of the path where the packages are not known. */
  readonly steps: readonly string[]
  /** Why OPA takes the path for no query, where it does not. */
  readonly refusal: string | undefined
}

/**
 * Tells how a path of `data` is answered: by the rule that it names or leads into, by the package or the document above
 * packages that it names, by several of them together, or by base documents alone.
 */
export function planDocument(snapshot: Snapshot, path: readonly string[]): DocumentPlan {
  const names = namesIn(path)
  const isNamed = names.length === path.length
  const exact = isNamed ? entrypointsAt(snapshot, path) : []
  const below = isNamed ? partsBelow(snapshot, path, exact) : []
  const packages = isNamed ? packagesAt(snapshot, path) : []
  const steps = path.slice(packageLength(snapshot, names))
  const common = { snapshot, path, packages, steps, refusal: refuseNumber(snapshot, path, names) }
  const [only] = exact
  if (only !== undefined && isMostlyData(snapshot, only, path.length === 0 ? snapshot.packages : packages))
    return { ...common, target: undefined, parts: partsBelow(snapshot, path, []) }
  if (only !== undefined && exact.length === 1 && below.length === 0) {
    return { ...common, target: { entrypoint: only, rest: [] }, parts: [] }
  }
  const rule = exact.length === 0 && below.length === 0 ? ruleLeadingTo(snapshot, path, names) : undefined
  if (rule === undefined) return { ...common, target: undefined, parts: [...exact, ...below] }
  return { ...common, target: { entrypoint: rule, rest: path.slice(rule.path.length) }, parts: [] }
}

/**
 * The document of a plan as JSON text in OPA's form, or undefined when it is not defined. The input must be
 * well-formed JSON. Raises `evaluation_failed` when the policy conflicts, a strict built-in fails or the budget ends.
 */
export function evaluateDocument(
  plan: DocumentPlan,
  input: Uint8Array | undefined,
  call: EvaluationCall,
): string | undefined {
  const { target } = plan
  if (target?.rest.length === 0 && target.entrypoint.parts === undefined && plan.path.length > 0) {
    const text = evaluateEntrypoint(plan.snapshot, target.entrypoint, input, call)
    if (text === undefined || isPrintedScalar(text)) return text
    return withTypedErrors(plan.snapshot, () => printGoJson(parseRegoText(text)))
  }
  const value = evaluateValue(plan, input, call)
  return value === undefined ? undefined : withTypedErrors(plan.snapshot, () => printGoJson(value))
}

/** The document of a plan as a value, sets and exact numbers kept; undefined when it is not defined. */
export function evaluateValue(
  plan: DocumentPlan,
  input: Uint8Array | undefined,
  call: EvaluationCall,
): RegoValue | undefined {
  const { snapshot, path, target, parts, refusal } = plan
  if (refusal !== undefined) throw new AppError('evaluation_failed', refusal)
  if (target !== undefined) {
    const found = evaluateRule(plan, input, call)
    // A rule may well be null.
    if (found === undefined) return baseDocumentAt(snapshot, path, call)
    return path.length === 0 ? withoutSystem(found) : found
  }
  const base = [...packageSkeleton(plan), baseDocumentAt(snapshot, path, call)]
  const values = evaluateEntrypoints(snapshot, parts, input, call)
  const merged = mergeDocuments([
    ...base,
    ...parts.map((part, index) => placeBelow(part.path, path, values[index])),
  ])
  return path.length === 0 && merged !== undefined ? withoutSystem(merged) : merged
}

/** The value that the target of a plan has at its path; undefined without one. Base documents are none. */
export function evaluateRule(
  { snapshot, target }: DocumentPlan,
  input: Uint8Array | undefined,
  call: EvaluationCall,
): RegoValue | undefined {
  if (target === undefined) return undefined
  const [value] = evaluateEntrypoints(snapshot, [target.entrypoint], input, call)
  return value === undefined ? undefined : walkValue(value, target.rest)
}

/**
 * Whether a document is better put together from its packages and the base documents: a module copies, prints and has read again
 * all that is below it. Each package needs code of its own for that, and a document within a package is its module's own.
 */
function isMostlyData(snapshot: Snapshot, document: Entrypoint, packages: readonly string[]): boolean {
  return (
    snapshot.image.bytes.length > MUCH_DATA &&
    document.kind === 'document' &&
    document.parts === undefined &&
    packages.length > 0 &&
    packages.every((key) => {
      const exact = snapshot.entrypoints.get(key) ?? []
      return exact.length === 1 && exact[0] !== document && exact[0]?.kind === 'document'
    })
  )
}

/** For a path that holds several modules' documents: of each module the topmost entrypoints below the path. */
function partsBelow(snapshot: Snapshot, path: readonly string[], exact: readonly Entrypoint[]): Entrypoint[] {
  const holders = new Set(exact.flatMap((entrypoint) => [...holdersOf(entrypoint)]))
  const parts: Entrypoint[] = []
  for (const candidates of snapshot.entrypoints.values()) {
    for (const candidate of candidates) {
      if (holders.has(candidate.module) || !isBelow(candidate.path, path)) continue
      if (!hasEntrypointBetween(snapshot, candidate, path)) parts.push(candidate)
    }
  }
  return parts
}

function isBelow(path: readonly string[], above: readonly string[]): boolean {
  return path.length > above.length && above.every((segment, index) => path[index] === segment)
}

function hasEntrypointBetween(snapshot: Snapshot, candidate: Entrypoint, path: readonly string[]): boolean {
  for (let length = path.length + 1; length < candidate.path.length; length++) {
    const between = snapshot.entrypoints.get(pathKey(candidate.path.slice(0, length)))
    if (between?.some((entrypoint) => holdersOf(entrypoint).has(candidate.module)) === true) return true
  }
  return false
}

/** The modules that the value of an entrypoint has all rules of, as far as they are below it. */
function holdersOf({ module, parts }: Entrypoint): ReadonlySet<PolicyModule> {
  return parts?.modules ?? new Set([module])
}

/** The rule above a path of which `names` can be names: the rule itself, where the first number comes right behind it. */
function ruleLeadingTo(
  snapshot: Snapshot,
  path: readonly string[],
  names: readonly string[],
): Entrypoint | undefined {
  const end = names.length < path.length ? path.slice(0, names.length + 1) : path
  return ruleAbove(snapshot, end)
}

function packagesAt(snapshot: Snapshot, path: readonly string[]): string[] {
  const own = pathKey(path)
  return snapshot.packages.filter((key) => key === own || key.startsWith(`${own}/`))
}

/** Packages are defined and empty even where none of their rules is: the packages at a path and below it, a document each. */
function packageSkeleton({ snapshot, path, packages }: DocumentPlan): (RegoValue | undefined)[] {
  const below = (path.length === 0 ? snapshot.packages : packages).map(pathOfKey)
  const empty = new RegoObject([])
  const documents = below.map((name) => placeBelow(name, path, empty))
  return path.length === 0 ? [empty, ...documents] : documents
}

/** OPA keeps `data.system` out of the root document. */
function withoutSystem(root: RegoValue): RegoValue {
  return root instanceof RegoObject && !(root instanceof RegoSet)
    ? new RegoObject(root.entries.filter(([key]) => key !== 'system'))
    : root
}
