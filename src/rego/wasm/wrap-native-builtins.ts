import { BinaryReader, encodeUnsigned } from './binary/binary-reader.js'
import { readFunctionTable } from './binary/function-table.js'
import type { FunctionTable } from './binary/function-table.js'
import { OP, skipImmediates } from './binary/instructions.js'
import { CallSiteWriter } from './calls/call-sites.js'
import type { FoundCall } from './calls/call-sites.js'
import { NATIVE_BUILTINS, hostRoleOf } from './native-builtins.js'
import { ANSWERS_FROM, REPORTS_FROM, wrapperBody } from './native-wrapper.js'
import type { NativeWrapper } from './native-wrapper.js'
import {
  HEADER_BYTES,
  SECTION,
  appendToVector,
  concat,
  readSections,
  writeBody,
  writeSection,
} from './binary/sections.js'

export interface WrappedModule {
  readonly bytes: Uint8Array
  /** Native built-ins that the policies call through the host, by the numbers of the calls. */
  readonly builtinNames: ReadonlyMap<number, string>
  /** See `ModuleCode.callSites`. */
  readonly callSites: string
}

/** OPA's compiler names the functions of rules `g0.data.…`; `with` on a function opens `g1`. */
const POLICY_FUNCTION = /^g\d+\./
/** `walk`, which returns the visited values in an array. */
const WALK = '__opa_value_transitive_closure'
/** The only runtime functions whose calls are redirected, and the function that each calls. */
const REDIRECTED_IN: ReadonlyMap<string, string> = new Map([
  ['opa_value_hash', 'opa_number_hash'],
  ['builtin_object_get', 'opa_value_get'],
])
/** Recent instructions with known offsets: operands, a number and a context. */
const RECENT = 8
const NOTHING = new Uint8Array()

/**
 * Rewrites a module so that its policies call native built-ins through wrappers. If the native
 * function returns no value, the wrapper calls the host, which knows the error or has a value. If
 * the module's result would differ from OPA's, the host answers instead. Calls of runtime functions
 * in `replaced` are redirected. With `siteGlobal`, each built-in call first stores its number
 * there. A module without function names is returned unchanged.
 */
export function wrapNativeBuiltins(
  wasm: Uint8Array,
  replaced: ReadonlyMap<string, number> = new Map(),
  siteGlobal?: number,
): WrappedModule {
  const sections = readSections(wasm)
  const table = readFunctionTable(wasm, sections)
  const wrappers = listWrappers(table)
  const firstWrapper = table.importCount + table.types.length
  const redirects = new Map(wrappers.map(({ native }, index) => [native, firstWrapper + index]))
  for (const [number, name] of table.names) {
    const replacement = replaced.get(name)
    if (replacement !== undefined) redirects.set(number, replacement)
  }
  if (redirects.size === 0) return { bytes: wasm, builtinNames: new Map(), callSites: '' }
  const sites = new CallSiteWriter(
    table,
    new Map(wrappers.map((one) => [one.native, one.builtin])),
    siteGlobal,
  )
  const called = new Set<number>()
  const out: Uint8Array[] = [wasm.subarray(0, HEADER_BYTES)]
  for (const section of sections) {
    const body = wasm.subarray(section.start, section.end)
    if (section.id === SECTION.function) {
      const types = wrappers.map(({ type }) => encodeUnsigned(type))
      writeSection(out, section.id, [appendToVector(body, types)])
    } else if (section.id === SECTION.code) {
      const redirected = redirectCalls(new BinaryReader(body), table, { redirects, called, sites })
      writeSection(out, section.id, [appendToVector(redirected, wrappers.map(wrapperBody))])
    } else writeSection(out, section.id, [body])
  }
  return {
    bytes: concat(out),
    builtinNames: new Map(
      wrappers.flatMap(({ builtin }, index) =>
        called.has(firstWrapper + index)
          ? [
              [REPORTS_FROM + index, builtin],
              [ANSWERS_FROM + index, builtin],
            ]
          : [],
      ),
    ),
    callSites: sites.text,
  }
}

function listWrappers({
  names,
  importCount,
  types,
  parameterCounts,
}: FunctionTable): (NativeWrapper & { readonly builtin: string; readonly type: number })[] {
  const numbers = new Map([...names].map(([number, name]) => [name, number]))
  return Object.entries(NATIVE_BUILTINS).flatMap(([name, builtin]) => {
    const native = numbers.get(name)
    const type = native === undefined ? undefined : types[native - importCount]
    const parameterCount = type === undefined ? undefined : parameterCounts[type]
    const hostCall = numbers.get(`opa_builtin${parameterCount ?? ''}`)
    if (native === undefined || type === undefined || parameterCount === undefined) return []
    return hostCall === undefined
      ? []
      : [{ builtin, native, hostRole: hostRoleOf(builtin), type, parameterCount, hostCall }]
  })
}

interface Redirection {
  /** Function numbers and their replacements. */
  readonly redirects: ReadonlyMap<number, number>
  /** Collects the replacements that are called. */
  readonly called: Set<number>
  readonly sites: CallSiteWriter
}

/** Rewrites calls in policies, and of the hash of numbers in the runtime. */
function redirectCalls(
  reader: BinaryReader,
  { names, importCount }: FunctionTable,
  { redirects, called, sites }: Redirection,
): Uint8Array {
  const count = reader.unsigned()
  const out: Uint8Array[] = [Buffer.from(encodeUnsigned(count))]
  for (let number = importCount; number < importCount + count; number++) {
    const body = reader.slice(reader.unsigned())
    const name = names.get(number) ?? ''
    const isRedirected = POLICY_FUNCTION.test(name) || name === WALK
    const inner = REDIRECTED_IN.get(name)
    const pieces = isRedirected
      ? redirectIn(body, { redirects, called, codeBefore: (call) => sites.codeBefore(name, call) })
      : inner !== undefined
        ? redirectIn(body, { redirects: only(redirects, names, inner), called, codeBefore: () => NOTHING })
        : [body.bytes.subarray(body.at, body.end)]
    writeBody(out, pieces)
  }
  return concat(out)
}

/** Returns the redirects of one function's calls. */
function only(
  redirects: ReadonlyMap<number, number>,
  names: ReadonlyMap<number, string>,
  callee: string,
): ReadonlyMap<number, number> {
  return new Map([...redirects].filter(([native]) => names.get(native) === callee))
}

function redirectIn(
  reader: BinaryReader,
  {
    redirects,
    called,
    codeBefore,
  }: Omit<Redirection, 'sites'> & { readonly codeBefore: (call: FoundCall) => Uint8Array },
): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let copied = reader.at
  reader.skipLocals()
  const recent = new Uint32Array(RECENT)
  let read = 0
  const startOf = (before: number): number => recent[(read - 1 - before) % RECENT] ?? 0
  while (!reader.done) {
    recent[read % RECENT] = reader.at
    read += 1
    const opcode = reader.byte()
    const operandStart = reader.at
    if (opcode !== OP.call) {
      skipImmediates(opcode, reader)
      continue
    }
    const native = reader.unsigned()
    const target = redirects.get(native)
    const before = codeBefore({ called: native, bytes: reader.bytes, startOf })
    if (target !== undefined) called.add(target)
    if (target === undefined && before.length === 0) continue
    pieces.push(
      reader.bytes.subarray(copied, operandStart - 1),
      before,
      Buffer.from([OP.call, ...encodeUnsigned(target ?? native)]),
    )
    copied = reader.at
  }
  return [...pieces, reader.bytes.subarray(copied, reader.end)]
}
