import { AppError } from '../../../errors/app-error.js'
import { BinaryReader, encodeUnsigned } from '../binary/binary-reader.js'
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
  writeBody,
  writeSection,
} from '../binary/sections.js'
import type { Section } from '../binary/sections.js'
import { PAGE_BYTES } from './module-memory.js'

/** The exported counter (i32) of loop iterations and calls until the module calls its host. */
export const FUEL_EXPORT = 'tidegate_fuel'
/** Export prefix of mutable globals, which are state like the memory. */
export const STATE_EXPORT = 'tidegate_state_'
/** The argument of `opa_abort` when the counter reaches zero. No address is negative. */
export const OUT_OF_FUEL = -1

export interface MeteredModule {
  readonly bytes: Uint8Array<ArrayBuffer>
  /**
   * The memory that the module needs at its start, in pages of 64 KiB: the declared size, or the
   * end of its data if that is larger.
   */
  readonly minimumPages: number
}

const ABORT_IMPORT = 'opa_abort'
const I32 = 0x7f
const MUTABLE = 0x01
/** The type of a block without a result. */
const VOID = 0x40

/**
 * Rewrites a module of OPA so that no evaluation can run forever: every loop iteration and every
 * function with several calls decrements a new global and calls the host at zero, which refuels or
 * throws. All other code is a straight line whose length bounds the work. The host is called
 * through an existing import, because a new one would shift all function indexes. Throws `invalid`
 * for a module that it cannot read.
 */
export function meterModule(wasm: Uint8Array): MeteredModule {
  const sections = readSections(wasm)
  const imports = readImports(openSection(wasm, sections, SECTION.import))
  const fuelIndex = imports.globals + openSection(wasm, sections, SECTION.global).unsigned()
  const countdown = countdownCode(fuelIndex, imports.abortFunction)

  const out: Uint8Array[] = [wasm.subarray(0, HEADER_BYTES)]
  for (const section of sections) {
    const body = wasm.subarray(section.start, section.end)
    if (section.id === SECTION.global) writeSection(out, section.id, [appendToVector(body, [fuelGlobal()])])
    else if (section.id === SECTION.export) {
      const state = listMutableGlobals(openSection(wasm, sections, SECTION.global)).map(
        (index) => imports.globals + index,
      )
      writeSection(out, section.id, [
        appendToVector(body, [
          exportedGlobal(FUEL_EXPORT, fuelIndex),
          ...state.map((index) => exportedGlobal(`${STATE_EXPORT}${index}`, index)),
        ]),
      ])
    } else if (section.id === SECTION.code) writeSection(out, section.id, meterCode(wasm, section, countdown))
    else writeSection(out, section.id, [body])
  }
  // OPA declares too few pages if the policies contain much text.
  const pagesOfData = Math.ceil(endOfDataSegments(wasm, sections) / PAGE_BYTES)
  return { bytes: concat(out), minimumPages: Math.max(imports.minimumPages, pagesOfData) }
}

interface Imports {
  readonly globals: number
  readonly abortFunction: number
  readonly minimumPages: number
}

function readImports(reader: BinaryReader): Imports {
  let globals = 0
  let functions = 0
  let abortFunction: number | undefined
  let minimumPages = 0
  for (let left = reader.unsigned(); left > 0; left--) {
    reader.skipVector()
    const name = reader.text()
    const kind = reader.byte()
    if (kind === EXTERNAL_KIND.function) {
      if (name === ABORT_IMPORT) abortFunction = functions
      functions += 1
      reader.skipInteger()
    } else if (kind === EXTERNAL_KIND.global) {
      globals += 1
      reader.skip(2)
    } else {
      if (kind === EXTERNAL_KIND.table) reader.skip(1)
      const minimum = readLimits(reader)
      if (kind === EXTERNAL_KIND.memory) minimumPages = minimum
    }
  }
  if (abortFunction === undefined) {
    throw new AppError('invalid', `not an OPA policy module: it does not import ${ABORT_IMPORT}`)
  }
  return { globals, abortFunction, minimumPages }
}

function readLimits(reader: BinaryReader): number {
  const hasMaximum = (reader.byte() & 1) === 1
  const minimum = reader.unsigned()
  if (hasMaximum) reader.skipInteger()
  return minimum
}

/** Returns the indexes of mutable globals, which OPA initialises with constants. */
function listMutableGlobals(reader: BinaryReader): number[] {
  const count = reader.unsigned()
  const mutable: number[] = []
  for (let index = 0; index < count; index++) {
    const type = reader.byte()
    const isMutable = reader.byte() === MUTABLE
    if (isMutable && type === I32) mutable.push(index)
    skipExpression(reader)
  }
  return mutable
}

/** A mutable i32 with the largest value: only evaluations are limited. */
function fuelGlobal(): number[] {
  return [I32, MUTABLE, OP.constant, 0xff, 0xff, 0xff, 0xff, 0x07, OP.end]
}

function exportedGlobal(name: string, index: number): number[] {
  return exportEntry(name, EXTERNAL_KIND.global, index)
}

function meterCode(wasm: Uint8Array, section: Section, countdown: Uint8Array): Uint8Array[] {
  const reader = new BinaryReader(wasm, section.start, section.end)
  const count = reader.unsigned()
  const out: Uint8Array[] = [Buffer.from(encodeUnsigned(count))]
  for (let left = count; left > 0; left--) {
    writeBody(out, meterFunction(reader.slice(reader.unsigned()), countdown))
  }
  return out
}

/**
 * Returns the function body in pieces, with the countdown after each loop head. A function with
 * several calls also counts down at its entry: branching call graphs double the work with each
 * level. A single call continues the work of its caller.
 */
function meterFunction(reader: BinaryReader, countdown: Uint8Array): Uint8Array[] {
  const start = reader.at
  reader.skipLocals()
  const locals = reader.bytes.subarray(start, reader.at)
  const pieces: Uint8Array[] = []
  let copied = reader.at
  let calls = 0
  while (!reader.done) {
    const opcode = reader.byte()
    skipImmediates(opcode, reader)
    if (opcode === OP.call || opcode === OP.callIndirect) calls += 1
    if (opcode !== OP.loop) continue
    pieces.push(reader.bytes.subarray(copied, reader.at), countdown)
    copied = reader.at
  }
  pieces.push(reader.bytes.subarray(copied, reader.end))
  return calls > 1 ? [locals, countdown, ...pieces] : [locals, ...pieces]
}

/** Code for `fuel -= 1; if (fuel == 0) opa_abort(OUT_OF_FUEL)`; the call may return. */
function countdownCode(fuelIndex: number, abortFunction: number): Uint8Array {
  const fuel = encodeUnsigned(fuelIndex)
  const decrement = [OP.getGlobal, ...fuel, OP.constant, 1, OP.subtract, OP.setGlobal, ...fuel]
  const abortCall = [OP.constant, OUT_OF_FUEL & 0x7f, OP.call, ...encodeUnsigned(abortFunction)]
  return Buffer.from([...decrement, OP.getGlobal, ...fuel, OP.isZero, OP.if, VOID, ...abortCall, OP.end])
}

/** Kinds of segments (WebAssembly core specification 2.0, section 5.5.14). */
const PASSIVE = 1
const ACTIVE_WITH_MEMORY = 2

/**
 * Returns the end of the module's active data segments, 0 without any. The memory must reach it
 * before the module can be instantiated. Throws `invalid` if the address of a segment is not
 * constant.
 */
function endOfDataSegments(wasm: Uint8Array, sections: readonly Section[]): number {
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
  if (reader.byte() === OP.constant) {
    const offset = reader.signed() >>> 0
    if (reader.byte() === OP.end) return offset
  }
  throw new AppError('invalid', 'the policy module has a data segment without a constant address')
}
