import { AppError } from '../../../errors/app-error.js'
import type { BinaryReader } from './binary-reader.js'

/** Opcodes by name (WebAssembly core specification 2.0, section 5.4). */
export const OP = {
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  branchIf: 0x0d,
  call: 0x10,
  callIndirect: 0x11,
  getLocal: 0x20,
  setLocal: 0x21,
  teeLocal: 0x22,
  getGlobal: 0x23,
  setGlobal: 0x24,
  load: 0x28,
  loadByte: 0x2d,
  loadHalf: 0x2f,
  constant: 0x41,
  isZero: 0x45,
  equal: 0x46,
  lessUnsigned: 0x49,
  greaterUnsigned: 0x4b,
  atLeastUnsigned: 0x4f,
  add: 0x6a,
  subtract: 0x6b,
  and: 0x71,
  or: 0x72,
} as const

/** Encodes an integer from 0 to 2^27 - 1 as a signed LEB128 of four bytes. */
export function encodeSigned(value: number): number[] {
  return [(value & 0x7f) | 0x80, ((value >> 7) & 0x7f) | 0x80, ((value >> 14) & 0x7f) | 0x80, value >> 21]
}

/**
 * Kinds of immediates that follow an opcode. A byte table: one lookup function per opcode would be
 * called a hundred thousand times per module.
 */
const [
  NOTHING,
  INTEGER,
  TWO_INTEGERS,
  BRANCH_TABLE,
  TYPED_SELECT,
  FOUR_BYTES,
  EIGHT_BYTES,
  PREFIXED,
  UNKNOWN,
] = [0, 1, 2, 3, 4, 5, 6, 7, 8]

const IMMEDIATES = buildTable()

/** Skips the immediates of an opcode. Throws `invalid` for an unknown opcode. */
export function skipImmediates(opcode: number, reader: BinaryReader): void {
  const immediates = IMMEDIATES[opcode]
  if (immediates === NOTHING) return
  if (immediates === INTEGER) reader.skipInteger()
  else if (immediates === TWO_INTEGERS) {
    reader.skipInteger()
    reader.skipInteger()
  } else skipRareImmediates(opcode, immediates, reader)
}

function skipRareImmediates(opcode: number, immediates: number | undefined, reader: BinaryReader): void {
  if (immediates === BRANCH_TABLE) skipBranchTable(reader)
  else if (immediates === TYPED_SELECT) skipTypedSelect(reader)
  else if (immediates === FOUR_BYTES) reader.skip(4)
  else if (immediates === EIGHT_BYTES) reader.skip(8)
  else if (immediates === PREFIXED) skipPrefixed(reader)
  else throw unknownInstruction(opcode)
}

function buildTable(): Uint8Array {
  const table = new Uint8Array(256).fill(UNKNOWN)
  const set = (from: number, to: number, immediates: number): void => {
    table.fill(immediates, from, to + 1)
  }
  set(0x00, 0x01, NOTHING) // unreachable, nop
  set(0x02, 0x04, INTEGER) // block, loop, if: a block type is a signed LEB128 of 33 bits
  set(0x05, 0x05, NOTHING) // else
  set(OP.end, OP.end, NOTHING)
  set(0x0c, 0x0d, INTEGER) // br, br_if
  set(0x0e, 0x0e, BRANCH_TABLE)
  set(0x0f, 0x0f, NOTHING) // return
  set(OP.call, OP.call, INTEGER)
  set(OP.callIndirect, OP.callIndirect, TWO_INTEGERS)
  set(0x1a, 0x1b, NOTHING) // drop, select
  set(0x1c, 0x1c, TYPED_SELECT)
  set(0x20, 0x26, INTEGER) // local.*, global.*, table.get, table.set
  set(0x28, 0x3e, TWO_INTEGERS) // loads and stores: alignment, offset
  set(0x3f, 0x40, INTEGER) // memory.size, memory.grow
  set(0x41, 0x42, INTEGER) // i32.const, i64.const
  set(0x43, 0x43, FOUR_BYTES) // f32.const
  set(0x44, 0x44, EIGHT_BYTES) // f64.const
  set(0x45, 0xc4, NOTHING) // comparisons, arithmetic, conversions, sign extension
  set(0xd0, 0xd0, INTEGER) // ref.null
  set(0xd1, 0xd1, NOTHING) // ref.is_null
  set(0xd2, 0xd2, INTEGER) // ref.func
  set(0xfc, 0xfc, PREFIXED)
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

/**
 * Skips an instruction of the 0xFC group. Saturating conversions have no immediates; bulk memory
 * and table operations have one or two indexes.
 */
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

/** Skips the constant expression that initialises a global. */
export function skipExpression(reader: BinaryReader): void {
  for (let opcode = reader.byte(); opcode !== OP.end; opcode = reader.byte()) skipImmediates(opcode, reader)
}
