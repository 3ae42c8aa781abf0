import { displayText } from './go-format/display-text.js'
import { RegoSet } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import type { BuiltinTable } from './shared/builtin.js'
import { isArray, operand } from './shared/operands.js'

const UNDEFINED = '<undefined>'

/** What `print` is compiled to: an array with a set for each operand, empty where that is undefined. Always true. */
export const printBuiltins: BuiltinTable = {
  'internal.print': (args, { print, meter }) => {
    if (print === undefined) return true
    const list = operand(args, 0)
    for (const line of linesOf(isArray(list) ? list : [], (length) => meter.reserve(length * 2))) print(line)
    return true
  },
}

/** A line for each combination of values, as OPA prints them: an operand may have several. */
function linesOf(operands: readonly RegoValue[], reserve: (length: number) => void): string[] {
  let lines = ['']
  for (const [place, value] of operands.entries()) {
    const texts = textsOf(value)
    lines = lines.flatMap((line) =>
      texts.map((text) => {
        reserve(line.length + text.length + 1)
        return place === 0 ? text : `${line} ${text}`
      }),
    )
  }
  return lines
}

function textsOf(value: RegoValue): readonly string[] {
  if (!(value instanceof RegoSet)) return [textOf(value)]
  return value.members.length === 0 ? [UNDEFINED] : value.members.map(textOf)
}

function textOf(value: RegoValue): string {
  return typeof value === 'string' ? value : displayText(value)
}
