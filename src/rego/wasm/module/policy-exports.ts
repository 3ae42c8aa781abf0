import { AppError } from '../../../errors/app-error.js'
import { compareStrings } from '../../../lib/text/compare-strings.js'
import { FUEL_EXPORT } from './meter-module.js'

/** The used functions of OPA's WASM ABI 1.2. Addresses are i32. */
export interface PolicyExports {
  readonly opa_eval: (
    reserved: number,
    entrypoint: number,
    data: number,
    input: number,
    inputLength: number,
    heap: number,
    format: number,
  ) => number
  readonly opa_malloc: (length: number) => number
  readonly opa_free: (address: number) => void
  readonly opa_json_parse: (address: number, length: number) => number
  readonly opa_value_parse: (address: number, length: number) => number
  readonly opa_value_dump: (value: number) => number
  readonly opa_heap_ptr_get: () => number
  readonly opa_heap_ptr_set: (address: number) => void
  readonly opa_eval_ctx_new: () => number
  readonly opa_eval_ctx_set_input: (context: number, value: number) => void
  readonly opa_eval_ctx_set_data: (context: number, value: number) => void
  readonly opa_eval_ctx_set_entrypoint: (context: number, entrypoint: number) => void
  readonly opa_eval_ctx_get_result: (context: number) => number
  readonly eval: (context: number) => number
  readonly builtins: () => number
  readonly entrypoints: () => number
  readonly fuel: WebAssembly.Global
}

const ABI_VERSION = 1
const MINIMUM_MINOR_VERSION = 2

/** Returns typed exports. Throws `invalid` for a module of another ABI. */
export function toPolicyExports(exports: WebAssembly.Exports): PolicyExports {
  const version = globalValue(exports, 'opa_wasm_abi_version')
  const minor = globalValue(exports, 'opa_wasm_abi_minor_version')
  if (version !== ABI_VERSION || minor === undefined || minor < MINIMUM_MINOR_VERSION) {
    throw new AppError(
      'invalid',
      `the policy module has OPA's WASM ABI ${version ?? '?'}.${minor ?? '?'}, but 1.2 or later is needed: build it with OPA 0.35 or later`,
    )
  }
  return {
    ...(exports as unknown as Omit<PolicyExports, 'fuel'>),
    fuel: exports[FUEL_EXPORT] as WebAssembly.Global,
  }
}

function globalValue(exports: WebAssembly.Exports, name: string): number | undefined {
  const exported = exports[name]
  return exported instanceof WebAssembly.Global ? exported.value : undefined
}

/** Parses a table of numbers by name, sorted. Throws `invalid` for anything else. */
export function numberTable(text: string): Map<string, number> {
  const table = parse(text)
  if (typeof table !== 'object' || table === null || Array.isArray(table))
    throw new AppError('invalid', 'not an OPA policy module: a table is missing')
  const numbers = Object.entries(table).flatMap(([name, id]) =>
    typeof id === 'number' ? [[name, id] as const] : [],
  )
  return new Map(numbers.sort(([a], [b]) => compareStrings(a, b)))
}

/** Text that is not JSON, such as a set, is not a table. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
