/** Opcodes of what is put into modules (WebAssembly core specification 2.0, section 5.4). */
export const OP = {
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  branch: 0x0c,
  branchIf: 0x0d,
  branchTable: 0x0e,
  callIndirect: 0x11,
  getLocal: 0x20,
  setLocal: 0x21,
  teeLocal: 0x22,
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

/** Below 2^27, a signed LEB128 integer of four bytes: its sign bit stays clear. */
export function encodeSigned(value: number): number[] {
  return [(value & 0x7f) | 0x80, ((value >> 7) & 0x7f) | 0x80, ((value >> 14) & 0x7f) | 0x80, value >> 21]
}
