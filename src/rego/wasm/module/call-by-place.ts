import { BinaryReader, encodeUnsigned } from '../binary/binary-reader.js'
import { OP, encodeSigned } from '../binary/opcodes.js'

const I32 = 0x7f
const FUNCTION_TYPE = 0x60
/** Flag of limits that have a maximum (WebAssembly core specification 2.0, section 5.3.7). */
const HAS_MAXIMUM = 0x01
/** An element segment that is put into table 0 when the module is instantiated, as function numbers (section 5.5.12). */
const ACTIVE = 0x00
const FIRST_TABLE = 0

/** The type of a function that calls another by its place: three i32 to one. */
export const CALLER_TYPE: readonly number[] = [FUNCTION_TYPE, 3, I32, I32, I32, 1, I32]

/** The body of that function, with its length: `table[firstPlace + place](second, third)`; the functions called have one type. */
export function callerCode(firstPlace: number, type: number): number[] {
  const body = [
    0x00, // no locals
    ...[OP.getLocal, 1, OP.getLocal, 2, OP.getLocal, 0],
    ...[OP.constant, ...encodeSigned(firstPlace), OP.add],
    ...[OP.callIndirect, ...encodeUnsigned(type), FIRST_TABLE, OP.end],
  ]
  return [...encodeUnsigned(body.length), ...body]
}

/** An element segment with functions by their numbers, from one place of the table on. */
export function tableElements(firstPlace: number, functions: readonly number[]): number[] {
  return [
    ...[ACTIVE, OP.constant, ...encodeSigned(firstPlace), OP.end],
    ...encodeUnsigned(functions.length),
    ...functions.flatMap(encodeUnsigned),
  ]
}

/** How many places the first table of a table section has. */
export function readTableSize(section: BinaryReader): number {
  return readFirstTable(section).minimum
}

/** The body of a table section whose first table has so many places more. */
export function growTable(body: Uint8Array, added: number): Uint8Array {
  const reader = new BinaryReader(body)
  const { count, elementType, minimum, maximum } = readFirstTable(reader)
  const limits =
    maximum === undefined
      ? [0, ...encodeUnsigned(minimum + added)]
      : [HAS_MAXIMUM, ...encodeUnsigned(minimum + added), ...encodeUnsigned(maximum + added)]
  return Buffer.concat([
    Buffer.from([...encodeUnsigned(count), elementType, ...limits]),
    body.subarray(reader.at),
  ])
}

interface FirstTable {
  readonly count: number
  readonly elementType: number
  readonly minimum: number
  readonly maximum: number | undefined
}

function readFirstTable(reader: BinaryReader): FirstTable {
  const count = reader.unsigned()
  const elementType = reader.byte()
  const flags = reader.byte()
  const minimum = reader.unsigned()
  return { count, elementType, minimum, maximum: flags === HAS_MAXIMUM ? reader.unsigned() : undefined }
}
