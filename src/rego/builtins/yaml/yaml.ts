import { AppError, toError } from '../../../errors/app-error.js'
import { MAX_NESTING } from '../../../lib/json/scan/nesting.js'
import { UNMETERED_WORK } from '../../metering/work-meter.js'
import { printJson } from '../../values/print-text.js'
import { RegoNumber, RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { passes } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { operand, stringOperand } from '../shared/operands.js'
import { readYaml } from './read-yaml.js'
import { writeYaml } from './write-yaml.js'

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

/**
 * Converts a YAML document to JSON like OPA. Takes seconds for hundreds of kilobytes, so it must
 * not run on the deciding thread. Throws `invalid` for a malformed or too deeply nested text,
 * before any recursion, and `too_large` if its aliases expand to more than `maxBytes` of JSON.
 */
export function yamlToJson(text: string, maxBytes: number): string {
  const value = read(text)
  if (minLength(value, maxBytes) > maxBytes) {
    throw new AppError(
      'too_large',
      `the YAML exceeds the limit of ${maxBytes} bytes after its aliases are expanded`,
    )
  }
  return printJson(value)
}

function read(text: string): RegoValue {
  try {
    return readYaml(text, UNMETERED_WORK)
  } catch (cause) {
    throw new AppError('invalid', toError(cause).message, { cause })
  }
}

function tooDeep(): AppError {
  return new AppError(
    'invalid',
    `the YAML is nested more than ${MAX_NESTING} levels deep after its aliases are expanded`,
  )
}

/** Returns a lower bound of the JSON length; stops counting at `limit`. */
function minLength(value: RegoValue, limit: number, level = 0): number {
  if (typeof value === 'string') return value.length
  if (value instanceof RegoNumber) return value.text.length
  if (typeof value !== 'object' || value === null) return 1
  const parts = value instanceof RegoObject ? value.entries.flat() : Array.isArray(value) ? value : []
  if (level > MAX_NESTING) throw tooDeep()
  let length = 1
  for (const part of parts) {
    length += 1 + minLength(part as RegoValue, limit - length, level + 1)
    if (length > limit) break
  }
  return length
}
