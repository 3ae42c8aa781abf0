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
import { MAX_PAGES, PAGE_BYTES } from './module/module-memory.js'
import { wrapNativeBuiltins } from './wrap-native-builtins.js'

/** A compiled module as plain data that threads can share. */
export interface ModuleCode {
  readonly module: WebAssembly.Module
  /** The rewritten module for other processes, in shared memory. */
  readonly bytes: Uint8Array
  /** The memory that the module needs before it evaluates anything, in pages of 64 KiB. */
  readonly minimumPages: number
  /** Native built-ins by the numbers that the module passes to its host. */
  readonly wrappedBuiltins: ReadonlyMap<number, string>
  /** One line per built-in call (calls/call-sites.ts). */
  readonly callSites: string
  /** Keys of the paths of all directly callable rules, in table order. */
  readonly rules: readonly string[]
}

/** Pages between the started module and the base documents, mainly for the reader's notes. */
const GAP_PAGES = 4
/** The last page of the 32-bit address space. A module that needs more is refused at setup. */
const LAST_PAGE = 65_535
const MIB = 1024 * 1024
/** Estimated size of a module's constants per byte of Rego. */
const PER_POLICY_BYTE = 2

/** Compiles the bytes of a `policy.wasm`. Throws `invalid` for a damaged module. */
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
    const reason = explainRefusal(toError(raw).message, metered.bytes)
    throw new AppError('invalid', `load policy module: ${reason}`, { cause: raw })
  }
}

/** Returns the lowest address for base documents of a module. */
export function lowestBase({ minimumPages }: ModuleCode): number {
  return Math.min(minimumPages + GAP_PAGES, LAST_PAGE) * PAGE_BYTES
}

/** Returns an address usually above a module. Unused memory costs nothing. */
export function estimatedBase(policyBytes: number): number {
  return Math.ceil((MIB + policyBytes * PER_POLICY_BYTE) / MIB) * MIB
}

/**
 * Returns the memory that a module needs once started, in pages. At its start a module writes the
 * names of all its functions to the heap, so the size is only known after a start. Returns
 * `minimumPages` if the module cannot be started here; its setup reports the reason.
 */
export function pagesOfStart(module: WebAssembly.Module, minimumPages: number): number {
  try {
    const memory = new WebAssembly.Memory({ initial: minimumPages, maximum: MAX_PAGES })
    const imports = WebAssembly.Module.imports(module).map(({ name }) => [name, refuse] as const)
    const env = { ...Object.fromEntries(imports), memory }
    const { exports } = new WebAssembly.Instance(module, { env })
    const heapEnd = exports['opa_heap_ptr_get'] as () => number
    return Math.max(minimumPages, Math.ceil(heapEnd() / PAGE_BYTES))
  } catch {
    return minimumPages
  }
}

/** A start calls no import other than to abort. */
function refuse(): never {
  throw new Error('unexpected call of an import')
}

/** V8's message for a function called like a rule, with OPA's name of the caller. */
const CALLED_AS_RULE = /:"g\d+\.(?<rule>.+)" failed: not enough arguments on the stack for call/
/**
 * V8's message for a function with too many local variables (over 50,000) or too much code; the
 * latter has no name. OPA's compiler uses a new local for each value.
 */
const TOO_LARGE = /:"g\d+\.(?<rule>.+)" failed: local count too large|size \d+ > maximum function size/

/** Explains why V8 refuses a module. Names the rule and the remedy if they are known. */
export function explainRefusal(message: string, wasm: Uint8Array): string {
  const called = CALLED_AS_RULE.exec(message)?.groups?.['rule']
  // OPA generates such a call if a reference with a variable can reach a function. OPA's own
  // evaluator skips functions there.
  if (called !== undefined)
    return `${called} has a reference with a variable (such as data.x[y].z) that can reach a function, for which OPA generates invalid code. Rename the function, or move it to another package`
  const large = TOO_LARGE.exec(message)
  if (large === null) return message
  return `${large.groups?.['rule'] ?? largestRule(wasm)} has more local variables or code than a WebAssembly function may have: for references with several variables (such as data.x[a] and data.x[b] in one body), OPA generates code for every combination of packages and rules. Assign the document above them to a variable and look the keys up in it (d := data.x; d[a]; d[b]), or split the rule`
}

function largestRule(wasm: Uint8Array): string {
  const sections = readSections(wasm)
  const { names, importCount } = readFunctionTable(wasm, sections)
  const code = openSection(wasm, sections, SECTION.code)
  let largest = { size: 0, name: '' }
  const count = code.unsigned()
  for (let index = 0; index < count; index++) {
    const size = code.unsigned()
    code.skip(size)
    if (size > largest.size) largest = { size, name: names.get(importCount + index) ?? 'a function' }
  }
  return largest.name.replace(/^g\d+\./, '')
}
