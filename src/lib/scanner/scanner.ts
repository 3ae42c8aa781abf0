import { compileBuilt } from '../built-module.js'

/** What `assembly/scanner.ts` exports. Globals hold addresses in its memory, which does not grow. */
export interface Scanner {
  readonly memory: WebAssembly.Memory
  readonly text: WebAssembly.Global
  readonly groupOf: WebAssembly.Global
  readonly firstLeads: WebAssembly.Global
  readonly leads: WebAssembly.Global
  readonly hits: WebAssembly.Global
  readonly searchedTo: WebAssembly.Global
  readonly findWords: (from: number, length: number) => number
  readonly containers: WebAssembly.Global
  readonly depth: WebAssembly.Global
  readonly textFrom: WebAssembly.Global
  readonly isInText: WebAssembly.Global
  readonly rest: WebAssembly.Global
  readonly lastBracket: WebAssembly.Global
  readonly beginContainers: () => void
  readonly readContainers: (length: number) => void
}

/** This many bytes of text are looked at in one call. */
export const TEXT_BYTES = 0x1_00_00

/** A scanner with memory of its own. Raises `internal` when Tidegate has not been built. */
export function openScanner(): Scanner {
  const module = compileBuilt('lib/scanner/scanner.wasm')
  return new WebAssembly.Instance(module, {}).exports as unknown as Scanner
}
