import { toError } from '../../errors.js'
import type { RegoValue } from '../rego/value.js'
import { BuiltinError } from './builtin.js'
import type { Builtin, BuiltinTable } from './builtin.js'
import { operand, stringOperand } from './operands.js'
import { readYaml } from './yaml/read-yaml.js'
import { writeYaml } from './yaml/write-yaml.js'

const marshal: Builtin = (args) => guarded(() => writeYaml(operand(args, 0)))

const unmarshal: Builtin = (args) => {
  const text = stringOperand(args, 0)
  return guarded(() => readYaml(text))
}

const isValid: Builtin = (args) => {
  const text = operand(args, 0)
  if (typeof text !== 'string') return false
  try {
    readYaml(text)
    return true
  } catch {
    return false
  }
}

/** Reading and writing recurse, so that deep nesting ends in a stack overflow. */
function guarded<T extends RegoValue>(run: () => T): T {
  try {
    return run()
  } catch (raw) {
    throw raw instanceof BuiltinError ? raw : new BuiltinError(`yaml: ${toError(raw).message}`)
  }
}

export const yamlBuiltins: BuiltinTable = {
  'yaml.is_valid': isValid,
  'yaml.marshal': marshal,
  'yaml.unmarshal': unmarshal,
}
