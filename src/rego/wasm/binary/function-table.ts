import { BinaryReader } from './binary-reader.js'
import { EXTERNAL_KIND, SECTION, openSection } from './sections.js'
import type { Section } from './sections.js'

/** Function metadata of a module. Imported functions come first in the numbering. */
export interface FunctionTable {
  /** Names by function number; empty if the module was stripped of its names. */
  readonly names: ReadonlyMap<number, string>
  readonly importCount: number
  /** The type number of each function that is not imported, in order. */
  readonly types: readonly number[]
  readonly parameterCounts: readonly number[]
}

const FUNCTION_NAMES = 1

/** Reads the function metadata. Throws `invalid` for a damaged module. */
export function readFunctionTable(wasm: Uint8Array, sections: readonly Section[]): FunctionTable {
  const open = (id: number): BinaryReader => openSection(wasm, sections, id)
  return {
    names: readNames(wasm, sections),
    importCount: countFunctionImports(open(SECTION.import)),
    types: readTypeNumbers(open(SECTION.function)),
    parameterCounts: readParameterCounts(open(SECTION.type)),
  }
}

/** The "name" section (WebAssembly core specification 2.0, appendix 7.4.1). */
function readNames(wasm: Uint8Array, sections: readonly Section[]): Map<number, string> {
  const names = new Map<number, string>()
  for (const { id, start, end } of sections) {
    if (id !== SECTION.custom) continue
    const reader = new BinaryReader(wasm, start, end)
    if (reader.text() !== 'name') continue
    while (!reader.done) {
      const kind = reader.byte()
      const part = reader.slice(reader.unsigned())
      if (kind !== FUNCTION_NAMES) continue
      for (let left = part.unsigned(); left > 0; left--) names.set(part.unsigned(), part.text())
    }
  }
  return names
}

/** Counts imported functions, which OPA lists before the memory. */
function countFunctionImports(reader: BinaryReader): number {
  let count = 0
  for (let left = reader.unsigned(); left > 0; left--) {
    reader.skipVector()
    reader.skipVector()
    if (reader.byte() !== EXTERNAL_KIND.function) return count
    reader.skipInteger()
    count += 1
  }
  return count
}

function readTypeNumbers(reader: BinaryReader): number[] {
  return Array.from({ length: reader.unsigned() }, () => reader.unsigned())
}

function readParameterCounts(reader: BinaryReader): number[] {
  return Array.from({ length: reader.unsigned() }, () => {
    reader.skip(1)
    const count = reader.unsigned()
    reader.skip(count)
    reader.skipVector()
    return count
  })
}
