import type { BuiltinTable } from './builtin.js'

/** Every built-in that the host gives to a policy module. */
export const hostBuiltins: BuiltinTable = {}
