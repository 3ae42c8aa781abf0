import { AppError, toError } from '../../errors/app-error.js'
import { readBuilt } from '../../lib/built-module.js'
import { ShortTurns } from '../../lib/turns/short-turns.js'
import { readFunctionTable } from './binary/function-table.js'
import { openSection, readSections, SECTION } from './binary/sections.js'
import { CALL_SITE } from './calls/call-sites.js'
import { LINKED_FILE, LINKED_PREFIX, REPLACED } from './linked/ordered-iteration.js'
import { exportRules } from './module/export-rules.js'
import { linkFunctions } from './module/link-functions.js'
import { meterModule } from './module/meter-module.js'
import { PAGE_BYTES } from './module/module-memory.js'
import { wrapNativeBuiltins } from './wrap-native-builtins.js'

/** A compiled module as plain data, which threads share. */
export interface ModuleCode {
  readonly module: WebAssembly.Module
  /** What the module was compiled of, for other processes; in shared memory. */
  readonly bytes: Uint8Array
  /** The memory that the module needs before it evaluates anything, in pages of 64 KiB. */
  readonly minimumPages: number
  /** Native built-ins by the numbers that the module calls its host with. */
  readonly wrappedBuiltins: ReadonlyMap<number, string>
  /** A line for each call of a built-in (calls/call-sites.ts). */
  readonly callSites: string
  /** The keys of the paths of the rules that can be called by themselves, in the order of their places. */
  readonly rules: readonly string[]
}

/** Between what a module has once it has started and the base documents: what is made once for an instance, the reader's notes above all. */
const ROOM_PAGES = 4
/** Of what 32 bits address: a module that needs more is refused when it is set up. */
const LAST_PAGE = 65_535
const MIB = 1024 * 1024
/** What the constants of a module come to, for a byte of Rego. */
const PER_POLICY_BYTE = 2

/** Compiles the bytes of a `policy.wasm`. Raises `invalid` for a module that is damaged. */
export async function compileModule(wasm: Uint8Array): Promise<ModuleCode> {
  const turns = new ShortTurns()
  const linked = linkFunctions(wasm, readBuilt(LINKED_FILE), LINKED_PREFIX)
  const replaced = Object.entries(REPLACED).flatMap(([name, replacement]) => {
    const number = linked.functions.get(replacement)
    return number === undefined ? [] : [[name, number] as const]
  })
  await turns.pause()
  const { bytes, builtinNames, callSites } = wrapNativeBuiltins(
    linked.bytes,
    new Map(replaced),
    linked.globals.get(CALL_SITE),
  )
  await turns.pause()
  const exported = exportRules(bytes)
  await turns.pause()
  const metered = meterModule(exported.bytes)
  try {
    const module = await WebAssembly.compile(metered.bytes)
    const minimumPages = pagesOfStart(module, metered.minimumPages)
    const kept = new Uint8Array(new SharedArrayBuffer(metered.bytes.length))
    kept.set(metered.bytes)
    const { rules } = exported
    return { module, bytes: kept, minimumPages, wrappedBuiltins: builtinNames, callSites, rules }
  } catch (raw) {
    throw new AppError('invalid', `load policy module: ${whyRefused(toError(raw).message, metered.bytes)}`, {
      cause: raw,
    })
  }
}

/** The lowest address at which a module leaves room for base documents. */
export function leastBase({ minimumPages }: ModuleCode): number {
  return Math.min(minimumPages + ROOM_PAGES, LAST_PAGE) * PAGE_BYTES
}

/** An address that is mostly high enough for modules of so many bytes of policies: memory that is not used costs nothing. */
export function likelyBase(policyBytes: number): number {
  return Math.ceil((MIB + policyBytes * PER_POLICY_BYTE) / MIB) * MIB
}

/** Of what 32 bits address. */
const MOST_PAGES = 65_536

/**
 * The memory that a module needs once it has started, in pages: what it begins with, or more where its start fills the heap beyond that.
 * There it puts the names of all its functions, so that only a start tells. For a module that cannot be started here, what it begins
 * with: setting it up tells what is wrong with it.
 */
export function pagesOfStart(module: WebAssembly.Module, minimumPages: number): number {
  try {
    const memory = new WebAssembly.Memory({ initial: minimumPages, maximum: MOST_PAGES })
    const imports = WebAssembly.Module.imports(module).map(({ name }) => [name, refuse] as const)
    const env = { ...Object.fromEntries(imports), memory }
    const { exports } = new WebAssembly.Instance(module, { env })
    const heapEnd = exports['opa_heap_ptr_get'] as () => number
    return Math.max(minimumPages, Math.ceil(heapEnd() / PAGE_BYTES))
  } catch {
    return minimumPages
  }
}

/** A start asks its host for nothing but to abort. */
function refuse(): never {
  throw new Error('a module that is measured asks its host')
}

/** What V8 says of a function that is called as rules are, with the name that OPA gave its caller. */
const CALLED_AS_RULE = /:"g\d+\.(?<rule>.+)" failed: not enough arguments on the stack for call/
/** What it says of a function with more local variables, or more code, than it takes; the latter without a name. */
const TOO_LARGE = /:"g\d+\.(?<rule>.+)" failed: local count too large|size \d+ > maximum function size/

/** Why V8 does not compile a module, with the rule that it is about and what to do, where these are known. */
export function whyRefused(message: string, wasm: Uint8Array): string {
  const called = CALLED_AS_RULE.exec(message)?.groups?.['rule']
  // OPA makes such a call where a reference leads to a function by a variable; its own evaluator passes over functions there.
  if (called !== undefined)
    return `${called} refers by a variable (as data.x[y].z does) to what may be a function, which OPA compiles to code that is not valid: give the function a name that is not referred to so, or another package`
  const large = TOO_LARGE.exec(message)
  if (large === null) return message
  return `${large.groups?.['rule'] ?? largestRule(wasm)} is compiled to more code than a function may have: of references by several variables (as data.x[a] and data.x[b] in one body), OPA writes out every combination of the packages and rules that they may lead to. Look one of them up in a function or rule of its own, or split the rule`
}

function largestRule(wasm: Uint8Array): string {
  const sections = readSections(wasm)
  const { names, importCount } = readFunctionTable(wasm, sections)
  const code = openSection(wasm, sections, SECTION.code)
  let largest = { size: 0, name: '' }
  const count = code.unsigned()
  for (let place = 0; place < count; place++) {
    const size = code.unsigned()
    code.skip(size)
    if (size > largest.size) largest = { size, name: names.get(importCount + place) ?? 'a function' }
  }
  return largest.name.replace(/^g\d+\./, '')
}
