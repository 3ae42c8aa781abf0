import { availableParallelism } from 'node:os'

import { AppError } from '../../errors/app-error.js'
import { buildModule } from '../compile/build-module.js'
import type { BuiltModule } from '../compile/build-module.js'
import type { BuiltModules, NewerModule } from '../compile/compile-policies.js'
import { listEntrypoints } from '../compile/rego-module.js'
import type { EntrypointKind, RegoModule } from '../compile/rego-module.js'
import { sourceNames } from '../compile/stage-bundle.js'
import type { OpaProgram } from '../opa/find-opa.js'
import type { ModuleGroup } from './find-changes.js'

/** What the names of files in the errors of a newer module start with, before its place. */
const PREFIX = 'newer'

export type BuiltGroup = NewerModule & Pick<BuiltModules, 'sourceNames'>

/** What a group is built of, and asked for. */
interface Asked {
  readonly modules: readonly RegoModule[]
  readonly keys: ReadonlyMap<string, EntrypointKind>
  readonly rules: ReadonlySet<string>
}

interface Build extends Asked {
  readonly built: BuiltModule
}

/** Builds groups of modules, and remembers the builds of the last ones: data may change, or files that no rule is in, or one group of several. */
export class GroupBuilds {
  #known: readonly Build[] = []
  readonly #prepare: (wasm: Uint8Array) => void

  /** `prepare` is given each module as soon as it is built, before all are. */
  constructor(prepare: (wasm: Uint8Array) => void = () => undefined) {
    this.#prepare = prepare
  }

  /** Forgets what was built. */
  clear(): void {
    this.#known = []
  }

  /**
   * A module for each group. Undefined where only compiling all together can do it, or tell all that is wrong; of one group alone it
   * raises as `buildModule`. Once one fails, no other is compiled any further.
   */
  async build(
    opa: OpaProgram,
    groups: readonly ModuleGroup[],
    includesPrint: boolean,
  ): Promise<BuiltGroup[] | undefined> {
    const asked = askedOf(groups)
    // Without a rule there is nothing to build, and mistakes would not be found.
    if (asked.some(({ rules }) => rules.size === 0)) return undefined
    const builds: Build[] = []
    const left = asked.entries()
    const end = new AbortController()
    const program = { ...opa, signal: end.signal }
    const buildNext = async (): Promise<void> => {
      for (const [place, of] of left) {
        const built = await this.#buildOnce(program, of, place, includesPrint)
        builds[place] = { ...of, built }
        this.#prepare(built.wasm)
      }
    }
    try {
      await Promise.all(Array.from({ length: availableParallelism() }, buildNext))
    } catch (raw) {
      end.abort()
      if (groups.length > 1 && raw instanceof AppError && raw.kind === 'invalid') return undefined
      throw raw
    }
    this.#known = builds
    if (!builds.every(({ built }) => built.isByRule)) return undefined
    return builds.map(({ built: { wasm, paths }, rules, modules }, place) => {
      return { wasm, paths, rules, sourceNames: sourceNames(modules, prefixOf(place)) }
    })
  }

  async #buildOnce(
    opa: OpaProgram,
    { modules, keys }: Asked,
    place: number,
    includesPrint: boolean,
  ): Promise<BuiltModule> {
    // Its place is in the names of its files.
    const known = this.#known[place]
    if (
      known !== undefined &&
      isSame([...known.keys.keys()], [...keys.keys()]) &&
      isSame(known.modules, modules)
    )
      return known.built
    return await buildModule(opa, modules, keys, {
      mostEntrypoints: 0,
      prefix: prefixOf(place),
      includesPrint,
    })
  }
}

function prefixOf(place: number): string {
  return `${PREFIX}${place}-`
}

/** A rule may have parts in files of two groups, each of which has all of them: the first is asked. */
function askedOf(groups: readonly ModuleGroup[]): Asked[] {
  const taken = new Set<string>()
  return groups.map(({ now, compiled: modules }) => {
    const keys = listEntrypoints(now)
    const rules = new Set([...ruleKeys(keys)].filter((key) => !taken.has(key)))
    for (const key of rules) taken.add(key)
    return { modules, keys, rules }
  })
}

/** The keys of rules among those of paths. */
export function ruleKeys(keys: ReadonlyMap<string, EntrypointKind>): Set<string> {
  return new Set([...keys].flatMap(([key, kind]) => (kind === 'rule' ? [key] : [])))
}

function isSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((item, place) => item === others[place])
}
