import { stat } from 'node:fs/promises'

import { versionText } from '../../lib/file-version.js'
import { buildModule } from '../compile/build-module.js'
import type { BuildOptions, BuiltModule } from '../compile/build-module.js'
import type { RegoFile } from '../compile/collect-sources.js'
import { wholeCompiler } from '../compile/compile-policies.js'
import type { BuiltModules, Compiler } from '../compile/compile-policies.js'
import { listEntrypoints } from '../compile/rego-module.js'
import type { EntrypointKind, RegoModule } from '../compile/rego-module.js'
import { sourceNames } from '../compile/stage-bundle.js'
import type { BuildModule } from '../compile/kept-builds.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { findChanges } from './find-changes.js'
import type { ChangeLimits } from './find-changes.js'
import { GroupBuilds, ruleKeys } from './group-builds.js'
import { ParsedModules } from './parsed-modules.js'

/** OPA takes more than twice as long for twice as many packages, and groups are compiled side by side. */
const LIMITS: ChangeLimits = { filesOfGroup: 300, groups: 8 }
/** Each module has a copy of the base documents; with so many bytes of them all changes are one module. */
const MUCH_DATA = 4 * 1024 * 1024
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

/**
 * Compiles what has changed since all was compiled, and what depends on it or is needed for it, to a module of its own, or to several
 * side by side where that is much, which are asked for these rules instead. That serves until all has been compiled once more (`catchUp`). Sets of policies whose documents have code of
 * their own, which are the small ones, are compiled as a whole each time.
 */
export class IncrementalCompiler implements Compiler {
  readonly #parsed = new ParsedModules()
  #program: { readonly opa: OpaProgram; readonly version: string } | undefined
  #whole: Whole | undefined
  /** Whether anything has been built: decisions are made with it while the next build is under way. */
  #hasBuilt = false
  readonly #newer: GroupBuilds
  readonly #limits: ChangeLimits
  readonly #prepare: ((wasm: Uint8Array) => void) | undefined
  readonly #buildWhole: BuildModule
  readonly #small: Compiler
  /** What is served without having been compiled as a whole. */
  #ahead: BuildRequest | undefined

  /** `prepare` is given each module of several as soon as it is built, before all are, and what has been compiled as a whole; `buildWhole` compiles that. */
  constructor(prepare?: (wasm: Uint8Array) => void, limits = LIMITS, buildWhole: BuildModule = buildModule) {
    this.#prepare = prepare
    this.#buildWhole = buildWhole
    this.#small = wholeCompiler(buildWhole)
    this.#newer = new GroupBuilds(prepare)
    this.#limits = limits
  }

  /** Whether part of what was built last has not been compiled together with the rest. */
  get isBehind(): boolean {
    return this.#ahead !== undefined
  }

  /**
   * Has all that was built last compiled as a whole, for the next build to begin with. Raises as `buildModule`; the next build is a whole
   * one then, unless `signal` was aborted, which leaves everything as it was.
   */
  async catchUp(signal: AbortSignal): Promise<void> {
    const request = this.#ahead
    if (request === undefined) return
    const before = this.#whole
    const opa = { ...request.opa, niceness: CATCH_UP_NICENESS, signal }
    try {
      const built = await this.#buildWhole(opa, request.modules, request.keys, request.options)
      // What was built as a whole meanwhile is newer.
      if (this.#whole !== before) return
      this.#whole = { ...request, built }
      this.#prepare?.(built.wasm)
    } catch (raw) {
      if (!signal.aborted) this.#setWhole(undefined)
      throw raw
    }
  }

  /** As `readModules`, of files that have changed. */
  readonly parse = async (opa: OpaProgram, files: readonly RegoFile[]): Promise<RegoModule[]> =>
    await this.#parsed.parse(await this.#known(opa), files)

  /** As `buildModule`, of what has changed. */
  readonly build: Compiler['build'] = async (program, modules, keys, options) => {
    const request: BuildRequest = { opa: await this.#known(program), modules, keys, options }
    const ofChanges = await this.#buildChanges(request)
    if (ofChanges !== undefined) return ofChanges
    const { opa } = request
    if (keys.size <= options.mostEntrypoints) {
      this.#setWhole(undefined)
      const small = await this.#small.build(this.#behind(opa), modules, keys, options)
      this.#hasBuilt = true
      return small
    }
    const built = await this.#buildWhole(this.#behind(opa), modules, keys, options)
    this.#setWhole({ ...request, built })
    return describe(built, modules)
  }

  #setWhole(whole: Whole | undefined): void {
    this.#whole = whole
    this.#hasBuilt ||= whole !== undefined
    this.#newer.clear()
    this.#ahead = undefined
  }

  /** Only the first build is waited for by nobody's decisions. */
  #behind(opa: OpaProgram): OpaProgram {
    return this.#hasBuilt ? { ...opa, niceness: NICENESS } : opa
  }

  async #buildChanges(request: BuildRequest): Promise<BuiltModules | undefined> {
    const whole = this.#whole
    if (whole === undefined || !canFollow(whole, request)) return undefined
    const { dataBytes = 0, includesPrint = false } = request.options
    const groups = dataBytes > MUCH_DATA ? 1 : this.#limits.groups
    const changes = await findChanges(whole.modules, request.modules, { ...this.#limits, groups })
    if (changes === undefined) return undefined
    const before = describe(whole.built, whole.modules)
    if (changes.before.length + changes.groups.length === 0) {
      this.#setWhole(whole)
      return before
    }
    const opa = { ...request.opa, niceness: NICENESS }
    const modules = await this.#newer.build(opa, changes.groups, includesPrint)
    if (modules === undefined) return undefined
    this.#ahead = request
    return {
      ...before,
      sourceNames: new Map([before, ...modules].flatMap(({ sourceNames: names }) => [...names])),
      newer: {
        modules,
        replaced: new Set([
          ...ruleKeys(listEntrypoints(changes.before)),
          ...modules.flatMap(({ rules }) => [...rules]),
        ]),
      },
    }
  }

  /** The program as it was known, as long as its file is the same. */
  async #known(opa: OpaProgram): Promise<OpaProgram> {
    const version = versionText(await stat(opa.path))
    if (this.#program?.opa.path === opa.path && this.#program.version === version) return this.#program.opa
    this.#program = { opa, version }
    return opa
  }
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
