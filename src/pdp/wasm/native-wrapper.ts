import { encodeUnsigned } from './binary/binary-reader.js'
import { CALL } from './binary/instructions.js'
import type { HostTurn } from './native-builtins.js'

/** A new function that stands before a native one. */
export interface NativeWrapper {
  readonly native: number
  /** When the host answers in its place; undefined where it never does. */
  readonly hostTurn: HostTurn | undefined
  readonly parameterCount: number
  /** The import that hands a call with so many operands to the host. */
  readonly hostCall: number
}

/** What the host is called with where a native built-in gave no value: far from the numbers that OPA's compiler counts up from zero. */
export const REPORTS_FROM = 1_000_000
/** What it is called with where it is to answer in the place of a native one. */
export const ANSWERS_FROM = 2_000_000
/** The host's answer that the native built-in is to do it. */
export const LEFT_TO_NATIVE = -1

const I32 = 0x7f
const EMPTY = 0x40
/** The types of values as the runtime notes them in their first byte, and of a number that is no 64-bit integer in the first two (value.h). */
const TYPE = { string: 4, set: 7, internedString: 8 } as const
const DECIMAL = 3 | (2 << 8)
const LENGTH_OFFSET = 4
const TEXT_LENGTH_OFFSET = 12
const OP = {
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  getLocal: 0x20,
  setLocal: 0x21,
  teeLocal: 0x22,
  load: 0x28,
  loadByte: 0x2d,
  loadHalf: 0x2f,
  constant: 0x41,
  isZero: 0x45,
  equal: 0x46,
  greater: 0x4b,
  or: 0x72,
} as const
const LEFT = [OP.constant, 0x7f]

/**
 * The body of a wrapper. `result := host(…)` where it is the host's turn; `result := native(…)` where it is not, or where the host
 * leaves it to the native one; `result := host(…)` with the other number where that gave none.
 */
export function wrapperBody(wrapper: NativeWrapper, index: number): number[] {
  const { native, hostTurn, parameterCount, hostCall } = wrapper
  const result = encodeUnsigned(parameterCount)
  const operands = Array.from({ length: parameterCount }, (_, operand) => [
    OP.getLocal,
    ...encodeUnsigned(operand),
  ]).flat()
  const callHost = (number: number): number[] => [
    ...[OP.constant, ...encodeSigned(number)],
    ...[OP.constant, 0x00], // no context
    ...operands,
    ...[CALL, ...encodeUnsigned(hostCall)],
  ]
  const callNative = [
    ...[...operands, CALL, ...encodeUnsigned(native), OP.teeLocal, ...result],
    ...[OP.isZero, OP.if, EMPTY, ...callHost(REPORTS_FROM + index), OP.setLocal, ...result, OP.end],
  ]
  const askHost = callHost(ANSWERS_FROM + index)
  const code = [
    ...[0x01, 0x01, I32], // one local for the result
    ...body(hostTurn, parameterCount, askHost, callNative, result),
    ...[OP.getLocal, ...result, OP.end],
  ]
  return [...encodeUnsigned(code.length), ...code]
}

function body(
  hostTurn: HostTurn | undefined,
  parameterCount: number,
  askHost: readonly number[],
  callNative: readonly number[],
  result: readonly number[],
): number[] {
  if (hostTurn === undefined) return [...callNative]
  if (hostTurn === 'always') return [...askHost, OP.setLocal, ...result]
  const answer =
    hostTurn === 'chosen'
      ? askHost
      : [...isHostTurn(hostTurn, parameterCount), OP.if, I32, ...askHost, OP.else, ...LEFT, OP.end]
  return [...answer, OP.teeLocal, ...result, ...LEFT, OP.equal, OP.if, EMPTY, ...callNative, OP.end]
}

/** Leaves 1 on the stack where the host is to be asked. Whatever an operand is, what is read lies in the memory. */
function isHostTurn(hostTurn: Exclude<HostTurn, string> | 'decimal', parameterCount: number): number[] {
  if (hostTurn === 'decimal') {
    const tests = Array.from({ length: parameterCount }, (_, operand) => isLongText(operand))
    return tests.flatMap((test, index) => (index === 0 ? test : [...test, OP.or]))
  }
  const { operand, is } = hostTurn
  if (is === 'set') return isEqual(operand, OP.loadByte, TYPE.set)
  if (is === 'empty text') return [...load(operand, OP.load, LENGTH_OFFSET), OP.isZero]
  return [
    ...isEqual(operand, OP.loadByte, TYPE.string),
    ...isEqual(operand, OP.loadByte, TYPE.internedString),
    OP.or,
  ]
}

/** Numbers written in a policy are texts, too: most are a digit, and what longer ones are is for the host to see. */
function isLongText(operand: number): number[] {
  const isLong = [...load(operand, OP.load, TEXT_LENGTH_OFFSET), OP.constant, ...encodeSigned(1), OP.greater]
  return [
    ...isEqual(operand, OP.loadHalf, DECIMAL),
    OP.if,
    I32,
    ...isLong,
    OP.else,
    OP.constant,
    0x00,
    OP.end,
  ]
}

function isEqual(operand: number, opcode: number, value: number): number[] {
  return [...load(operand, opcode, 0), OP.constant, ...encodeSigned(value), OP.equal]
}

/** Without a hint of alignment. */
function load(operand: number, opcode: number, offset: number): number[] {
  return [OP.getLocal, ...encodeUnsigned(operand), opcode, 0x00, ...encodeUnsigned(offset)]
}

/** Below 2^27, a signed LEB128 integer of four bytes: its sign bit stays clear. */
function encodeSigned(value: number): number[] {
  return [(value & 0x7f) | 0x80, ((value >> 7) & 0x7f) | 0x80, ((value >> 14) & 0x7f) | 0x80, value >> 21]
}
