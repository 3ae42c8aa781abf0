import { encodeUnsigned } from './binary/binary-reader.js'
import { encodeSigned, OP } from './binary/instructions.js'
import type { HostTurn } from './native-builtins.js'

/** A new function that is called in place of a native one. */
export interface NativeWrapper {
  readonly native: number
  /** When the host answers in its place; undefined where it never does. */
  readonly hostTurn: HostTurn | undefined
  readonly parameterCount: number
  /** The import that hands a call with this many operands to the host. */
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
    ...[OP.call, ...encodeUnsigned(hostCall)],
  ]
  const callNative = [
    ...[...operands, OP.call, ...encodeUnsigned(native), OP.teeLocal, ...result],
    ...[OP.isZero, OP.if, EMPTY, ...callHost(REPORTS_FROM + index), OP.setLocal, ...result, OP.end],
  ]
  const askHost = callHost(ANSWERS_FROM + index)
  const code = [
    ...[0x01, 0x01, I32], // one local, for the result
    ...body(hostTurn, askHost, callNative, result),
    ...[OP.getLocal, ...result, OP.end],
  ]
  return [...encodeUnsigned(code.length), ...code]
}

function body(
  hostTurn: HostTurn | undefined,
  askHost: readonly number[],
  callNative: readonly number[],
  result: readonly number[],
): number[] {
  if (hostTurn === undefined) return [...callNative]
  if (hostTurn === 'always') return [...askHost, OP.setLocal, ...result]
  return [...askHost, OP.teeLocal, ...result, ...LEFT, OP.equal, OP.if, EMPTY, ...callNative, OP.end]
}
