import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { replaceLoneSurrogates } from '../../src/lib/json/text/lone-surrogates.js'
import { inTemporaryDirectory } from '../../src/lib/temporary-directory.js'
import { compilePolicies } from '../../src/rego/compile/compile-policies.js'
import { findOpa } from '../../src/rego/opa/find-opa.js'
import { meterModule } from '../../src/rego/wasm/module/meter-module.js'
import { ModuleMemory } from '../../src/rego/wasm/module/module-memory.js'
import { toPolicyExports } from '../../src/rego/wasm/module/policy-exports.js'
import { instantiateReader } from '../../src/rego/wasm/reader/input-reader.js'
import type { ReadingPair } from '../../src/rego/wasm/reader/known-layout.js'
import { compactText } from './compact-text.js'
import { isSameValue } from '../../src/rego/wasm/reader/known-layout.js'

const MEBIBYTE = 1024 * 1024

/** A policy module and the reader in its memory, without anything around them. */
export class OpenReader {
  readonly pair: ReadingPair

  constructor(pair: ReadingPair) {
    this.pair = pair
  }

  /** The address of the document's value, or 0. */
  readDocument(document: Uint8Array): number {
    const { memory, reader, heapStart } = this.pair
    memory.place(document, heapStart)
    return reader.readDocument(heapStart, document.length)
  }

  /** The value of `input` in a body, and where the member stands. */
  readRequest(body: Uint8Array): { value: number; start: number; end: number } | undefined {
    const { memory, reader, heapStart } = this.pair
    memory.place(body, heapStart)
    const value = reader.readRequest(heapStart, body.length)
    return value === 0 ? undefined : { value, start: reader.startOfInput(), end: reader.endOfInput() }
  }

  /** Whether the value just read is laid out as the module's own parser lays out the same text. */
  isAsParsed(value: number, text: Uint8Array): boolean {
    const { memory, reader } = this.pair
    reader.finish()
    const parsed = this.#parse(replaceLoneSurrogates(text))
    return this.dump(value) === this.dump(parsed) && isSameValue(memory, this.dump, value, parsed)
  }

  readonly dump = (value: number): string =>
    compactText(this.pair.memory.textAt(this.pair.policy.opa_value_dump(value)))

  #parse(text: Uint8Array): number {
    const { memory, policy } = this.pair
    policy.fuel.value = 2 ** 31 - 1
    const copy = policy.opa_malloc(text.length)
    memory.place(text, copy)
    return policy.opa_json_parse(copy, text.length)
  }
}

/** The bytes of a module with one Rego file. */
export async function compileRego(text: string): Promise<Uint8Array> {
  const { wasm } = await inTemporaryDirectory(async (directory) => {
    await writeFile(join(directory, 'p.rego'), text)
    return await compilePolicies(await findOpa({ env: process.env }), [directory], {
      includeTests: false,
    })
  })
  if (wasm === undefined) throw new Error('there is nothing to evaluate in this Rego')
  return wasm
}

/** Compiles a policy and instantiates it with a reader. */
export async function openReader(): Promise<OpenReader> {
  const wasm = await compileRego('package p\nanswer := input\n')
  const { bytes, minimumPages } = meterModule(wasm)
  const memory = new ModuleMemory(minimumPages, 512 * MEBIBYTE)
  const noBuiltin = (): number => 0
  const builtins = Object.fromEntries([0, 1, 2, 3, 4].map((arity) => [`opa_builtin${arity}`, noBuiltin]))
  const abort = (address: number): never => {
    throw new Error(memory.textAt(address))
  }
  const imports = { memory: memory.memory, opa_abort: abort, opa_println: noBuiltin, ...builtins }
  const policy = toPolicyExports(
    new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: imports }).exports,
  )
  const reader = instantiateReader(memory.memory, policy)
  const [truth = 0, falsehood = 0] = ['true', 'false'].map((text) => {
    const copy = policy.opa_malloc(text.length)
    memory.place(Buffer.from(text), copy)
    return policy.opa_json_parse(copy, text.length)
  })
  const scratch = align(policy.opa_heap_ptr_get())
  memory.reserve(scratch, reader.scratchBytes())
  reader.prepare(scratch, truth, falsehood)
  return new OpenReader({ memory, policy, reader, heapStart: align(scratch + reader.scratchBytes()) })
}

function align(address: number): number {
  return Math.ceil(address / 8) * 8
}
