import { RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { readJsonDocument } from './encoding/json-document.js'
import { BuiltinError } from './shared/builtin.js'
import type { Builtin, BuiltinContext, BuiltinTable } from './shared/builtin.js'
import { externalResult, memoise } from './shared/memoise.js'
import { stringOperand } from './shared/operands.js'

/** The emulated OPA release. */
const OPA_VERSION = '1.20.2'

/** Only OPA parses Rego. The evaluation ends, OPA is run, and the evaluation is repeated. */
export const PARSE_MODULE = 'rego.parse_module'

/** Cost in evaluation steps per character of a syntax tree that is parsed as JSON. */
const STEPS_PER_CHARACTER = 3

const parseModule: Builtin = (args, context) => {
  const result = externalResult(PARSE_MODULE, [stringOperand(args, 0), stringOperand(args, 1)], context)
  if ('failure' in result) throw new BuiltinError(result.failure.message)
  // The recorded result is the tree as JSON. It is parsed here, where the cost is charged.
  const json = typeof result.value === 'string' ? result.value : 'null'
  context.meter.spend(json.length * STEPS_PER_CHARACTER)
  return readJsonDocument(Buffer.from(json), 'decoder')
}

/** OPA shows its configuration and environment, which contain secrets, here. */
const RUNTIME = RegoObject.fromRecord({
  commit: '',
  config: new RegoObject([]),
  env: new RegoObject([]),
  version: OPA_VERSION,
})

function describeRuntime(args: readonly RegoValue[], context: BuiltinContext): RegoValue {
  return memoise('opa.runtime', args, context, () => RUNTIME)
}

/** Notes are for OPA's explanations, which compiled policies do not have. The note is dropped. */
function trace(args: readonly RegoValue[]): RegoValue {
  stringOperand(args, 0)
  return true
}

/** Access to the runtime: its version, tracing, and parsing of Rego. */
export const runtimeBuiltins: BuiltinTable = {
  'opa.runtime': describeRuntime,
  [PARSE_MODULE]: parseModule,
  trace,
}
