import { readFunctionTable } from '../binary/function-table.js'
import { SECTION, openSection, readSections } from '../binary/sections.js'

/** What V8 says of a function that is called as rules are, with the name that OPA gave its caller. */
const CALLED_AS_RULE = /:"g\d+\.(?<rule>.+)" failed: not enough arguments on the stack for call/
/** What it says of a function with more local variables, or more code, than it takes; the latter without a name. */
const TOO_LARGE = /:"g\d+\.(?<rule>.+)" failed: local count too large|size \d+ > maximum function size/

/** Why V8 does not compile a module, with the rule that it is about and what to do, where these are known. */
export function whyRefused(message: string, wasm: Uint8Array): string {
  const called = CALLED_AS_RULE.exec(message)?.groups?.['rule']
  // OPA makes such a call where a reference leads to a function by a variable; its own evaluator passes over functions there.
  if (called !== undefined)
    return `${called} refers by a variable (as data.x[y].z does) to what may be a function, which OPA compiles to code that is not valid: give the function a name that is not referred to so, or another package`
  const large = TOO_LARGE.exec(message)
  if (large === null) return message
  return `${large.groups?.['rule'] ?? largestRule(wasm)} is compiled to more code than a function may have: of references by several variables (as data.x[a] and data.x[b] in one body), OPA writes out every combination of the packages and rules that they may lead to. Look one of them up in a function or rule of its own, or split the rule`
}

function largestRule(wasm: Uint8Array): string {
  const sections = readSections(wasm)
  const { names, importCount } = readFunctionTable(wasm, sections)
  const code = openSection(wasm, sections, SECTION.code)
  let largest = { size: 0, name: '' }
  const count = code.unsigned()
  for (let place = 0; place < count; place++) {
    const size = code.unsigned()
    code.skip(size)
    if (size > largest.size) largest = { size, name: names.get(importCount + place) ?? 'a function' }
  }
  return largest.name.replace(/^g\d+\./, '')
}
