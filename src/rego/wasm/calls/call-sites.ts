import { LINKED_PREFIX } from '../linked/ordered-iteration.js'
import type { Caller } from '../module/evaluation-abort.js'
import { rulePath } from '../module/export-rules.js'

/** The global in which a module tells the call of a built-in that it made last, as the linked library exports it. */
export const CALL_SITE = 'callSite'
/** No name has one. */
const SEPARATOR = '\0'

/** The line that tells a call: of which rule, and of which built-in. */
export function callSiteLine(rule: string, builtin: string): string {
  return `${rule}${SEPARATOR}${builtin}`
}

/** What tells the call that a module made last, or undefined where it does not tell. `callSites` has a line for each, and is taken apart when the first is asked for. */
export function lastCallerOf(exports: WebAssembly.Exports, callSites: string): () => Caller | undefined {
  let lines: readonly string[] | undefined
  return () => {
    lines ??= callSites.split('\n')
    const global: unknown = exports[`${LINKED_PREFIX}${CALL_SITE}`]
    const site = global instanceof WebAssembly.Global ? global.value : 0
    const line = lines[site - 1]
    const name = line?.split(SEPARATOR)[0]
    // What `with` gives other functions is compiled once more, under another number.
    const rule = name === undefined ? undefined : rulePath(name.replace(/^g\d+/, 'g0'))
    if (rule === undefined) return undefined
    const isSame = (other: string): boolean => other === line
    return { rule, nth: lines.slice(0, site - 1).filter(isSame).length, count: lines.filter(isSame).length }
  }
}
