import { compileBuilt } from '../../../lib/built-module.js'
import type { PolicyExports } from '../module/policy-exports.js'

/** Exports of `assembly/read-request.ts`. Address 0 means none. */
export interface InputReader {
  readonly scratchBytes: () => number
  readonly prepare: (scratch: number, truth: number, falsehood: number) => void
  readonly readRequest: (body: number, length: number) => number
  readonly readDocument: (document: number, length: number) => number
  readonly startOfInput: () => number
  readonly endOfInput: () => number
  readonly finish: () => void
}

/** Exports of `assembly/data/read-data.ts`, with addresses in the module's memory. */
export interface DataReader {
  readonly openData: (textBytes: number, pendingBytes: number, base: number) => number
  readonly readData: (length: number) => number
  readonly dataValue: () => number
  readonly ranOut: () => number
  readonly makeText: (length: number) => number
  readonly hashOfText: () => number
  readonly membersAt: () => number
  readonly makeObject: (count: number) => number
  readonly startOfImage: () => number
  readonly endOfImage: () => number
}

const READER_FILE = 'rego/wasm/reader.wasm'
/** 4 GiB minus one page, so that sizes fit into 32 bits. */
const MAX_PAGES = 65_535

/** Creates a reader in a module's memory. Throws `internal` without a build. */
export function instantiateReader(memory: WebAssembly.Memory, policy: PolicyExports): InputReader {
  const { opa_heap_ptr_set, opa_json_parse } = policy
  const imports = { env: { memory }, policy: { opa_heap_ptr_set, opa_json_parse } }
  return new WebAssembly.Instance(compileBuilt(READER_FILE), imports).exports as unknown as InputReader
}

/** Creates a reader of base documents with its own memory. Throws as `instantiateReader`. */
export function openDataReader(): { reader: DataReader; memory: WebAssembly.Memory } {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: MAX_PAGES })
  const unused = (): number => 0
  const imports = { env: { memory }, policy: { opa_heap_ptr_set: unused, opa_json_parse: unused } }
  const { exports } = new WebAssembly.Instance(compileBuilt(READER_FILE), imports)
  return { reader: exports as unknown as DataReader, memory }
}
