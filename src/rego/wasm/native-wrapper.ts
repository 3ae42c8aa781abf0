import { encodeUnsigned } from './binary/binary-reader.js'
import { encodeSigned, OP } from './binary/instructions.js'
import type { HostRole } from './native-builtins.js'

/** A new function that policies call instead of a native one. */
export interface NativeWrapper {
  readonly native: number
  readonly hostRole: HostRole | undefined
  readonly parameterCount: number
  /** The import that passes a call with this many operands to the host. */
  readonly hostCall: number
}

/** First number of calls without a native value. OPA's numbers start at zero. */
export const REPORTS_FROM = 1_000_000
/** First number for calls that the host answers instead of a native built-in. */
export const ANSWERS_FROM = 2_000_000
/** The host's result if the native built-in should run. */
export const LEFT_TO_NATIVE = -1

const I32 = 0x7f
const EMPTY = 0x40
const LEFT = [OP.constant, 0x7f]

/**
 * Generates the body of a wrapper: `result := host(…)` if the host may answer; `result :=
 * native(…)` if it never does or declines; `result := host(…)` with the other number if the native
 * function returned no value.
 */
export function wrapperBody(wrapper: NativeWrapper, index: number): number[] {
  const { native, hostRole, parameterCount, hostCall } = wrapper
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
  const hostAnswer = callHost(ANSWERS_FROM + index)
  const code = [
    ...[0x01, 0x01, I32], // one local, for the result
    ...body(hostRole, hostAnswer, callNative, result),
    ...[OP.getLocal, ...result, OP.end],
  ]
  return [...encodeUnsigned(code.length), ...code]
}

function body(
  hostRole: HostRole | undefined,
  hostAnswer: readonly number[],
  callNative: readonly number[],
  result: readonly number[],
): number[] {
  if (hostRole === undefined) return [...callNative]
  if (hostRole === 'always') return [...hostAnswer, OP.setLocal, ...result]
  return [...hostAnswer, OP.teeLocal, ...result, ...LEFT, OP.equal, OP.if, EMPTY, ...callNative, OP.end]
}
