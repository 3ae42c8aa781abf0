import { RegoObject, RegoSet, typeName } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { BuiltinError } from './shared/builtin.js'
import type { Builtin, BuiltinTable } from './shared/builtin.js'
import { displayText } from './go-format/display-text.js'
import { goJsonText } from './encoding/json-text.js'
import type { JsonLayout } from './encoding/json-text.js'
import { quoteGoString } from './go-format/quote.js'
import { isArray, objectOperand, operand } from './shared/operands.js'
import { ensureResultLength } from './shared/call-costs.js'

const marshalWithOptions: Builtin = (args, { meter }) => {
  const value = operand(args, 0)
  const layout = readLayout(objectOperand(args, 1))
  if (layout === undefined) return goJsonText(value)
  const length = layoutLength(value, layout)
  ensureResultLength(length, meter)
  meter.spend(length)
  return layout.prefix + goJsonText(value, layout)
}

/** Undefined when nothing asks for more than one line; `prefix` or `indent` alone ask for it. */
function readLayout(options: RegoObject): JsonLayout | undefined {
  let pretty: boolean | undefined
  let prefix: string | undefined
  let indent: string | undefined
  for (const [index, [key, value]] of options.entries.entries()) {
    switch (optionName(key, index)) {
      case 'pretty':
        pretty = booleanOption(value)
        break
      case 'prefix':
        prefix = textOption('prefix', value)
        break
      case 'indent':
        indent = textOption('indent', value)
    }
  }
  const isPretty = pretty ?? (prefix !== undefined || indent !== undefined)
  return isPretty ? { prefix: prefix ?? '', indent: indent ?? '\t' } : undefined
}

function optionName(key: RegoValue, index: number): 'pretty' | 'prefix' | 'indent' {
  if (key === 'pretty' || key === 'prefix' || key === 'indent') return key
  if (typeof key === 'string') return fail(`object contained unknown key ${quoteGoString(key)}`)
  return fail(`failed to stringify key ${displayText(key)} at index ${index}: ${notAString(key)}`)
}

function booleanOption(value: RegoValue): boolean {
  return typeof value === 'boolean' ? value : fail('key "pretty" failed cast to bool')
}

function textOption(name: string, value: RegoValue): string {
  return typeof value === 'string' ? value : fail(`key "${name}" failed cast to string: ${notAString(value)}`)
}

function notAString(value: RegoValue): string {
  return `operand 0 must be string but got ${typeName(value)}`
}

function fail(problem: string): never {
  throw new BuiltinError(`operand 2 ${problem}`, 'eval_type_error')
}

/** The length of all indents and prefixes together: deep nesting multiplies a long one. */
function layoutLength(value: RegoValue, layout: JsonLayout, depth = 0): number {
  const line = layout.prefix.length + layout.indent.length * depth
  const below = (sum: number, item: RegoValue): number => sum + layoutLength(item, layout, depth + 1)
  if (value instanceof RegoObject) return value.entries.reduce((sum, [, item]) => below(sum, item), line)
  if (value instanceof RegoSet) return value.members.reduce(below, line)
  return isArray(value) ? value.reduce(below, line) : line
}

export const jsonMarshalBuiltins: BuiltinTable = { 'json.marshal_with_options': marshalWithOptions }
