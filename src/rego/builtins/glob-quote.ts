import type { Builtin, BuiltinTable } from './shared/builtin.js'
import { stringOperand } from './shared/operands.js'

const quoteMeta: Builtin = (args) => stringOperand(args, 0).replace(/[*?\\[\]{}]/g, '\\$&')

export const globQuoteBuiltins: BuiltinTable = { 'glob.quote_meta': quoteMeta }
