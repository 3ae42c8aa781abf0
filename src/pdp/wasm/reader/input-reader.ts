import { compileBuilt } from '../../../lib/built-module.js'
import type { PolicyExports } from '../module/policy-exports.js'

/** What `assembly/read-request.ts` exports. Addresses are those of the policy module's memory; 0 is none. */
export interface InputReader {
  readonly scratchBytes: () => number
  readonly prepare: (scratch: number, truth: number, falsehood: number) => void
  readonly readRequest: (body: number, length: number) => number
  readonly readDocument: (document: number, length: number) => number
  readonly startOfInput: () => number
  readonly endOfInput: () => number
  readonly finish: () => void
}

/** A reader that works in the memory of a policy module. Raises `internal` when Tidegate has not been built. */
export function instantiateReader(memory: WebAssembly.Memory, policy: PolicyExports): InputReader {
  const { opa_heap_ptr_set, opa_json_parse } = policy
  const imports = { env: { memory }, policy: { opa_heap_ptr_set, opa_json_parse } }
  return new WebAssembly.Instance(compileBuilt('pdp/wasm/reader.wasm'), imports)
    .exports as unknown as InputReader
}
