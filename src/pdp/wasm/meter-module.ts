import { BinaryReader, encodeUnsigned } from './binary-reader.js'
import { LOOP, skipImmediates } from './instructions.js'
import {
  HEADER_BYTES,
  SECTION,
  appendToVector,
  concat,
  findSection,
  readSections,
  totalLength,
  writeSection,
} from './sections.js'
import type { Section } from './sections.js'

/** The exported counter of loop iterations left (i32): set before a call, traps (`unreachable`) when it reaches zero. */
export const FUEL_EXPORT = 'tidegate_fuel'
/** The exported shadow stack pointer of the C runtime: put back after a trap, which leaves it where it was. */
export const STACK_POINTER_EXPORT = 'tidegate_stack_pointer'

export interface MeteredModule {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The memory that the module wants at least, in pages of 64 KiB. */
  readonly minimumPages: number
}

const KIND = { function: 0, table: 1, memory: 2, global: 3 } as const
const I32 = 0x7f
const MUTABLE = 0x01

/**
 * Rewrites a module that OPA compiled so that no evaluation can run for ever: every loop counts down a new global and
 * traps at zero. Rego has no recursion, so bounded loops bound the work. Function indexes stay as they are.
 * Raises `invalid` for a module that it cannot read.
 */
export function meterModule(wasm: Uint8Array): MeteredModule {
  const sections = readSections(wasm)
  const imports = readImports(wasm, findSection(sections, SECTION.import))
  const globals = readGlobals(wasm, findSection(sections, SECTION.global))
  const fuelIndex = imports.globals + globals.count

  const out: Uint8Array[] = [wasm.subarray(0, HEADER_BYTES)]
  for (const section of sections) {
    const body = wasm.subarray(section.start, section.end)
    if (section.id === SECTION.global) writeSection(out, section.id, [appendToVector(body, [fuelGlobal()])])
    else if (section.id === SECTION.export)
      writeSection(out, section.id, [addExports(body, fuelIndex, globals)])
    else if (section.id === SECTION.code) writeSection(out, section.id, meterCode(wasm, section, fuelIndex))
    else writeSection(out, section.id, [body])
  }
  return { bytes: concat(out), minimumPages: imports.minimumPages }
}

function readImports(wasm: Uint8Array, section: Section): { globals: number; minimumPages: number } {
  const reader = new BinaryReader(wasm, section.start, section.end)
  let globals = 0
  let minimumPages = 0
  for (let left = reader.unsigned(); left > 0; left--) {
    reader.skipVector()
    reader.skipVector()
    const kind = reader.byte()
    if (kind === KIND.function) reader.skipInteger()
    else if (kind === KIND.table) reader.skip(1)
    else if (kind === KIND.global) globals += 1
    if (kind === KIND.global) reader.skip(2)
    if (kind === KIND.memory || kind === KIND.table) {
      const minimum = readLimits(reader)
      if (kind === KIND.memory) minimumPages = minimum
    }
  }
  return { globals, minimumPages }
}

function readLimits(reader: BinaryReader): number {
  const hasMaximum = (reader.byte() & 1) === 1
  const minimum = reader.unsigned()
  if (hasMaximum) reader.skipInteger()
  return minimum
}

function readGlobals(wasm: Uint8Array, section: Section): { count: number; firstIsStackPointer: boolean } {
  const count = new BinaryReader(wasm, section.start, section.end).unsigned()
  const lengthBytes = encodeUnsigned(count).length
  const type = wasm[section.start + lengthBytes]
  const mutability = wasm[section.start + lengthBytes + 1]
  return { count, firstIsStackPointer: count > 0 && type === I32 && mutability === MUTABLE }
}

/** A mutable i32 that starts at its greatest value, so that what runs outside an evaluation is not counted out. */
function fuelGlobal(): number[] {
  return [I32, MUTABLE, 0x41, 0xff, 0xff, 0xff, 0xff, 0x07, 0x0b]
}

function addExports(
  body: Uint8Array,
  fuelIndex: number,
  globals: { readonly firstIsStackPointer: boolean },
): Uint8Array {
  const withFuel = appendToVector(body, [exportedGlobal(FUEL_EXPORT, fuelIndex)])
  return globals.firstIsStackPointer
    ? appendToVector(withFuel, [exportedGlobal(STACK_POINTER_EXPORT, 0)])
    : withFuel
}

function exportedGlobal(name: string, index: number): number[] {
  const bytes = Buffer.from(name)
  return [...encodeUnsigned(bytes.length), ...bytes, KIND.global, ...encodeUnsigned(index)]
}

function meterCode(wasm: Uint8Array, section: Section, fuelIndex: number): Uint8Array[] {
  const countdown = countdownCode(fuelIndex)
  const reader = new BinaryReader(wasm, section.start, section.end)
  const count = reader.unsigned()
  const out: Uint8Array[] = [Buffer.from(encodeUnsigned(count))]
  for (let left = count; left > 0; left--) {
    const body = meterFunction(reader.slice(reader.unsigned()), countdown)
    out.push(Buffer.from(encodeUnsigned(totalLength(body))), ...body)
  }
  return out
}

/** The function body in pieces, with the countdown after each loop head. */
function meterFunction(reader: BinaryReader, countdown: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let copied = reader.at
  reader.skipLocals()
  while (!reader.done) {
    const opcode = reader.byte()
    skipImmediates(opcode, reader)
    if (opcode !== LOOP) continue
    pieces.push(reader.bytes.subarray(copied, reader.at), countdown)
    copied = reader.at
  }
  pieces.push(reader.bytes.subarray(copied, reader.end))
  return pieces
}

/** fuel -= 1; if fuel is zero, trap. */
function countdownCode(fuelIndex: number): Uint8Array {
  const fuel = encodeUnsigned(fuelIndex)
  const decrement = [0x23, ...fuel, 0x41, 0x01, 0x6b, 0x24, ...fuel]
  const trapAtZero = [0x23, ...fuel, 0x45, 0x04, 0x40, 0x00, 0x0b]
  return Buffer.from([...decrement, ...trapAtZero])
}
