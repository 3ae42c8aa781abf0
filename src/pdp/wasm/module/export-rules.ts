import { pathKey } from '../../rego/path-key.js'
import { readFunctionTable } from '../binary/function-table.js'
import type { FunctionTable } from '../binary/function-table.js'
import {
  EXTERNAL_KIND,
  HEADER_BYTES,
  SECTION,
  appendToVector,
  concat,
  exportEntry,
  readSections,
  writeSection,
} from '../binary/sections.js'
import type { Section } from '../binary/sections.js'

/** How the functions of rules are exported, with their place in the list of rules behind it. */
export const RULE_EXPORT = 'tidegate_rule_'
/** How the function is exported that has to be called before the first rule of an evaluation. */
export const MEMOIZE_EXPORT = 'tidegate_memoize'

export interface ExportedRules {
  readonly bytes: Uint8Array
  /** The keys of the paths of the rules that can be called, in the order of their exports. */
  readonly rules: readonly string[]
}

/** OPA's compiler names the function of a rule by its path, as Rego writes it (planner.go, planRules; `g0` is the code without mocks). */
const RULE_FUNCTION = /^g0\.data((?:\.[A-Za-z_]\w*|\["(?:[^"\\]|\\.)*"\])+)$/
const STEP = /\.([A-Za-z_]\w*)|\[("(?:[^"\\]|\\.)*")\]/g
const MEMOIZE_FUNCTION = 'opa_memoize_init'
/** The input and the data. */
const RULE_PARAMETERS = 2

/**
 * Exports the function of every rule of a module, so that one can be called without the function that leads to all entrypoints, which
 * grows with their number. It takes the addresses of input and data, and gives that of the rule's value, or 0. A module without
 * function names exports none.
 */
export function exportRules(wasm: Uint8Array): ExportedRules {
  const sections = readSections(wasm)
  const found = findRules(wasm, sections)
  if (found === undefined) return { bytes: wasm, rules: [] }
  const { memoize, rules } = found
  const exported = [
    exportEntry(MEMOIZE_EXPORT, EXTERNAL_KIND.function, memoize),
    ...rules.map(({ number }, place) =>
      exportEntry(`${RULE_EXPORT}${place}`, EXTERNAL_KIND.function, number),
    ),
  ]
  const out: Uint8Array[] = [wasm.subarray(0, HEADER_BYTES)]
  for (const { id, start, end } of sections) {
    const body = wasm.subarray(start, end)
    writeSection(out, id, [id === SECTION.export ? appendToVector(body, exported) : body])
  }
  return { bytes: concat(out), rules: rules.map(({ key }) => key) }
}

/** The keys of the paths of the rules of a module that `exportRules` exports. */
export function listRules(wasm: Uint8Array): string[] {
  return findRules(wasm, readSections(wasm))?.rules.map(({ key }) => key) ?? []
}

interface FoundRules {
  readonly memoize: number
  readonly rules: readonly { readonly number: number; readonly key: string }[]
}

function findRules(wasm: Uint8Array, sections: readonly Section[]): FoundRules | undefined {
  const table = readFunctionTable(wasm, sections)
  const functions = [...table.names]
  const memoize = functions.find(([, name]) => name === MEMOIZE_FUNCTION)?.[0]
  if (memoize === undefined || parametersOf(table, memoize) !== 0) return undefined
  const rules = functions.flatMap(([number, name]) => {
    const path = parametersOf(table, number) === RULE_PARAMETERS ? rulePath(name) : undefined
    return path === undefined ? [] : [{ number, key: pathKey(path) }]
  })
  return { memoize, rules }
}

function parametersOf(
  { importCount, types, parameterCounts }: FunctionTable,
  number: number,
): number | undefined {
  const type = types[number - importCount]
  return type === undefined ? undefined : parameterCounts[type]
}

/** The path of the rule whose function has such a name; undefined for another function, or where a name is quoted in Go's way alone. */
function rulePath(name: string): string[] | undefined {
  const steps = RULE_FUNCTION.exec(name)?.[1]
  if (steps === undefined) return undefined
  try {
    return [...steps.matchAll(STEP)].map(([, word, quoted]) => word ?? (JSON.parse(quoted ?? '') as string))
  } catch {
    return undefined
  }
}
