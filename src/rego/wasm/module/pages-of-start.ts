import { PAGE_BYTES } from './module-memory.js'

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
