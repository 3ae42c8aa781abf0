import { goJsonString } from '../../../lib/json/text/escape.js'
import { compareStrings } from '../../../lib/text/compare-strings.js'
import { RegoNumber, RegoObject, RegoSet, typeName } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { displayText } from '../go-format/display-text.js'
import { quoteGoString } from '../go-format/quote.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { ensureResultLength } from '../shared/call-costs.js'
import { isArray, objectOperand, operand } from '../shared/operands.js'
import { printGoJson } from '../../values/print-go-json.js'

/** The layout of nested values. */
interface JsonLayout {
  readonly prefix: string
  readonly indent: string
}

/** Prints a value like Go's json.MarshalIndent. `newLine` begins each line. */
function layOut(value: RegoValue, layout: JsonLayout, newLine = `\n${layout.prefix}`): string {
  if (typeof value === 'string' || value === null || typeof value === 'boolean') return printGoJson(value)
  if (value instanceof RegoNumber) return value.text
  const inner = newLine + layout.indent
  if (value instanceof RegoObject) {
    const members = membersByText(value).map(
      ([key, item]) => `${goJsonString(key)}: ${layOut(item, layout, inner)}`,
    )
    return enclose('{', members, '}', inner, newLine)
  }
  const items = value instanceof RegoSet ? value.members : value
  return enclose(
    '[',
    items.map((item) => layOut(item, layout, inner)),
    ']',
    inner,
    newLine,
  )
}

function enclose(
  open: string,
  items: readonly string[],
  close: string,
  inner: string,
  newLine: string,
): string {
  return items.length === 0 ? open + close : open + inner + items.join(`,${inner}`) + newLine + close
}

/**
 * Returns the members of an object sorted by key text. A key that is not a string becomes its JSON
 * text; the last of equal texts is kept.
 */
export function membersByText(object: RegoObject): readonly (readonly [key: string, value: RegoValue])[] {
  const members = new Map<string, RegoValue>()
  for (const [key, value] of object.entries) {
    members.set(typeof key === 'string' ? key : printGoJson(key), value)
  }
  return [...members].sort(([a], [b]) => compareStrings(a, b))
}

const marshalWithOptions: Builtin = (args, { meter }) => {
  const value = operand(args, 0)
  const layout = readLayout(objectOperand(args, 1))
  if (layout === undefined) return printGoJson(value)
  const length = layoutLength(value, layout)
  ensureResultLength(length, meter)
  meter.spend(length)
  return layout.prefix + layOut(value, layout)
}

/** Returns undefined for a single line. `prefix` or `indent` alone imply several lines. */
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

/** Returns the total length of all prefixes and indents, which nesting multiplies. */
function layoutLength(value: RegoValue, layout: JsonLayout, depth = 0): number {
  const line = layout.prefix.length + layout.indent.length * depth
  const below = (sum: number, item: RegoValue): number => sum + layoutLength(item, layout, depth + 1)
  if (value instanceof RegoObject) return value.entries.reduce((sum, [, item]) => below(sum, item), line)
  if (value instanceof RegoSet) return value.members.reduce(below, line)
  return isArray(value) ? value.reduce(below, line) : line
}

export const jsonMarshalBuiltins: BuiltinTable = { 'json.marshal_with_options': marshalWithOptions }
