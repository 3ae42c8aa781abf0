import { AppError, toError } from '../../errors/app-error.js'
import { readBuilt } from '../../lib/built-module.js'
import { ShortTurns } from '../../lib/turns/short-turns.js'
import { exportRules } from './module/export-rules.js'
import { linkFunctions } from './module/link-functions.js'
import { mergeLocals } from './module/merge-locals.js'
import { meterModule } from './module/meter-module.js'
import { PAGE_BYTES } from './module/module-memory.js'
import { pagesOfStart } from './module/pages-of-start.js'
import { CALL_SITE } from './calls/call-sites.js'
import { LINKED_FILE, LINKED_PREFIX, REPLACED } from './linked/ordered-iteration.js'
import { whyRefused } from './module/why-refused.js'
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
  const merged = mergeLocals(exported.bytes)
  await turns.pause()
  const metered = meterModule(merged)
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
