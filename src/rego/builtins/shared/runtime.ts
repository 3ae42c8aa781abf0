import { RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import type { BuiltinContext, BuiltinTable } from './builtin.js'
import { memoise } from './memoise.js'
import { stringOperand } from './operands.js'

/** The OPA release whose language and built-ins these are. */
const OPA_VERSION = '1.20.2'

/** What a policy may learn of the process that runs it, and say to it. */
export const runtimeBuiltins: BuiltinTable = {
  'opa.runtime': describeRuntime,
  trace,
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
