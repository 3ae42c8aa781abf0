import type { BinaryReader } from '../binary/binary-reader.js'
import { skipExpression } from '../binary/instructions.js'
import { EXTERNAL_KIND, SECTION, openSection, readSections } from '../binary/sections.js'

/** A module of ours that is linked into others: its parts as they stand in its sections. */
export interface Library {
  /** The names of the functions that it calls and has not. */
  readonly imports: readonly string[]
  readonly types: readonly Uint8Array[]
  readonly functionTypes: readonly number[]
  readonly globals: readonly Uint8Array[]
  readonly exports: readonly LibraryExport[]
  readonly code: readonly BinaryReader[]
}

export interface LibraryExport {
  readonly name: string
  /** As in EXTERNAL_KIND. */
  readonly kind: number
  readonly number: number
}

/** Reads a module that imports functions and a memory, and has neither tables nor data. Raises `invalid` for a damaged one. */
export function readLibrary(wasm: Uint8Array): Library {
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

/** The parameters and the results, behind a byte that says that it is a function's. */
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

/** All but the memory, which is the module's own. */
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
