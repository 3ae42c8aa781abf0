import { AppError } from '../../../errors/app-error.js'
import { partOnDemand } from '../../../lib/on-demand.js'
import type { Builtin, Builtins, BuiltinTable } from './builtin.js'

/** Built-ins of these names, which are loaded when they are first prepared. */
export function makeLazyFamily(names: readonly string[], loadTable: () => Promise<BuiltinTable>): Builtins {
  const load = partOnDemand(loadTable)
  let loaded: BuiltinTable | undefined
  const builtin =
    (name: string): Builtin =>
    (args, context) => {
      const found = loaded?.[name]
      if (found === undefined) throw new AppError('internal', `${name} is called before it was loaded`)
      return found(args, context)
    }
  return {
    table: Object.fromEntries(names.map((name) => [name, builtin(name)])),
    prepare: async (called) => {
      if (called.some((name) => names.includes(name))) loaded = await load()
    },
  }
}
