import { BinaryReader, encodeUnsigned } from './binary-reader.js'
import { readFunctionTable } from './function-table.js'
import type { FunctionTable } from './function-table.js'
import { CALL, skipImmediates } from './instructions.js'
import { NATIVE_BUILTINS, REPLACED_BUILTINS } from './native-builtins.js'
import {
  HEADER_BYTES,
  SECTION,
  appendToVector,
  concat,
  readSections,
  totalLength,
  writeSection,
} from './sections.js'

export interface ReportingModule {
  readonly bytes: Uint8Array
  /** The built-ins whose failures the module reports, by the number that it calls them with. */
  readonly builtinNames: ReadonlyMap<number, string>
}

/** A new function that stands before a native one. */
interface Wrapper {
  readonly builtin: string
  readonly native: number
  /** Whether the host answers in its place, not only where it gives no value. */
  readonly isReplaced: boolean
  readonly type: number
  readonly parameterCount: number
  /** The import that hands a call with so many operands to the host. */
  readonly hostCall: number
}

/** Far from the numbers that OPA's compiler counts up from zero. */
const FIRST_BUILTIN_NUMBER = 1_000_000
/** OPA's compiler names the functions it makes from rules `g0.data.…`; a `with` on a function opens `g1`. */
const POLICY_FUNCTION = /^g\d+\./
const I32 = 0x7f

/**
 * Rewrites a module so that a native built-in which gives no value calls the host with its operands, like one that the
 * module lacks: the host can tell why it failed, or has a value. A call that gives a value costs no more than one test. A module
 * without function names stays as it is.
 */
export function reportNativeFailures(wasm: Uint8Array): ReportingModule {
  const sections = readSections(wasm)
  const table = readFunctionTable(wasm, sections)
  const wrappers = listWrappers(table)
  if (wrappers.length === 0) return { bytes: wasm, builtinNames: new Map() }
  const firstWrapper = table.importCount + table.types.length
  const redirects = new Map(wrappers.map(({ native }, index) => [native, firstWrapper + index]))
  const out: Uint8Array[] = [wasm.subarray(0, HEADER_BYTES)]
  for (const section of sections) {
    const body = wasm.subarray(section.start, section.end)
    if (section.id === SECTION.function) {
      const types = wrappers.map(({ type }) => encodeUnsigned(type))
      writeSection(out, section.id, [appendToVector(body, types)])
    } else if (section.id === SECTION.code) {
      const redirected = redirectCalls(new BinaryReader(body), table, redirects)
      writeSection(out, section.id, [appendToVector(redirected, wrappers.map(wrapperBody))])
    } else writeSection(out, section.id, [body])
  }
  return {
    bytes: concat(out),
    builtinNames: new Map(wrappers.map(({ builtin }, index) => [FIRST_BUILTIN_NUMBER + index, builtin])),
  }
}

function listWrappers({ names, importCount, types, parameterCounts }: FunctionTable): Wrapper[] {
  const numbers = new Map([...names].map(([number, name]) => [name, number]))
  return Object.entries({ ...NATIVE_BUILTINS, ...REPLACED_BUILTINS }).flatMap(([name, builtin]) => {
    const native = numbers.get(name)
    const type = native === undefined ? undefined : types[native - importCount]
    const parameterCount = type === undefined ? undefined : parameterCounts[type]
    const hostCall = numbers.get(`opa_builtin${parameterCount ?? ''}`)
    if (native === undefined || type === undefined || parameterCount === undefined) return []
    return hostCall === undefined
      ? []
      : [{ builtin, native, isReplaced: name in REPLACED_BUILTINS, type, parameterCount, hostCall }]
  })
}

/** `result := native(…)`; when it is null, or the native one is replaced, the host's answer instead. */
function wrapperBody({ native, isReplaced, parameterCount, hostCall }: Wrapper, index: number): number[] {
  const operands = Array.from({ length: parameterCount }, (_, operand) => [0x20, ...encodeUnsigned(operand)])
  const result = encodeUnsigned(parameterCount)
  const callNative = [...operands.flat(), CALL, ...encodeUnsigned(native)]
  const code = [
    ...[0x01, 0x01, I32], // one local for the result
    ...(isReplaced ? [0x41, 0x00] : callNative), // or i32.const: no result
    ...[0x22, ...result], // local.tee
    ...[0x45, 0x04, I32], // i32.eqz, if
    ...[0x41, ...encodeSigned(FIRST_BUILTIN_NUMBER + index)], // i32.const: which built-in
    ...[0x41, 0x00], // i32.const: no context
    ...operands.flat(),
    ...[CALL, ...encodeUnsigned(hostCall)],
    ...[0x05, 0x20, ...result, 0x0b, 0x0b], // else local.get, end, end
  ]
  return [...encodeUnsigned(code.length), ...code]
}

/** The code section with the policy's own calls redirected; the runtime keeps calling its functions directly. */
function redirectCalls(
  reader: BinaryReader,
  { names, importCount }: FunctionTable,
  redirects: ReadonlyMap<number, number>,
): Uint8Array {
  const count = reader.unsigned()
  const out: Uint8Array[] = [Buffer.from(encodeUnsigned(count))]
  for (let number = importCount; number < importCount + count; number++) {
    const body = reader.slice(reader.unsigned())
    const isPolicy = POLICY_FUNCTION.test(names.get(number) ?? '')
    const pieces = isPolicy ? redirectIn(body, redirects) : [body.bytes.subarray(body.at, body.end)]
    out.push(Buffer.from(encodeUnsigned(totalLength(pieces))), ...pieces)
  }
  return concat(out)
}

function redirectIn(reader: BinaryReader, redirects: ReadonlyMap<number, number>): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let copied = reader.at
  reader.skipLocals()
  while (!reader.done) {
    const opcode = reader.byte()
    const operandStart = reader.at
    if (opcode !== CALL) {
      skipImmediates(opcode, reader)
      continue
    }
    const target = redirects.get(reader.unsigned())
    if (target === undefined) continue
    pieces.push(reader.bytes.subarray(copied, operandStart), Buffer.from(encodeUnsigned(target)))
    copied = reader.at
  }
  return [...pieces, reader.bytes.subarray(copied, reader.end)]
}

/** Below 2^27, a signed LEB128 integer of four bytes: its sign bit stays clear. */
function encodeSigned(value: number): number[] {
  return [(value & 0x7f) | 0x80, ((value >> 7) & 0x7f) | 0x80, ((value >> 14) & 0x7f) | 0x80, value >> 21]
}
