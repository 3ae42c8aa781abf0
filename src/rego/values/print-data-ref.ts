import { goJsonString } from '../../lib/json/text/escape.js'
import { integerSegment } from './data-path.js'

const VARIABLE = /^[A-Za-z_]\w*$/

/**
 * Returns a path of `data` in Rego: `data.app["a/b"][1].c`. A segment that is a decimal integer is
 * a number.
 */
export function printDataRef(path: readonly string[]): string {
  const steps = path.map((segment) => {
    if (VARIABLE.test(segment)) return `.${segment}`
    return `[${integerSegment(segment)?.toString() ?? goJsonString(segment)}]`
  })
  return `data${steps.join('')}`
}

/** Returns a package name without `data`: `app["a/b"]`. */
export function printPackageName(path: readonly string[]): string {
  return printDataRef(path).replace(/^data\.?/, '')
}
