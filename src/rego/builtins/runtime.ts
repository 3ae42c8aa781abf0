import { RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { readJsonDocument } from './encoding/json-document.js'
import { BuiltinError } from './shared/builtin.js'
import type { Builtin, BuiltinContext, BuiltinTable } from './shared/builtin.js'
import { askOutside, memoise } from './shared/memoise.js'
import { stringOperand } from './shared/operands.js'

/** The OPA release whose language and built-ins these are. */
const OPA_VERSION = '1.20.2'

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

/** OPA shows its configuration and its whole environment here; those hold secrets, so a policy sees neither. */
const RUNTIME = RegoObject.fromRecord({
  commit: '',
  config: new RegoObject([]),
  env: new RegoObject([]),
  version: OPA_VERSION,
})

function describeRuntime(args: readonly RegoValue[], context: BuiltinContext): RegoValue {
  return memoise('opa.runtime', args, context, () => RUNTIME)
}

/** Notes are for OPA's explanations, which a compiled policy cannot give: the note is dropped. */
function trace(args: readonly RegoValue[]): RegoValue {
  stringOperand(args, 0)
  return true
}

/** What a policy may learn of the process that runs it, and say to it. */
export const runtimeBuiltins: BuiltinTable = {
  'opa.runtime': describeRuntime,
  [PARSE_MODULE]: parseModule,
  trace,
}
