import { AppError } from '../../../errors/app-error.js'
import { BinaryReader } from './binary-reader.js'
import { SECTION } from './sections.js'
import type { Section } from './sections.js'

const I32_CONST = 0x41
const END = 0x0b
/** How a segment begins (WebAssembly core specification 2.0, section 5.5.14). */
const PASSIVE = 1
const ACTIVE_WITH_MEMORY = 2

/**
 * The address behind the last byte that the module's active data segments fill, 0 without any: as much memory has to be there
 * before the module can be instantiated. Raises `invalid` where a segment's place is no constant.
 */
export function endOfDataSegments(wasm: Uint8Array, sections: readonly Section[]): number {
  const ends = sections
    .filter(({ id }) => id === SECTION.data)
    .map(({ start, end }) => endOfSegments(new BinaryReader(wasm, start, end)))
  return Math.max(0, ...ends)
}

function endOfSegments(reader: BinaryReader): number {
  let end = 0
  for (let left = reader.unsigned(); left > 0; left--) {
    const kind = reader.unsigned()
    if (kind === ACTIVE_WITH_MEMORY) reader.skipInteger()
    const offset = kind === PASSIVE ? 0 : readOffset(reader)
    const length = reader.unsigned()
    reader.skip(length)
    if (kind !== PASSIVE) end = Math.max(end, offset + length)
  }
  return end
}

function readOffset(reader: BinaryReader): number {
  if (reader.byte() === I32_CONST) {
    const offset = reader.signed() >>> 0
    if (reader.byte() === END) return offset
  }
  throw new AppError(
    'invalid',
    'the policy module places a data segment elsewhere than at a constant address',
  )
}
