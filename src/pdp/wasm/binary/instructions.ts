import { AppError } from '../../../errors/app-error.js'
import type { BinaryReader } from './binary-reader.js'

/** Opcodes that the rewriting needs by name (WebAssembly core specification 2.0, section 5.4). */
export const LOOP = 0x03
const END = 0x0b
export const CALL = 0x10

type SkipImmediates = (reader: BinaryReader) => void

const none: SkipImmediates = () => undefined
const integer: SkipImmediates = (reader) => reader.skipInteger()
const twoIntegers: SkipImmediates = (reader) => {
  reader.skipInteger()
  reader.skipInteger()
}

const IMMEDIATES = buildTable()

/** Steps over the immediates of the instruction whose opcode was just read; raises `invalid` on an unknown one. */
export function skipImmediates(opcode: number, reader: BinaryReader): void {
  const skip = IMMEDIATES[opcode]
  if (skip === undefined) throw unknownInstruction(opcode)
  skip(reader)
}

function buildTable(): readonly (SkipImmediates | undefined)[] {
  const table: (SkipImmediates | undefined)[] = []
  const set = (from: number, to: number, skip: SkipImmediates): void => {
    for (let opcode = from; opcode <= to; opcode++) table[opcode] = skip
  }
  set(0x00, 0x01, none) // unreachable, nop
  set(0x02, 0x04, integer) // block, loop, if: a block type is a signed LEB128 of 33 bits
  set(0x05, 0x05, none) // else
  set(END, END, none) // end
  set(0x0c, 0x0d, integer) // br, br_if
  set(0x0e, 0x0e, skipBranchTable)
  set(0x0f, 0x0f, none) // return
  set(CALL, CALL, integer)
  set(0x11, 0x11, twoIntegers) // call_indirect
  set(0x1a, 0x1b, none) // drop, select
  set(0x1c, 0x1c, skipTypedSelect)
  set(0x20, 0x26, integer) // local.*, global.*, table.get, table.set
  set(0x28, 0x3e, twoIntegers) // loads and stores: alignment, offset
  set(0x3f, 0x40, integer) // memory.size, memory.grow
  set(0x41, 0x42, integer) // i32.const, i64.const
  set(0x43, 0x43, (reader) => reader.skip(4)) // f32.const
  set(0x44, 0x44, (reader) => reader.skip(8)) // f64.const
  set(0x45, 0xc4, none) // comparisons, arithmetic, conversions, sign extension
  set(0xd0, 0xd0, integer) // ref.null
  set(0xd1, 0xd1, none) // ref.is_null
  set(0xd2, 0xd2, integer) // ref.func
  set(0xfc, 0xfc, skipPrefixed)
  return table
}

function skipBranchTable(reader: BinaryReader): void {
  const labels = reader.unsigned()
  for (let i = 0; i <= labels; i++) reader.skipInteger()
}

function skipTypedSelect(reader: BinaryReader): void {
  reader.skip(reader.unsigned())
}

const TWO_INDEXES: readonly number[] = [8, 10, 12, 14] // memory.init, memory.copy, table.init, table.copy

/** The 0xFC group: saturating conversions carry nothing more, bulk memory and table operations one or two indexes. */
function skipPrefixed(reader: BinaryReader): void {
  const operation = reader.unsigned()
  if (operation <= 7) return
  if (operation > 17) throw unknownInstruction(0xfc)
  reader.skipInteger()
  if (TWO_INDEXES.includes(operation)) reader.skipInteger()
}

function unknownInstruction(opcode: number): AppError {
  return new AppError(
    'invalid',
    `the policy module uses the WebAssembly instruction 0x${opcode.toString(16)}, which cannot be metered; build it with an OPA that targets WASM 1.0`,
  )
}

/** Steps over the constant expression that a global begins with. */
export function skipExpression(reader: BinaryReader): void {
  for (let opcode = reader.byte(); opcode !== END; opcode = reader.byte()) skipImmediates(opcode, reader)
}
