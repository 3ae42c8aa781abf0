import { AppError } from '../../../errors/app-error.js'
import type { Builtin, Builtins, BuiltinTable } from './builtin.js'

/** Built-ins of these names, which are loaded when they are first prepared. */
export function makeLazyFamily(names: readonly string[], load: () => Promise<BuiltinTable>): Builtins {
  let loading: Promise<BuiltinTable> | undefined
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
      if (called.some((name) => names.includes(name))) loaded = await (loading ??= load())
    },
  }
}
