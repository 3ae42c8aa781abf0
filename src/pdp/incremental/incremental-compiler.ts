import { stat } from 'node:fs/promises'

import { versionText } from '../../lib/file-version.js'
import { ShortTurns } from '../../lib/short-turns.js'
import { buildModule } from '../compile/build-module.js'
import type { BuildOptions, BuiltModule } from '../compile/build-module.js'
import type { RegoFile } from '../compile/collect-sources.js'
import { WHOLE_COMPILER } from '../compile/compile-policies.js'
import type { BuiltModules, Compiler, NewerModule } from '../compile/compile-policies.js'
import { listEntrypoints } from '../compile/rego-module.js'
import type { EntrypointKind, RegoModule } from '../compile/rego-module.js'
import { sourceNames } from '../compile/stage-bundle.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { findChanges } from './find-changes.js'
import type { ModuleChanges } from './find-changes.js'
import { ParsedModules } from './parsed-modules.js'

/** With more files all are compiled together: that takes hardly longer. */
const MOST_FILES = 100
/** What the names of files in the errors of the newer module start with. */
const PREFIX = 'newer-'
/** How far the compiler steps back behind decisions: while a save waits for it, and where nobody does. */
const NICENESS = 5
const CATCH_UP_NICENESS = 10

/** What a build is made of. */
interface BuildRequest {
  readonly opa: OpaProgram
  readonly modules: readonly RegoModule[]
  readonly keys: ReadonlyMap<string, EntrypointKind>
  readonly options: BuildOptions
}

interface Whole extends BuildRequest {
  readonly built: BuiltModule
}

interface NewerBuild {
  readonly modules: readonly RegoModule[]
  readonly keys: ReadonlyMap<string, EntrypointKind>
  readonly built: BuiltModule
}

/**
 * Compiles what has changed since all was compiled, and what depends on it or is needed for it, to a module of its own, which is asked
 * for these rules instead. That serves until all has been compiled once more (`catchUp`). Sets of policies whose documents have code of
 * their own, which are the small ones, are compiled as a whole each time.
 */
export class IncrementalCompiler implements Compiler {
  readonly #parsed = new ParsedModules()
  #program: { readonly opa: OpaProgram; readonly version: string } | undefined
  #whole: Whole | undefined
  #includesPrint = false
  #newer: NewerBuild | undefined
  /** What is served without having been compiled as a whole. */
  #ahead: BuildRequest | undefined

  /** Whether part of what was built last has not been compiled together with the rest. */
  get isBehind(): boolean {
    return this.#ahead !== undefined
  }

  /**
   * Has all that was built last compiled as a whole, for the next build to begin with. Raises as `buildModule`; the next build is a whole
   * one then.
   */
  async catchUp(): Promise<void> {
    const request = this.#ahead
    if (request === undefined) return
    const before = this.#whole
    const opa = { ...request.opa, niceness: CATCH_UP_NICENESS }
    try {
      const built = await buildModule(opa, request.modules, request.keys, request.options)
      // What was built as a whole meanwhile is newer.
      if (this.#whole === before) this.#whole = { ...request, built }
    } catch (raw) {
      this.#setWhole(undefined)
      throw raw
    }
  }

  /** As `readModules`, of files that have changed. */
  readonly parse = async (opa: OpaProgram, files: readonly RegoFile[]): Promise<RegoModule[]> =>
    await this.#parsed.parse(await this.#known(opa), files)

  /** As `buildModule`, of what has changed. */
  readonly build: Compiler['build'] = async (program, modules, keys, options) => {
    const request: BuildRequest = { opa: await this.#known(program), modules, keys, options }
    this.#includesPrint = options.includesPrint ?? false
    const ofChanges = await this.#buildChanges(request)
    if (ofChanges !== undefined) return ofChanges
    const { opa } = request
    if (keys.size <= options.mostEntrypoints) {
      this.#setWhole(undefined)
      return await WHOLE_COMPILER.build(this.#behind(opa), modules, keys, options)
    }
    const built = await buildModule(this.#behind(opa), modules, keys, options)
    this.#setWhole({ ...request, built })
    return describe(built, modules)
  }

  #setWhole(whole: Whole | undefined): void {
    this.#whole = whole
    this.#newer = undefined
    this.#ahead = undefined
  }

  /** Only the first build is waited for by nobody's decisions. */
  #behind(opa: OpaProgram): OpaProgram {
    return this.#whole === undefined ? opa : { ...opa, niceness: NICENESS }
  }

  async #buildChanges(request: BuildRequest): Promise<BuiltModules | undefined> {
    const whole = this.#whole
    if (whole === undefined || !canFollow(whole, request)) return undefined
    const turns = new ShortTurns()
    const changes = findChanges(whole.modules, request.modules, MOST_FILES)
    if (changes === undefined) return undefined
    await turns.pause()
    const before = describe(whole.built, whole.modules)
    if (changes.before.length + changes.now.length === 0) {
      this.#setWhole(whole)
      return before
    }
    const newer = await this.#buildNewer(request, changes)
    if (newer === undefined) return undefined
    this.#ahead = request
    return { ...before, sourceNames: new Map([...before.sourceNames, ...newer.sourceNames]), newer }
  }

  async #buildNewer(
    { opa }: BuildRequest,
    { before, now, compiled }: ModuleChanges,
  ): Promise<(NewerModule & Pick<BuiltModules, 'sourceNames'>) | undefined> {
    const keys = listEntrypoints(now)
    const rules = ruleKeys(keys)
    const replaced = new Set([...ruleKeys(listEntrypoints(before)), ...rules])
    if (now.length === 0)
      return { wasm: undefined, paths: new Map(), rules, replaced, sourceNames: new Map() }
    // Without a rule there is nothing to build, and mistakes would not be found.
    if (rules.size === 0) return undefined
    const built = await this.#buildOnce({ ...opa, niceness: NICENESS }, compiled, keys)
    if (!built.isByRule) return undefined
    return {
      wasm: built.wasm,
      paths: built.paths,
      rules,
      replaced,
      sourceNames: sourceNames(compiled, PREFIX),
    }
  }

  /** The same modules are built once: data may change, or files that no rule is in. */
  async #buildOnce(
    opa: OpaProgram,
    modules: readonly RegoModule[],
    keys: ReadonlyMap<string, EntrypointKind>,
  ): Promise<BuiltModule> {
    const known = this.#newer
    if (
      known !== undefined &&
      isSame([...known.keys.keys()], [...keys.keys()]) &&
      isSame(known.modules, modules)
    )
      return known.built
    const built = await buildModule(opa, modules, keys, {
      mostEntrypoints: 0,
      prefix: PREFIX,
      includesPrint: this.#includesPrint,
    })
    this.#newer = { modules, keys, built }
    return built
  }

  /** The program as it was known, as long as its file is the same. */
  async #known(opa: OpaProgram): Promise<OpaProgram> {
    const version = versionText(await stat(opa.path))
    if (this.#program?.opa.path === opa.path && this.#program.version === version) return this.#program.opa
    this.#program = { opa, version }
    return opa
  }
}

function isSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((item, place) => item === others[place])
}

function canFollow(whole: Whole, { opa, keys, options }: BuildRequest): boolean {
  return (
    whole.built.isByRule &&
    whole.opa === opa &&
    whole.options.mostEntrypoints === options.mostEntrypoints &&
    keys.size > options.mostEntrypoints
  )
}

function describe({ wasm, paths }: BuiltModule, modules: readonly RegoModule[]): BuiltModules {
  return { wasm, paths, sourceNames: sourceNames(modules) }
}

function ruleKeys(keys: ReadonlyMap<string, EntrypointKind>): Set<string> {
  return new Set([...keys].flatMap(([key, kind]) => (kind === 'rule' ? [key] : [])))
}
