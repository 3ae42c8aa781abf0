import { readYaml } from './read-yaml.js'
import { writeYaml } from './write-yaml.js'
import { passes } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { operand, stringOperand } from '../shared/operands.js'

const marshal: Builtin = (args, { meter }) => writeYaml(operand(args, 0), meter)

const unmarshal: Builtin = (args, { meter }) => readYaml(stringOperand(args, 0), meter)

const isValid: Builtin = (args, { meter }) => {
  const text = operand(args, 0)
  return typeof text === 'string' && passes(() => readYaml(text, meter))
}

export const yamlBuiltins: BuiltinTable = {
  'yaml.is_valid': isValid,
  'yaml.marshal': marshal,
  'yaml.unmarshal': unmarshal,
}
