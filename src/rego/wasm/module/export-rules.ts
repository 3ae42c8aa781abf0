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

/**
 * The exported function that calls a rule. Its arguments are the rule's position in the list of
 * rules and the addresses of input and data.
 */
export const RULE_EXPORT = 'tidegate_rule'
/** The exported function to call before the first rule of an evaluation. */
export const MEMOIZE_EXPORT = 'tidegate_memoize'

export interface ExportedRules {
  readonly bytes: Uint8Array
  /** Keys of the paths of the callable rules, in the order of their positions. */
  readonly rules: readonly string[]
}

/** The function name of a rule (planner.go, planRules); `g0` is code without mocks. */
const RULE_FUNCTION = /^g0\.data((?:\.[A-Za-z_]\w*|\["[^"\\]*(?:\\.[^"\\]*)*"\])+)$/
const STEP = /\.([A-Za-z_]\w*)|\[("[^"\\]*(?:\\.[^"\\]*)*")\]/g
const MEMOIZE_FUNCTION = 'opa_memoize_init'
/** Input and data. */
const RULE_PARAMETERS = 2

/**
 * Makes every rule of a module callable without the function that dispatches to all entrypoints,
 * which grows with their number. `RULE_EXPORT` returns the address of the rule's value, or 0. Rules
 * are reached through the module's table, because instantiating thousands of exports takes tens of
 * milliseconds. A module without function names or without a table has no such rules.
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

/** Returns the rewriting of section bodies, by section number. */
function changesOf(
  wasm: Uint8Array,
  sections: readonly Section[],
  { memoize, rules, ruleType, nextFunction }: FoundRules,
): ReadonlyMap<number, (body: Uint8Array) => Uint8Array> {
  const callerType = openSection(wasm, sections, SECTION.type).unsigned()
  const firstPosition = readTableSize(openSection(wasm, sections, SECTION.table))
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
          firstPosition,
          rules.map(({ number }) => number),
        ),
      ),
    ],
    [SECTION.code, appending(callerCode(firstPosition, ruleType))],
  ])
}

/** A cache: finding the rules of a thousand packages takes ten milliseconds. */
const listed = new WeakMap<Uint8Array, readonly string[]>()

/** Returns the keys of the paths of the rules that `exportRules` exports. */
export function listRules(wasm: Uint8Array): readonly string[] {
  const rules = listed.get(wasm) ?? findRules(wasm, readSections(wasm))?.rules.map(({ key }) => key) ?? []
  listed.set(wasm, rules)
  return rules
}

interface FoundRules {
  readonly memoize: number
  readonly ruleType: number
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

/** Returns the path of a rule's function; undefined for others and Go-only escapes. */
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
/** Limits flag: a maximum follows (WebAssembly core specification 2.0, section 5.3.7). */
const HAS_MAXIMUM = 0x01
/** Kind of a segment of function numbers for table 0 (section 5.5.12). */
const ACTIVE = 0x00
const FIRST_TABLE = 0

/** The type of a function that calls another by its position: three i32 to one. */
const CALLER_TYPE: readonly number[] = [FUNCTION_TYPE, 3, I32, I32, I32, 1, I32]

/** The body of `table[firstPosition + position](second, third)`, with its length. */
function callerCode(firstPosition: number, type: number): number[] {
  const body = [
    0x00, // no locals
    ...[OP.getLocal, 1, OP.getLocal, 2, OP.getLocal, 0],
    ...[OP.constant, ...encodeSigned(firstPosition), OP.add],
    ...[OP.callIndirect, ...encodeUnsigned(type), FIRST_TABLE, OP.end],
  ]
  return [...encodeUnsigned(body.length), ...body]
}

/** Encodes an element segment: functions by number, from a position of the table on. */
function tableElements(firstPosition: number, functions: readonly number[]): number[] {
  return [
    ...[ACTIVE, OP.constant, ...encodeSigned(firstPosition), OP.end],
    ...encodeUnsigned(functions.length),
    ...functions.flatMap(encodeUnsigned),
  ]
}

/** Returns the size of the first table in a table section. */
export function readTableSize(section: BinaryReader): number {
  return readFirstTable(section).minimum
}

/** Returns a table section whose first table has `added` more elements. */
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
