import { AppError } from '../../../errors/app-error.js'
import { BinaryReader, encodeUnsigned } from '../binary/binary-reader.js'
import { readFunctionTable } from '../binary/function-table.js'
import { CALL, skipImmediates } from '../binary/instructions.js'
import {
  HEADER_BYTES,
  SECTION,
  appendToVector,
  concat,
  findSection,
  readSections,
  totalLength,
  writeSection,
} from '../binary/sections.js'
import type { Section } from '../binary/sections.js'
import { readLibrary } from './read-library.js'
import type { Library } from './read-library.js'

export interface LinkedModule {
  readonly bytes: Uint8Array
  /** The numbers that the library's functions have in the module, by the names they are exported as; empty where it could not be linked. */
  readonly functions: ReadonlyMap<string, number>
}

const GLOBAL_GET = 0x23
const GLOBAL_SET = 0x24
const CALL_INDIRECT = 0x11

/**
 * Puts the functions of a library behind those of a module, so that they call the module's by name and share its memory. What the
 * library exports is exported with a prefix. A module that has not all functions that the library calls, or no names, stays as it is.
 */
export function linkFunctions(wasm: Uint8Array, libraryBytes: Uint8Array, prefix: string): LinkedModule {
  const sections = readSections(wasm)
  const table = readFunctionTable(wasm, sections)
  const library = readLibrary(libraryBytes)
  const numbers = new Map([...table.names].map(([number, name]) => [name, number]))
  const imported = library.imports.flatMap((name) => numbers.get(name) ?? [])
  if (imported.length < library.imports.length) return { bytes: wasm, functions: new Map() }
  const places: Places = {
    imported,
    firstFunction: table.importCount + table.types.length,
    firstType: vectorLength(wasm, sections, SECTION.type),
    // OPA's modules import no globals: what would be one is told when the code is metered.
    firstGlobal: vectorLength(wasm, sections, SECTION.global),
  }
  const added = new Map<number, readonly (readonly number[] | Uint8Array)[]>([
    [SECTION.type, library.types],
    [SECTION.function, library.functionTypes.map((type) => encodeUnsigned(places.firstType + type))],
    [SECTION.global, library.globals],
    [SECTION.export, library.exports.map((one) => exportEntry(one, prefix, places))],
    [SECTION.code, library.code.map((body) => relocated(body, places))],
  ])
  const out: Uint8Array[] = [wasm.subarray(0, HEADER_BYTES)]
  for (const { id, start, end } of sections) {
    const body = wasm.subarray(start, end)
    const more = added.get(id)
    writeSection(out, id, [more === undefined ? body : appendToVector(body, more)])
  }
  const functions = library.exports.filter(({ kind }) => kind === FUNCTION)
  return {
    bytes: concat(out),
    functions: new Map(functions.map(({ name, number }) => [name, functionNumber(number, places)])),
  }
}

const FUNCTION = 0

/** Where the library's parts come to stand in the module. */
interface Places {
  /** The module's functions that the library imports. */
  readonly imported: readonly number[]
  readonly firstFunction: number
  readonly firstType: number
  readonly firstGlobal: number
}

function functionNumber(number: number, { imported, firstFunction }: Places): number {
  return imported[number] ?? firstFunction + number - imported.length
}

function vectorLength(wasm: Uint8Array, sections: readonly Section[], id: number): number {
  const { start, end } = findSection(sections, id)
  return new BinaryReader(wasm, start, end).unsigned()
}

function exportEntry(
  { name, kind, number }: Library['exports'][number],
  prefix: string,
  places: Places,
): number[] {
  const bytes = Buffer.from(`${prefix}${name}`)
  const place = kind === FUNCTION ? functionNumber(number, places) : places.firstGlobal + number
  return [...encodeUnsigned(bytes.length), ...bytes, kind, ...encodeUnsigned(place)]
}

/** A function body, with its length, that calls functions and uses globals by their numbers in the module. */
function relocated(body: BinaryReader, places: Places): Uint8Array {
  const pieces: Uint8Array[] = []
  let copied = body.at
  body.skipLocals()
  while (!body.done) {
    const opcode = body.byte()
    const operand = body.at
    if (opcode === CALL_INDIRECT) throw new AppError('internal', 'a linked function calls through a table')
    if (opcode !== CALL && opcode !== GLOBAL_GET && opcode !== GLOBAL_SET) {
      skipImmediates(opcode, body)
      continue
    }
    const number = body.unsigned()
    const place = opcode === CALL ? functionNumber(number, places) : places.firstGlobal + number
    pieces.push(body.bytes.subarray(copied, operand), Buffer.from(encodeUnsigned(place)))
    copied = body.at
  }
  pieces.push(body.bytes.subarray(copied, body.end))
  return concat([Buffer.from(encodeUnsigned(totalLength(pieces))), ...pieces])
}
