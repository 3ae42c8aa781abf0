import { pathKey } from '../../values/path-key.js'
import { BinaryReader, encodeUnsigned } from '../binary/binary-reader.js'
import { readFunctionTable } from '../binary/function-table.js'
import type { FunctionTable } from '../binary/function-table.js'
import { encodeSigned, OP } from '../binary/instructions.js'
import {
  appendToVector,
  concat,
  exportEntry,
  EXTERNAL_KIND,
  HEADER_BYTES,
  openSection,
  readSections,
  SECTION,
  writeSection,
} from '../binary/sections.js'
import type { Section } from '../binary/sections.js'

/** The exported function that calls a rule: it takes its place in the list of rules, and the addresses of input and data. */
export const RULE_EXPORT = 'tidegate_rule'
/** How the function is exported that has to be called before the first rule of an evaluation. */
export const MEMOIZE_EXPORT = 'tidegate_memoize'

export interface ExportedRules {
  readonly bytes: Uint8Array
  /** The keys of the paths of the rules that can be called, in the order of their places. */
  readonly rules: readonly string[]
}

/** OPA's compiler names the function of a rule by its path, as Rego writes it (planner.go, planRules; `g0` is the code without mocks). */
const RULE_FUNCTION = /^g0\.data((?:\.[A-Za-z_]\w*|\["(?:[^"\\]|\\.)*"\])+)$/
const STEP = /\.([A-Za-z_]\w*)|\[("(?:[^"\\]|\\.)*")\]/g
const MEMOIZE_FUNCTION = 'opa_memoize_init'
/** The input and the data. */
const RULE_PARAMETERS = 2

/**
 * Lets every rule of a module be called without the function that leads to all entrypoints, which grows with their number: `RULE_EXPORT`
 * gives the address of the rule's value, or 0. The rules are reached through the module's table, since thousands of exports take the
 * thread that makes an instance tens of milliseconds. A module without function names, or without a table, has no such rules.
 */
export function exportRules(wasm: Uint8Array): ExportedRules {
  const sections = readSections(wasm)
  const found = findRules(wasm, sections)
  if (found === undefined) return { bytes: wasm, rules: [] }
  const { rules } = found
  const rewritten = changesOf(wasm, sections, found)
  const out: Uint8Array[] = [wasm.subarray(0, HEADER_BYTES)]
  for (const { id, start, end } of sections) {
    const body = wasm.subarray(start, end)
    writeSection(out, id, [rewritten.get(id)?.(body) ?? body])
  }
  return { bytes: concat(out), rules: rules.map(({ key }) => key) }
}

/** What becomes of the bodies of sections, by their numbers. */
function changesOf(
  wasm: Uint8Array,
  sections: readonly Section[],
  { memoize, rules, ruleType, nextFunction }: FoundRules,
): ReadonlyMap<number, (body: Uint8Array) => Uint8Array> {
  const callerType = openSection(wasm, sections, SECTION.type).unsigned()
  const firstPlace = readTableSize(openSection(wasm, sections, SECTION.table))
  const appending =
    (...elements: readonly (readonly number[])[]) =>
    (body: Uint8Array): Uint8Array =>
      appendToVector(body, elements)
  return new Map([
    [SECTION.type, appending(CALLER_TYPE)],
    [SECTION.function, appending(encodeUnsigned(callerType))],
    [SECTION.table, (body: Uint8Array) => growTable(body, rules.length)],
    [
      SECTION.export,
      appending(
        exportEntry(MEMOIZE_EXPORT, EXTERNAL_KIND.function, memoize),
        exportEntry(RULE_EXPORT, EXTERNAL_KIND.function, nextFunction),
      ),
    ],
    [
      SECTION.element,
      appending(
        tableElements(
          firstPlace,
          rules.map(({ number }) => number),
        ),
      ),
    ],
    [SECTION.code, appending(callerCode(firstPlace, ruleType))],
  ])
}

/** What was listed, since finding it takes ten milliseconds for a thousand packages. */
const listed = new WeakMap<Uint8Array, readonly string[]>()

/** The keys of the paths of the rules of a module that `exportRules` exports. */
export function listRules(wasm: Uint8Array): readonly string[] {
  const rules = listed.get(wasm) ?? findRules(wasm, readSections(wasm))?.rules.map(({ key }) => key) ?? []
  listed.set(wasm, rules)
  return rules
}

interface FoundRules {
  readonly memoize: number
  /** The number of the type that all of them have. */
  readonly ruleType: number
  /** The number of the first function that would be added. */
  readonly nextFunction: number
  readonly rules: readonly { readonly number: number; readonly key: string }[]
}

function findRules(wasm: Uint8Array, sections: readonly Section[]): FoundRules | undefined {
  const isThere = (section: number): boolean => sections.some(({ id }) => id === section)
  if (!isThere(SECTION.table) || !isThere(SECTION.element)) return undefined
  const table = readFunctionTable(wasm, sections)
  const functions = [...table.names]
  const memoize = functions.find(([, name]) => name === MEMOIZE_FUNCTION)?.[0]
  if (memoize === undefined || parametersOf(table, memoize) !== 0) return undefined
  const found = functions.flatMap(([number, name]) => {
    const path = parametersOf(table, number) === RULE_PARAMETERS ? rulePath(name) : undefined
    return path === undefined ? [] : [{ number, key: pathKey(path), type: typeOf(table, number) }]
  })
  const ruleType = found[0]?.type
  if (ruleType === undefined) return undefined
  const rules = found.filter(({ type }) => type === ruleType)
  return { memoize, rules, ruleType, nextFunction: table.importCount + table.types.length }
}

function typeOf({ importCount, types }: FunctionTable, number: number): number | undefined {
  return types[number - importCount]
}

function parametersOf(table: FunctionTable, number: number): number | undefined {
  const type = typeOf(table, number)
  return type === undefined ? undefined : table.parameterCounts[type]
}

/** The path of the rule whose function has such a name; undefined for another function, or where a name is quoted in Go's way alone. */
export function rulePath(name: string): string[] | undefined {
  const steps = RULE_FUNCTION.exec(name)?.[1]
  if (steps === undefined) return undefined
  try {
    return [...steps.matchAll(STEP)].map(([, word, quoted]) => word ?? (JSON.parse(quoted ?? '') as string))
  } catch {
    return undefined
  }
}

const I32 = 0x7f
const FUNCTION_TYPE = 0x60
/** Flag of limits that have a maximum (WebAssembly core specification 2.0, section 5.3.7). */
const HAS_MAXIMUM = 0x01
/** An element segment that is put into table 0 when the module is instantiated, as function numbers (section 5.5.12). */
const ACTIVE = 0x00
const FIRST_TABLE = 0

/** The type of a function that calls another by its place: three i32 to one. */
const CALLER_TYPE: readonly number[] = [FUNCTION_TYPE, 3, I32, I32, I32, 1, I32]

/** The body of that function, with its length: `table[firstPlace + place](second, third)`; the functions called have one type. */
function callerCode(firstPlace: number, type: number): number[] {
  const body = [
    0x00, // no locals
    ...[OP.getLocal, 1, OP.getLocal, 2, OP.getLocal, 0],
    ...[OP.constant, ...encodeSigned(firstPlace), OP.add],
    ...[OP.callIndirect, ...encodeUnsigned(type), FIRST_TABLE, OP.end],
  ]
  return [...encodeUnsigned(body.length), ...body]
}

/** An element segment with functions by their numbers, from one place of the table on. */
function tableElements(firstPlace: number, functions: readonly number[]): number[] {
  return [
    ...[ACTIVE, OP.constant, ...encodeSigned(firstPlace), OP.end],
    ...encodeUnsigned(functions.length),
    ...functions.flatMap(encodeUnsigned),
  ]
}

/** How many places the first table of a table section has. */
export function readTableSize(section: BinaryReader): number {
  return readFirstTable(section).minimum
}

/** The body of a table section whose first table has so many places more. */
export function growTable(body: Uint8Array, added: number): Uint8Array {
  const reader = new BinaryReader(body)
  const { count, elementType, minimum, maximum } = readFirstTable(reader)
  const limits =
    maximum === undefined
      ? [0, ...encodeUnsigned(minimum + added)]
      : [HAS_MAXIMUM, ...encodeUnsigned(minimum + added), ...encodeUnsigned(maximum + added)]
  return Buffer.concat([
    Buffer.from([...encodeUnsigned(count), elementType, ...limits]),
    body.subarray(reader.at),
  ])
}

interface FirstTable {
  readonly count: number
  readonly elementType: number
  readonly minimum: number
  readonly maximum: number | undefined
}

function readFirstTable(reader: BinaryReader): FirstTable {
  const count = reader.unsigned()
  const elementType = reader.byte()
  const flags = reader.byte()
  const minimum = reader.unsigned()
  return { count, elementType, minimum, maximum: flags === HAS_MAXIMUM ? reader.unsigned() : undefined }
}
