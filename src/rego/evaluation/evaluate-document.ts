import { AppError } from '../../errors/app-error.js'
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
import { goJsonString } from '../../lib/json/text/escape.js'
import { compareStrings } from '../../lib/text/compare-strings.js'
import { printDataRef } from '../values/print-data-ref.js'

/** Depth of OPA's check: every rule has at least two names before its own. */
const NAMES_IN_FRONT = 2

/** A document of this size takes a module some milliseconds. */
const LARGE_DATA_BYTES = 64 * 1024

/** How to evaluate a path of `data`; constant for a snapshot. */
export interface DocumentPlan {
  readonly snapshot: Snapshot
  readonly path: readonly string[]
  /** The rule or package to evaluate, and the steps from its value to the path. */
  readonly target: { readonly entrypoint: Entrypoint; readonly rest: readonly string[] } | undefined
  /**
   * The entrypoints that make up the document, if no single one has it, together with base
   * documents.
   */
  readonly parts: readonly Entrypoint[]
  /** The keys of the packages at or below the path. */
  readonly packages: readonly string[]
  /** The steps from the package to the path; the whole path if packages are unknown. */
  readonly steps: readonly string[]
  /** The reason why OPA refuses the path as a query, if it does. */
  readonly refusal: string | undefined
}

/**
 * Plans the evaluation of a path of `data`: by the rule it names or leads into, by a package or a
 * document above packages, by several of them, or by base documents alone.
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
 * Evaluates a plan to JSON text in OPA's form, or undefined. The input must be valid JSON. Raises
 * `evaluation_failed` for a conflict, a strict built-in that fails, or an exceeded budget.
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

/** Returns whether a plan has a rule, a package or a base document, whatever its value. */
export function hasDocument(plan: DocumentPlan): boolean {
  const { snapshot, path, target, parts, packages } = plan
  return (
    target !== undefined || parts.length + packages.length > 0 || walkValue(snapshot.data, path) !== undefined
  )
}

/** Evaluates a plan to a value with sets and exact numbers; undefined if it is undefined. */
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

/** Returns the target's value at its path; undefined without a target. Excludes base documents. */
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
 * True if composing a document from packages and base documents is faster: a module copies, prints
 * and parses everything below it. Every package needs its own entrypoint, and a document within a
 * package belongs to its module.
 */
function isMostlyData(snapshot: Snapshot, document: Entrypoint, packages: readonly string[]): boolean {
  return (
    snapshot.image.bytes.length > LARGE_DATA_BYTES &&
    document.kind === 'document' &&
    document.parts === undefined &&
    packages.length > 0 &&
    packages.every((key) => {
      const exact = snapshot.entrypoints.get(key) ?? []
      return exact.length === 1 && exact[0] !== document && exact[0]?.kind === 'document'
    })
  )
}

/** Returns the topmost entrypoints below a path for each module. */
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

/** Returns the modules whose rules below an entrypoint are all part of its value. */
function holdersOf({ module, parts }: Entrypoint): ReadonlySet<PolicyModule> {
  return parts?.modules ?? new Set([module])
}

/** Returns the rule above a path whose names are `names`, with a number directly after it. */
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

/**
 * Returns an empty object for each package at or below a path. Packages are defined even if their
 * rules are not.
 */
function packageSkeleton({ snapshot, path, packages }: DocumentPlan): (RegoValue | undefined)[] {
  const below = (path.length === 0 ? snapshot.packages : packages).map(pathOfKey)
  const empty = new RegoObject([])
  const documents = below.map((name) => placeBelow(name, path, empty))
  return path.length === 0 ? [empty, ...documents] : documents
}

/** OPA excludes `data.system` from the root document. */
function withoutSystem(root: RegoValue): RegoValue {
  return root instanceof RegoObject && !(root instanceof RegoSet)
    ? new RegoObject(root.entries.filter(([key]) => key !== 'system'))
    : root
}

/**
 * Returns OPA's error for a path with a number where only names can be, directly after `data` or
 * after the first segment of packages (`checkRef` in `ast/check.go`). Undefined for other paths.
 * `names` is the path before its first number.
 */
function refuseNumber(
  snapshot: Snapshot,
  path: readonly string[],
  names: readonly string[],
): string | undefined {
  if (names.length === path.length || names.length >= NAMES_IN_FRONT) return undefined
  const known = namesBelow(snapshot, names)
  if (known.length === 0) return undefined
  const ref = printDataRef(path)
  const indent = ' '.repeat(printDataRef(names).length + 1)
  const lines = [
    ref,
    `${indent}^`,
    `${indent}have (type): number`,
    `${indent}want (one of): [${known.join(' ')}]`,
  ]
  return `1 error occurred: 1:1: rego_type_error: undefined ref: ${ref}${lines.map((line) => `\n\t${line}`).join('')}`
}

/** Returns the names of rules and packages, as OPA lists them. Functions are unknown. */
function namesBelow({ entrypoints }: Snapshot, names: readonly string[]): string[] {
  const found = new Set<string>()
  for (const [key, candidates] of entrypoints) {
    const path = pathOfKey(key)
    const name = path[names.length]
    const isBelow = names.every((segment, place) => path[place] === segment)
    if (name !== undefined && isBelow && candidates.some(({ kind }) => kind === 'rule'))
      found.add(goJsonString(name))
  }
  return [...found].sort(compareStrings)
}
