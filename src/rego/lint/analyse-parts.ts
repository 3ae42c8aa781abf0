import { basename } from 'node:path'
import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { nearestName } from '../../lib/text/nearest-name.js'
import { ShortTurns } from '../../lib/turns/short-turns.js'
import type { LeftOutFiles } from '../compile/collect-sources.js'
import { outlineModule } from '../modules/outline-module.js'
import type { RegoModule, RegoFile } from '../modules/rego-module.js'
import { positionIn } from '../modules/tokens/read-tokens.js'
import type { PolicyPart } from '../snapshot/policy-part.js'
import { pathKey, pathOfKey } from '../values/path-key.js'
import { RegoNumber, RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { verdictOf } from '../values/verdict-rules.js'
import { checkContradictions } from './check-contradictions.js'
import { checkMixedTypes } from './check-mixed-types.js'
import { checkVerdicts } from './check-verdicts.js'
import { describeModule } from './describe-module.js'
import type { DescribedModule, Reference } from './describe-module.js'
import { EvaluatedPackages } from './evaluated-packages.js'

/** Number of files that a finding names. */
const MAX_FILES = 3

export interface PartAnalysisOptions extends AnalysisOptions {
  /** Whether policies with findings load. */
  readonly undefinedData: 'warn' | 'refuse'
}

/**
 * Returns the findings about all parts; `data` is the merged data. `entrypointsOf` lists the rules
 * of a module, because a bundle may leave out the Rego of some. Raises `invalid` with all findings
 * if they are refused.
 */
export async function analyseParts<Part extends Pick<PolicyPart, 'modules' | 'leftOut'>>(
  parts: readonly Part[],
  data: RegoObject,
  options: PartAnalysisOptions,
  entrypointsOf: (part: Part) => readonly (readonly string[])[] = () => [],
): Promise<ErrorDetail[]> {
  const findings = await Promise.all(
    parts.map(async (part) => {
      const rulesWithoutText = findRulesWithoutText(part.modules, entrypointsOf(part))
      const { modules, leftOut } = part
      return await analysePolicies(modules, data, { ...options, rulesWithoutText, leftOut })
    }),
  )
  const details = findings.flat()
  if (details.length > 0 && options.undefinedData === 'refuse') {
    throw new AppError(
      'invalid',
      'the policies read data that nothing defines, have rules that look like verdicts and are none, or bodies that never hold (policies.undefinedData is refuse)',
      { details },
    )
  }
  return details
}

/** Returns the rules of a module without Rego text: OPA removes compiled rules from bundles. */
function findRulesWithoutText(
  modules: readonly RegoModule[],
  entrypoints: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  const documents = new Set<string>()
  for (const module of modules) for (const key of documentsOf(module)) documents.add(key)
  return entrypoints.filter((path) => !documents.has(pathKey(path)))
}

const known = new WeakMap<RegoModule, readonly string[]>()

/** Returns the keys of the documents above the entrypoints. */
function documentsOf(module: RegoModule): readonly string[] {
  const found = known.get(module) ?? findDocuments(module)
  known.set(module, found)
  return found
}

function findDocuments({ packagePath, rules }: RegoModule): readonly string[] {
  const written = [packagePath, ...rules.map(({ path }) => [...packagePath, ...path])].map(pathKey)
  return [...new Set(written.flatMap(withThoseAbove))]
}

function withThoseAbove(key: string): string[] {
  const path = pathOfKey(key)
  return Array.from({ length: path.length + 1 }, (_, length) => pathKey(path.slice(0, length)))
}

const NOTHING_LEFT_OUT: LeftOutFiles = { rego: [], data: [] }

export interface AnalysisOptions {
  /** The patterns of the packages evaluated when a pipeline is saved. */
  readonly staticPackages: readonly string[]
  /** Paths of served rules without Rego text. */
  readonly rulesWithoutText?: readonly (readonly string[])[]
  /** Files next to the modules that are not served. */
  readonly leftOut?: LeftOutFiles | undefined
}

/**
 * Returns the mistakes of policies that compile: data that nothing defines, and rules that resemble
 * verdicts, in the order of the files. Tests are excluded. Yields to the event loop between
 * modules.
 */
export async function analysePolicies(
  modules: readonly RegoModule[],
  data: RegoObject,
  options: AnalysisOptions,
): Promise<ErrorDetail[]> {
  const served = modules.filter(({ file }) => !file.endsWith('_test.rego'))
  const turns = new ShortTurns()
  const described: DescribedModule[] = []
  for (const module of served) {
    described.push(describeModule(module))
    await turns.pause()
  }
  const { staticPackages, rulesWithoutText = [], leftOut = NOTHING_LEFT_OUT } = options
  const unwritten = rulesWithoutText.map((path) => ({ packagePath: path, path: [] }))
  const defined = new DefinedDocuments([...described.flatMap(definitionsIn), ...unwritten], data)
  await turns.pause()
  // The references and verdicts of such a rule are unknown.
  const complete = described.filter(({ module }) => !hasRuleAmong(module, rulesWithoutText))
  const findings: ErrorDetail[] = []
  for (const module of described) {
    findings.push(
      ...checkReferences(module, defined, leftOut.data),
      ...checkContradictions(module),
      ...checkMixedTypes(module),
    )
    await turns.pause()
  }
  findings.push(
    ...(await checkVerdicts(complete, staticPackages, turns)),
    ...checkLeftOut(leftOut.rego, staticPackages),
  )
  const order = new Map(served.map(({ file }, index) => [file, index]))
  const placeOf = ({ location }: ErrorDetail): number => order.get(location?.file ?? '') ?? order.size
  return findings.sort((a, b) => placeOf(a) - placeOf(b) || (a.location?.row ?? 0) - (b.location?.row ?? 0))
}

/** Rules may read documents that `with` sets. */
function definitionsIn({ module: { packagePath, rules }, replaced }: DescribedModule): DefinedRule[] {
  const elsewhere = replaced.map(({ path }) => ({ packagePath: [], path: path.map(String) }))
  return [{ packagePath, path: undefined }, ...rules.map(({ path }) => ({ packagePath, path })), ...elsewhere]
}

function hasRuleAmong({ packagePath }: RegoModule, rules: readonly (readonly string[])[]): boolean {
  const key = `${pathKey(packagePath)}/`
  return rules.some((path) => pathKey(path).startsWith(key))
}

/**
 * Returns verdicts in files that are not served, in evaluated packages: a policy named
 * `stress_test.rego` is excluded as a test, and a hidden file is ignored. Tests may have helper
 * rules of such names in packages of their own.
 */
function checkLeftOut(files: readonly RegoFile[], staticPatterns: readonly string[]): ErrorDetail[] {
  const evaluated = new EvaluatedPackages(staticPatterns)
  return files.flatMap((file) => findVerdict(file, evaluated) ?? [])
}

function findVerdict(file: RegoFile, evaluated: EvaluatedPackages): ErrorDetail | undefined {
  const module = outlineModule(file)
  if (module === undefined || evaluated.callerKindOf(module.packagePath) === 'nobody') return undefined
  const { packagePath, rules } = module
  const verdict = rules.find(({ path, isFunction }) => !isFunction && verdictOf(path) !== undefined)
  if (verdict === undefined) return undefined
  const isHidden = basename(file.file).startsWith('.')
  const hasTests = rules.some(({ path: [name = ''] }) => /^(?:todo_)?test_/.test(name))
  if (!isHidden && hasTests && packagePath.at(-1)?.endsWith('_test')) return undefined
  const { text, heads } = describeModule(module)
  const offset = heads.find(({ name }) => name === verdict.path[0])?.offset ?? 0
  const why = isHidden ? 'hidden files are left out' : 'files named *_test.rego hold tests and are left out'
  return {
    code: 'unserved_verdict',
    message: `${verdict.path.join('.')} in package ${packagePath.join('.')} is never evaluated: ${why}; rename the file if it is a policy`,
    location: { file: file.file, ...positionIn(text, offset) },
  }
}

/**
 * Returns references of a module to `data` that neither rules nor base documents define, in file
 * order. The message names files of `unread` that OPA would load there.
 */
function checkReferences(
  module: DescribedModule,
  defined: DefinedDocuments,
  unread: LeftOutFiles['data'] = [],
): ErrorDetail[] {
  const { imports, reads } = module
  const missingImports = imports.filter(({ path }) => !defined.find(path).isDefined)
  // References below an undefined import are reported with the import.
  const isReported = ({ path }: Reference): boolean =>
    missingImports.some((reference) => startsWith(path, reference.path))
  const missing = reads.filter(
    (reference) => !isReported(reference) && !defined.find(reference.path).isDefined && !reference.hasDefault,
  )
  return [...missingImports, ...missing]
    .sort((a, b) => a.offset - b.offset)
    .map((reference) => describe(module, reference, { defined, unread }))
}

function describe(
  { module, text }: DescribedModule,
  { path, offset }: Reference,
  { defined, unread }: { defined: DefinedDocuments; unread: LeftOutFiles['data'] },
): ErrorDetail {
  const { known, names } = defined.find(path)
  const near = nearestName(String(path[known] ?? ''), names())
  const hint = near === undefined ? '' : `; did you mean ${printPath([...path.slice(0, known), near])}?`
  const files = unread.filter(({ at }) => startsWith(path, at)).map(({ file }) => basename(file))
  const more = files.length > MAX_FILES ? ' and others' : ''
  const unreadHint =
    files.length === 0 || near !== undefined
      ? ''
      : `; not read: ${files.slice(0, MAX_FILES).join(', ')}${more}, since data is in files named data.json, data.yaml or data.yml`
  return {
    code: 'undefined_data',
    message: `${printPath(path)} is defined by neither rules nor data, so that what reads it is undefined${hint}${unreadHint}`,
    location: { file: module.file, ...positionIn(text, offset) },
  }
}

function startsWith(path: Reference['path'], start: Reference['path']): boolean {
  return start.every((segment, index) => path[index] === segment)
}

/** A path as Rego writes it. */
function printPath(path: Reference['path']): string {
  const members = path.map((segment) =>
    typeof segment === 'string' && /^[A-Za-z_]\w*$/.test(segment)
      ? `.${segment}`
      : `[${JSON.stringify(segment)}]`,
  )
  return `data${members.join('')}`
}

type Segment = string | number

/** Objects with more members are treated as tables whose keys nobody wrote by hand. */
const MAX_NAMES = 2000

/** A rule with its package, or a package. */
interface DefinedRule {
  readonly packagePath: readonly string[]
  /** The constant path below the package; undefined for the package itself. */
  readonly path: readonly string[] | undefined
}

/** How far a path leads. */
interface Lookup {
  /** True if a document exists, or if only evaluation can show it. */
  readonly isDefined: boolean
  /** The number of existing segments. */
  readonly known: number
  /** Returns the siblings of the first missing name; none for large tables. */
  readonly names: () => readonly string[]
}

interface PackageNode {
  /** The value of a rule is unknown before evaluation. */
  isRule: boolean
  readonly children: Map<string, PackageNode>
}

/** The documents below `data` that rules or base documents define. */
export class DefinedDocuments {
  readonly #root: PackageNode = { isRule: false, children: new Map() }
  readonly #data: RegoObject

  constructor(rules: Iterable<DefinedRule>, data: RegoObject) {
    this.#data = data
    for (const { packagePath, path } of rules) {
      const node = [...packagePath, ...(path ?? [])].reduce(descend, this.#root)
      if (path !== undefined) node.isRule = true
    }
  }

  /** Follows a constant path through packages, rules and base documents. */
  find(path: readonly Segment[]): Lookup {
    let rules: PackageNode | undefined = this.#root
    let data: RegoValue | undefined = this.#data
    for (const [known, segment] of path.entries()) {
      if (rules?.isRule) break
      const nextRules: PackageNode | undefined =
        typeof segment === 'string' ? rules?.children.get(segment) : undefined
      // The last member is not read, since an array would be read completely.
      const isEnd = known === path.length - 1
      if (isEnd && (nextRules !== undefined || hasMember(data, segment))) break
      const nextData: RegoValue | undefined = isEnd ? undefined : memberOf(data, segment)
      if (nextRules === undefined && nextData === undefined)
        return { isDefined: false, known, names: namesIn(rules, data) }
      rules = nextRules
      data = nextData
    }
    return { isDefined: true, known: path.length, names: () => [] }
  }
}

function descend(node: PackageNode, segment: string): PackageNode {
  const present = node.children.get(segment)
  if (present !== undefined) return present
  const created: PackageNode = { isRule: false, children: new Map() }
  node.children.set(segment, created)
  return created
}

function memberOf(value: RegoValue | undefined, segment: Segment): RegoValue | undefined {
  if (value instanceof RegoObject) return value.get(keyOf(segment))
  if (Array.isArray(value) && typeof segment === 'number') return (value as readonly RegoValue[])[segment]
  return undefined
}

function hasMember(value: RegoValue | undefined, segment: Segment): boolean {
  return value instanceof RegoObject ? value.has(keyOf(segment)) : memberOf(value, segment) !== undefined
}

function keyOf(segment: Segment): RegoValue {
  return typeof segment === 'number' ? RegoNumber.of(segment) : segment
}

function namesIn(rules: PackageNode | undefined, data: RegoValue | undefined): Lookup['names'] {
  return () => [...(rules?.children.keys() ?? []), ...keysOf(data)]
}

function keysOf(value: RegoValue | undefined): string[] {
  // Reading millions of keys would block the thread that decides.
  if (!(value instanceof RegoObject) || value.size > MAX_NAMES) return []
  return value.keys.filter((key): key is string => typeof key === 'string')
}
