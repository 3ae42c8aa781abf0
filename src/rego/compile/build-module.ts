import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError } from '../../errors/app-error.js'
import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import { MODULE_FILE } from '../archive/manifest.js'
import { unpackOne } from '../archive/pack-files.js'
import { capabilityFlags } from '../opa/capabilities.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { opaRegoVersion } from '../opa/opa-release.js'
import { runOffline } from '../opa/run-offline.js'
import { runOpa } from '../opa/run-opa.js'
import type { OpaRun } from '../opa/run-opa.js'
import { integerSegment } from '../values/data-path.js'
import { pathKey, pathOfKey } from '../values/path-key.js'
import { RegoObject } from '../values/value.js'
import { listRules } from '../wasm/module/export-rules.js'
import { compileError, readOpaErrors, withNearNames, withTypes } from '../modules/opa-errors.js'
import { GENERATED_FILE, KEEPING_ENTRYPOINT, generateRules } from '../modules/generated-entrypoints.js'
import { keepPrintCalls } from '../workarounds/dropped-print-calls.js'
import type { EntrypointKind, RegoModule } from '../modules/rego-module.js'
import { orderModifiers } from '../workarounds/modifier-order.js'
import { refuseUnreadRules } from '../modules/read-modules.js'
import { withoutLosses } from '../workarounds/plan-losses.js'
import {
  BUNDLE_FILE,
  bundleFiles,
  environmentFor,
  sourceFiles,
  stagedName,
  writeBundle,
} from '../modules/stage-bundle.js'
import type { BundledFiles } from '../modules/stage-bundle.js'
import { SECTION, readSections } from '../wasm/binary/sections.js'

/** A compiled module with its entrypoints. */
export interface BuiltModule {
  readonly wasm: Uint8Array
  /** The key of each path by the name of its entrypoint. */
  readonly paths: ReadonlyMap<string, string>
}

export type BuildModule = typeof buildModule

/** Code does not depend on data. Conflicts of data with rules are checked before. */
const NO_DATA = new RegoObject([])
/**
 * Largest number of entrypoints. The time of `opa build` and the code size grow with its square.
 */
export const MAX_ENTRYPOINTS = 200
/**
 * Limit for modules that other programs load. Larger modules take minutes to build, and engines
 * reject them.
 */
export const MAX_PORTABLE_ENTRYPOINTS = 1000

export interface BuildOptions {
  /** The number of entrypoints above which the module gets one entrypoint for all rules. */
  readonly maxEntrypoints: number
  /** True if calls of `print` are compiled. */
  readonly includesPrint?: boolean | undefined
}

/** The common parameters of all builds of one set of policies. */
interface Staged {
  readonly opa: OpaProgram
  readonly modules: readonly RegoModule[]
  /** The directory for temporary archives. */
  readonly directory: string
  readonly files: BundledFiles
  readonly flags: readonly string[]
}

/**
 * Compiles modules to WASM so that every key can be evaluated. Up to `maxEntrypoints` keys get an
 * entrypoint each. Otherwise one entrypoint refers to all rules, which are called as functions, and
 * documents are composed from them. A path that `opa build` cannot name gets a generated rule. OPA
 * 0.70 refuses an entrypoint if functions below it call each other; then every path gets a
 * generated rule. Raises `invalid` with file, line, column and OPA's message for each problem.
 */
export async function buildModule(
  opa: OpaProgram,
  modules: readonly RegoModule[],
  keys: ReadonlyMap<string, EntrypointKind>,
  { includesPrint = false, ...options }: BuildOptions,
): Promise<BuiltModule> {
  if (!includesPrint) return await buildFlagged(opa, modules, keys, options)
  if ((await opaRegoVersion(opa)) === 1)
    return await buildFlagged(opa, modules, keys, options, ['--wasm-include-print'])
  const printing = await keepPrintCalls(modules)
  if (printing !== modules) {
    try {
      return await buildFlagged(opa, printing, keys, options)
    } catch (raw) {
      // The build of the original modules reports the errors.
      if (!(raw instanceof AppError) || raw.kind !== 'invalid') throw raw
    }
  }
  return await buildFlagged(opa, modules, keys, options)
}

async function buildFlagged(
  opa: OpaProgram,
  modules: readonly RegoModule[],
  keys: ReadonlyMap<string, EntrypointKind>,
  { maxEntrypoints }: BuildOptions,
  flags: readonly string[] = [],
): Promise<BuiltModule> {
  return await inTemporaryDirectoryBelow(opa.temporaryFolder, async (directory) => {
    const toSource = sourceFiles(modules)
    const filesOf = (texts: readonly RegoModule[]): BundledFiles =>
      bundleFiles(texts, NO_DATA, stagedName, '')
    const ordered = await orderModifiers(modules)
    const written = { opa, modules, directory, files: filesOf(ordered), flags }
    const files = await withoutLosses({
      ...{ opa, directory, files: written.files, modules: ordered, filesOf, toSource },
      packagesOf: (some) => packagesOf(some, keys),
      refuseMistakes: async () => {
        await buildForAll(written, toSource, [...keys.keys()])
      },
    })
    const staged = { ...written, files }
    const forRules =
      keys.size <= maxEntrypoints ? undefined : await buildForRules(staged, keys, packagesOf(modules, keys))
    const built = forRules ?? (await buildForAll(staged, toSource, [...keys.keys()]))
    refuseUnreadRules(modules, built.wasm)
    return built
  })
}

/** Returns the keys of the modules' packages that are among `keys`. */
function packagesOf(modules: readonly RegoModule[], keys: ReadonlyMap<string, EntrypointKind>): string[] {
  const packages = new Set(modules.map(({ packagePath }) => pathKey(packagePath)))
  return [...packages].filter((key) => keys.has(key))
}

/**
 * Builds with one entrypoint for all rules; undefined if OPA does not compile it, or if rules
 * cannot be called as functions.
 */
async function buildForRules(
  staged: Staged,
  keys: ReadonlyMap<string, EntrypointKind>,
  packages: readonly string[],
): Promise<BuiltModule | undefined> {
  const rules = [...keys].flatMap(([key, kind]) => (kind === 'rule' ? [key] : []))
  const first = await build(staged, { kept: packages })
  if (typeof first.outcome === 'string') return undefined
  const callable = new Set(listRules(first.outcome))
  const missing = rules.filter((key) => !callable.has(key))
  if (missing.length === 0) return { wasm: first.outcome, paths: first.paths }
  const second = await build(staged, { kept: packages, forwarded: missing })
  if (typeof second.outcome === 'string') return undefined
  return { wasm: second.outcome, paths: second.paths }
}

async function buildForAll(
  staged: Staged,
  toSource: (compiledName: string) => string,
  keys: readonly string[],
): Promise<BuiltModule> {
  const unspellable = keys.filter((key) => !isSpellable(key))
  const direct = keys
    // The root document would contain the generated rules.
    .filter((key) => isSpellable(key) && (key !== '' || unspellable.length === 0))
    .map((key) => [pathOfKey(key).join('/'), key] as const)
  const first = await build(staged, { direct, forwarded: unspellable })
  if (typeof first.outcome !== 'string') return { wasm: first.outcome, paths: first.paths }

  const second = await build(staged, { forwarded: keys })
  if (typeof second.outcome !== 'string') return { wasm: second.outcome, paths: second.paths }
  await refuseMistakes(staged, toSource, first.run)
  throw compileError(readOpaErrors(first.run, toSource))
}

/**
 * Raises the errors of `opa check`, which have columns, with the type details of the refused build.
 */
async function refuseMistakes(
  { opa, modules, directory: cwd, files }: Staged,
  toSource: (compiledName: string) => string,
  refused?: OpaRun,
): Promise<void> {
  const check = await checkFiles({ opa, directory: cwd, files })
  if (check.exitCode === 0) return
  const errors = await withNearNames(readOpaErrors(check, toSource), modules, opa)
  throw compileError(refused === undefined ? errors : withTypes(errors, refused, toSource))
}

async function checkFiles({
  opa,
  directory: cwd,
  files,
}: Pick<Staged, 'opa' | 'directory' | 'files'>): Promise<OpaRun> {
  await writeBundle(cwd, files)
  const flags = ['--format', 'json', '--bundle', BUNDLE_FILE]
  return await runOffline(opa, { command: 'check', flags }, { cwd })
}

interface Entrypoints {
  /** Paths that `opa build` can name, with their keys. */
  readonly direct?: readonly (readonly [name: string, key: string])[]
  /** Keys of paths that get a generated rule. */
  readonly forwarded?: readonly string[]
  /** Keys of packages to compile without an entrypoint of their own. */
  readonly kept?: readonly string[]
}

interface Build {
  readonly run: OpaRun
  readonly outcome: Uint8Array | 'refused'
  readonly paths: ReadonlyMap<string, string>
}

async function build(
  { opa, directory: cwd, files, flags }: Staged,
  { direct = [], forwarded = [], kept = [] }: Entrypoints,
): Promise<Build> {
  const generated = generateRules(forwarded, kept)
  const hasGenerated = generated.paths.size > 0 || kept.length > 0
  await writeBundle(cwd, hasGenerated ? [...files, [GENERATED_FILE, generated.text]] : files)
  const paths = new Map([...direct, ...generated.paths])
  const output = 'built.tar.gz'
  const names = [...paths.keys(), ...(kept.length > 0 ? [KEEPING_ENTRYPOINT] : [])]
  const run = await runOpa(
    opa,
    [
      ...['build', '--target', 'wasm', '--bundle', BUNDLE_FILE, '--output', output, ...flags],
      ...(await capabilityFlags(cwd, opa.capabilities)),
      ...names.flatMap((name) => ['--entrypoint', name]),
    ],
    { cwd, env: environmentFor(files) },
  )
  const wasm =
    run.exitCode === 0 ? await unpackOne(await readFile(join(cwd, output)), MODULE_FILE) : undefined
  if (wasm === undefined) return { run, outcome: 'refused', paths }
  const named = nameByPaths(wasm, generated.paths)
  return { run, outcome: named.wasm, paths: new Map([...direct, ...named.paths]) }
}

/**
 * Renames generated entrypoints to the paths that they refer to, for other programs. Paths with
 * slashes or empty segments keep the generated name.
 */
function nameByPaths(
  wasm: Uint8Array,
  generated: ReadonlyMap<string, string>,
): Pick<BuiltModule, 'wasm' | 'paths'> {
  const names = [...generated].flatMap(([name, key]) => {
    const path = pathOfKey(key)
    return path.every((segment) => segment !== '' && !/[/\0]/.test(segment))
      ? [[name, path.join('/')] as const]
      : []
  })
  const { wasm: named, renamed } = renameEntrypoints(wasm, new Map(names))
  const byPath = new Map(names.filter(([name]) => renamed.has(name)))
  return { wasm: named, paths: new Map([...generated].map(([name, key]) => [byPath.get(name) ?? name, key])) }
}

/**
 * True if `opa build --entrypoint` can name a path. It splits at slashes, parses digits as numbers
 * and skips empty segments at the ends; arguments cannot contain NUL.
 */
function isSpellable(key: string): boolean {
  return pathOfKey(key).every(
    (segment) => segment !== '' && !/[/\0]/.test(segment) && integerSegment(segment) === undefined,
  )
}

/**
 * Renames entrypoints in a copy of a module. OPA's modules store the names once each, as
 * NUL-terminated strings in their data, and measure them at run time, so a new name must not be
 * longer. Names that do not fit are kept. `names` maps old to new names; `renamed` has the old
 * names that were replaced.
 */
export function renameEntrypoints(
  wasm: Uint8Array,
  names: ReadonlyMap<string, string>,
): { wasm: Uint8Array; renamed: ReadonlySet<string> } {
  const copy = Buffer.from(wasm)
  const data = readSections(wasm).find(({ id }) => id === SECTION.data)
  const renamed = new Set<string>()
  if (data === undefined) return { wasm, renamed }
  const texts = copy.subarray(data.start, data.end)
  for (const [from, to] of names) {
    const [old, next] = [Buffer.from(`\0${from}\0`), Buffer.from(`\0${to}\0`)]
    const at = texts.indexOf(old)
    if (at === -1 || next.length > old.length || texts.includes(old, at + 1)) continue
    next.copy(texts, at)
    renamed.add(from)
  }
  return { wasm: copy, renamed }
}
