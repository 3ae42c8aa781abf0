import type { RE2JS } from 're2js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { BuiltinError } from '../shared/builtin.js'
import { quoteGoString } from '../go-format/quote.js'
import { compilePattern } from './compile.js'
import { re2 } from './re2.js'

/**
 * The pattern for a text with regular expressions between two delimiters (`urn:foo:<.*>`): the rest is literal, and the
 * whole must match. Raises BuiltinError for unbalanced delimiters or a bad expression.
 */
export function compileDelimitedTemplate(
  template: string,
  open: string,
  close: string,
  meter: WorkMeter,
): RE2JS {
  const { RE2JS: engine } = re2()
  let pattern = '^'
  let at = 0
  for (const [start, end] of delimitedExtents(template, open, close)) {
    const expression = template.slice(start + 1, end - 1)
    // Each expression must be on its own, so that `a)(b` cannot reach outside its delimiters.
    compilePattern(`^${expression}$`, meter)
    pattern += `${engine.quote(template.slice(at, start))}(${expression})`
    at = end
  }
  return compilePattern(`${pattern}${engine.quote(template.slice(at))}$`, meter)
}

/** The outermost extents between the delimiters, these included. */
function delimitedExtents(template: string, open: string, close: string): [number, number][] {
  const extents: [number, number][] = []
  let level = 0
  let start = 0
  for (let i = 0; i < template.length; i++) {
    if (template[i] === open) {
      if (level === 0) start = i
      level++
    } else if (template[i] === close) {
      level--
      if (level === 0) extents.push([start, i + 1])
      if (level < 0) break
    }
  }
  if (level !== 0) throw new BuiltinError(`unbalanced braces in ${quoteGoString(template)}`)
  return extents
}
