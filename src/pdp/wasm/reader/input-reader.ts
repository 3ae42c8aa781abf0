import { readFileSync } from 'node:fs'

import { AppError } from '../../../errors/app-error.js'
import { packageRoot } from '../../../lib/package-root.js'
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

/** Built by `npm run build`, for the sources too. */
const READER_FILE = `${packageRoot}dist/pdp/wasm/reader.wasm`

let compiled: WebAssembly.Module | undefined

/** A reader that works in the memory of a policy module. Raises `internal` when Tidegate has not been built. */
export function instantiateReader(memory: WebAssembly.Memory, policy: PolicyExports): InputReader {
  compiled ??= compileReader()
  const { opa_heap_ptr_set, opa_json_parse } = policy
  const imports = { env: { memory }, policy: { opa_heap_ptr_set, opa_json_parse } }
  return new WebAssembly.Instance(compiled, imports).exports as unknown as InputReader
}

function compileReader(): WebAssembly.Module {
  try {
    return new WebAssembly.Module(readFileSync(READER_FILE))
  } catch (cause) {
    throw new AppError('internal', `${READER_FILE} is missing or damaged: run npm run build`, { cause })
  }
}
