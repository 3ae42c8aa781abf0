import { AppError } from '../../../errors/app-error.js'
import { BinaryReader, encodeUnsigned } from '../binary/binary-reader.js'
import { readFunctionTable } from '../binary/function-table.js'
import { OP, skipExpression, skipImmediates } from '../binary/instructions.js'
import {
  appendToVector,
  concat,
  exportEntry,
  EXTERNAL_KIND,
  HEADER_BYTES,
  openSection,
  readSections,
  SECTION,
  totalLength,
  writeSection,
} from '../binary/sections.js'

export interface LinkedModule {
  readonly bytes: Uint8Array
  /** Function numbers by export name; only functions that can be called. */
  readonly functions: ReadonlyMap<string, number>
  /** Global numbers in the module by the names of the library's exports. */
  readonly globals: ReadonlyMap<string, number>
}

/**
 * Appends the functions of a library to a module; they call the module's functions by name and
 * share its memory. Exports of the library get a prefix. OPA's compiler omits functions that no
 * policy uses. A library function that depends on a missing one, directly or indirectly, must not
 * be called. A module without names has none of them.
 */
export function linkFunctions(wasm: Uint8Array, libraryBytes: Uint8Array, prefix: string): LinkedModule {
  const sections = readSections(wasm)
  const table = readFunctionTable(wasm, sections)
  const library = readLibrary(libraryBytes)
  const numbers = new Map([...table.names].map(([number, name]) => [name, number]))
  const imported = library.imports.map((name) => numbers.get(name))
  const callable = findCallable(library, imported)
  const offsets: Offsets = {
    imported,
    firstFunction: table.importCount + table.types.length,
    firstType: openSection(wasm, sections, SECTION.type).unsigned(),
    // OPA's modules import no globals; metering refuses a module that does.
    firstGlobal: openSection(wasm, sections, SECTION.global).unsigned(),
  }
  const added = new Map<number, readonly (readonly number[] | Uint8Array)[]>([
    [SECTION.type, library.types],
    [SECTION.function, library.functionTypes.map((type) => encodeUnsigned(offsets.firstType + type))],
    [SECTION.global, library.globals],
    [
      SECTION.export,
      library.exports.map((one) =>
        exportEntry(`${prefix}${one.name}`, one.kind, exportedNumber(one, offsets)),
      ),
    ],
    [
      SECTION.code,
      library.code.map((body, index) => (callable.has(index) ? relocated(body, offsets) : UNREACHABLE)),
    ],
  ])
  const out: Uint8Array[] = [wasm.subarray(0, HEADER_BYTES)]
  for (const { id, start, end } of sections) {
    const body = wasm.subarray(start, end)
    const more = added.get(id)
    writeSection(out, id, [more === undefined ? body : appendToVector(body, more)])
  }
  const numbersOf = (isMeant: (one: LibraryExport) => boolean): ReadonlyMap<string, number> =>
    new Map(library.exports.filter(isMeant).map((one) => [one.name, exportedNumber(one, offsets)]))
  return {
    bytes: concat(out),
    functions: numbersOf(
      ({ kind, number }) => kind === EXTERNAL_KIND.function && callable.has(number - imported.length),
    ),
    globals: numbersOf(({ kind }) => kind === EXTERNAL_KIND.global),
  }
}

/** A function of two bytes: no locals, one instruction, its end. */
const UNREACHABLE = [3, 0x00, 0x00, 0x0b]

/** Where the library's parts are in the module. */
interface Offsets {
  /** The module's functions that the library imports. */
  readonly imported: readonly (number | undefined)[]
  readonly firstFunction: number
  readonly firstType: number
  readonly firstGlobal: number
}

function functionNumber(number: number, { imported, firstFunction }: Offsets): number {
  return imported[number] ?? firstFunction + number - imported.length
}

function exportedNumber({ kind, number }: LibraryExport, offsets: Offsets): number {
  return kind === EXTERNAL_KIND.function ? functionNumber(number, offsets) : offsets.firstGlobal + number
}

/** Returns the positions of the library's functions that depend on no missing function. */
function findCallable({ code }: Library, imported: readonly (number | undefined)[]): ReadonlySet<number> {
  const calls = code.map((body) => calledBy(new BinaryReader(body.bytes, body.at, body.end)))
  const callable = new Set(code.keys())
  const isMissing = (number: number): boolean =>
    number < imported.length ? imported[number] === undefined : !callable.has(number - imported.length)
  for (let before = Infinity; before > callable.size;) {
    before = callable.size
    for (const index of callable) if (calls[index]?.some(isMissing) === true) callable.delete(index)
  }
  return callable
}

function calledBy(body: BinaryReader): number[] {
  const called: number[] = []
  body.skipLocals()
  while (!body.done) {
    const opcode = body.byte()
    if (opcode === OP.call) called.push(body.unsigned())
    else skipImmediates(opcode, body)
  }
  return called
}

/** Returns a function body, with its length, with the module's numbers. */
function relocated(body: BinaryReader, offsets: Offsets): Uint8Array {
  const pieces: Uint8Array[] = []
  let copied = body.at
  body.skipLocals()
  while (!body.done) {
    const opcode = body.byte()
    const operand = body.at
    if (opcode === OP.callIndirect) throw new AppError('internal', 'a linked function calls through a table')
    if (opcode !== OP.call && opcode !== OP.getGlobal && opcode !== OP.setGlobal) {
      skipImmediates(opcode, body)
      continue
    }
    const number = body.unsigned()
    const linkedNumber = opcode === OP.call ? functionNumber(number, offsets) : offsets.firstGlobal + number
    pieces.push(body.bytes.subarray(copied, operand), Buffer.from(encodeUnsigned(linkedNumber)))
    copied = body.at
  }
  pieces.push(body.bytes.subarray(copied, body.end))
  return concat([Buffer.from(encodeUnsigned(totalLength(pieces))), ...pieces])
}

/** The sections of a module that is linked into others. */
interface Library {
  readonly imports: readonly string[]
  readonly types: readonly Uint8Array[]
  readonly functionTypes: readonly number[]
  readonly globals: readonly Uint8Array[]
  readonly exports: readonly LibraryExport[]
  readonly code: readonly BinaryReader[]
}

interface LibraryExport {
  readonly name: string
  /** One of EXTERNAL_KIND. */
  readonly kind: number
  readonly number: number
}

/** Reads a module without tables and data. Throws `invalid` for a damaged one. */
function readLibrary(wasm: Uint8Array): Library {
  const sections = readSections(wasm)
  const open = (id: number): BinaryReader => openSection(wasm, sections, id)
  return {
    imports: readImports(open(SECTION.import)),
    types: readEach(open(SECTION.type), skipType),
    functionTypes: readNumbers(open(SECTION.function)),
    globals: readEach(open(SECTION.global), skipGlobal),
    exports: readExports(open(SECTION.export)),
    code: readBodies(open(SECTION.code)),
  }
}

function readImports(reader: BinaryReader): string[] {
  const names: string[] = []
  for (let left = reader.unsigned(); left > 0; left--) {
    reader.skipVector()
    const name = reader.text()
    if (reader.byte() === EXTERNAL_KIND.function) {
      names.push(name)
      reader.skipInteger()
    } else {
      const hasMaximum = (reader.byte() & 1) === 1
      reader.skipInteger()
      if (hasMaximum) reader.skipInteger()
    }
  }
  return names
}

function readEach(reader: BinaryReader, skip: (reader: BinaryReader) => void): Uint8Array[] {
  return Array.from({ length: reader.unsigned() }, () => {
    const start = reader.at
    skip(reader)
    return reader.bytes.subarray(start, reader.at)
  })
}

/** Skips parameters and results, after a byte that marks a function type. */
function skipType(reader: BinaryReader): void {
  reader.skip(1)
  reader.skipVector()
  reader.skipVector()
}

function skipGlobal(reader: BinaryReader): void {
  reader.skip(2)
  skipExpression(reader)
}

function readNumbers(reader: BinaryReader): number[] {
  return Array.from({ length: reader.unsigned() }, () => reader.unsigned())
}

/** Reads all exports but the memory. */
function readExports(reader: BinaryReader): LibraryExport[] {
  return Array.from({ length: reader.unsigned() }, () => ({
    name: reader.text(),
    kind: reader.byte(),
    number: reader.unsigned(),
  })).filter(({ kind }) => kind !== EXTERNAL_KIND.memory)
}

function readBodies(reader: BinaryReader): BinaryReader[] {
  return Array.from({ length: reader.unsigned() }, () => reader.slice(reader.unsigned()))
}
