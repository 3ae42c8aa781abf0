import { readJsonDocument } from './encoding/json-document.js'
import { BuiltinError } from './shared/builtin.js'
import type { Builtin, BuiltinTable } from './shared/builtin.js'
import { askOutside } from './shared/memoise.js'
import { stringOperand } from './shared/operands.js'

/** Only OPA parses Rego: its program is run where the evaluation ends for want of the answer. */
export const PARSE_MODULE = 'rego.parse_module'

/** Steps for each character of a syntax tree that is read as JSON. */
const STEPS_PER_CHARACTER = 3

const parseModule: Builtin = (args, context) => {
  const result = askOutside(PARSE_MODULE, [stringOperand(args, 0), stringOperand(args, 1)], context)
  if ('failure' in result) throw new BuiltinError(result.failure.message)
  // What was found out is the tree as JSON: it is read here, where what that takes is counted.
  const json = typeof result.value === 'string' ? result.value : 'null'
  context.meter.spend(json.length * STEPS_PER_CHARACTER)
  return readJsonDocument(Buffer.from(json), 'decoder')
}

/** Built-ins that parse Rego. */
export const parseModuleBuiltins: BuiltinTable = { [PARSE_MODULE]: parseModule }
