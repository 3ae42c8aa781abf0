import { AppError } from '../../../errors/app-error.js'
import { BinaryReader, encodeUnsigned } from './binary-reader.js'

export interface Section {
  readonly id: number
  readonly start: number
  readonly end: number
}

/** Section numbers of the WebAssembly core specification 2.0, section 5.5.2. */
export const SECTION = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  global: 6,
  export: 7,
  element: 9,
  code: 10,
  data: 11,
} as const

/** Kinds of imports and exports (section 5.5.5). */
export const EXTERNAL_KIND = { function: 0, table: 1, memory: 2, global: 3 } as const

/** The bytes before the first section: magic number and version. */
export const HEADER_BYTES = 8

/** Returns all sections in order. Throws `invalid` if the bytes are not a module. */
export function readSections(wasm: Uint8Array): Section[] {
  if (wasm.length < HEADER_BYTES || wasm[0] !== 0x00 || wasm[1] !== 0x61)
    throw new AppError('invalid', 'not a WebAssembly module')
  const reader = new BinaryReader(wasm, HEADER_BYTES)
  const sections: Section[] = []
  while (!reader.done) {
    const id = reader.byte()
    const length = reader.unsigned()
    const start = reader.at
    reader.skip(length)
    sections.push({ id, start, end: reader.at })
  }
  return sections
}

/** Opens the body of the first section with the given number. Throws `invalid` if there is none. */
export function openSection(wasm: Uint8Array, sections: readonly Section[], id: number): BinaryReader {
  const section = sections.find((candidate) => candidate.id === id)
  if (section === undefined)
    throw new AppError('invalid', `not an OPA policy module: section ${id} is missing`)
  return new BinaryReader(wasm, section.start, section.end)
}

/** Encodes an entry of the export section. */
export function exportEntry(name: string, kind: number, number: number): number[] {
  const bytes = Buffer.from(name)
  return [...encodeUnsigned(bytes.length), ...bytes, kind, ...encodeUnsigned(number)]
}

/** Appends elements to the vector in `body`. */
export function appendToVector(
  body: Uint8Array,
  elements: readonly (readonly number[] | Uint8Array)[],
): Uint8Array {
  const reader = new BinaryReader(body)
  const count = reader.unsigned()
  return Buffer.concat([
    Buffer.from(encodeUnsigned(count + elements.length)),
    body.subarray(reader.at),
    ...elements.map((element) => Buffer.from(element)),
  ])
}

/** Appends a section with its header to the pieces of a module. */
export function writeSection(out: Uint8Array[], id: number, pieces: readonly Uint8Array[]): void {
  out.push(Buffer.from([id]))
  writeBody(out, pieces)
}

/** Appends the body of a section or function, with its length, to the pieces of a module. */
export function writeBody(out: Uint8Array[], pieces: readonly Uint8Array[]): void {
  out.push(Buffer.from(encodeUnsigned(totalLength(pieces))))
  // One by one: a call accepts at most some hundred thousand arguments, and a function may have as
  // many pieces.
  for (const piece of pieces) out.push(piece)
}

export function totalLength(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0)
}

export function concat(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(totalLength(pieces))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
