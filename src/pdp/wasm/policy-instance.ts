import { AppError, toError } from '../../errors.js'
import { replaceLoneSurrogates } from '../../lib/json/lone-surrogates.js'
import { BuiltinError } from '../builtins/builtin.js'
import type { BuiltinContext } from '../builtins/builtin.js'
import { parseRegoText } from '../rego/parse-text.js'
import { printRegoText } from '../rego/print-text.js'
import { RegoNumber, RegoObject } from '../rego/value.js'
import type { RegoValue } from '../rego/value.js'
import { EvaluationAbort, describeFailure } from './evaluation-abort.js'
import type { PolicyExports } from './policy-exports.js'
import { toPolicyExports } from './policy-exports.js'
import type { PolicyModuleOptions } from './module-options.js'

/** What one evaluation is called with beside its input. */
export interface EvaluationCall {
  readonly context: BuiltinContext
  /** Whether a built-in that raises ends the evaluation instead of making its expression undefined. */
  readonly strictBuiltinErrors: boolean
}

const PAGE_BYTES = 65_536
const ALIGNMENT = 8
const MAX_FUEL = 2_147_483_647
/** Result sets as Rego text: only that keeps sets apart from arrays, so that they can be put in order. */
const VALUE_FORMAT = 1
const UNDEFINED_ADDRESS = 0

/** One instantiated module with its own memory, in which the data is parsed once and every evaluation starts afresh. */
export class PolicyInstance {
  readonly entrypoints: ReadonlyMap<string, number>
  readonly requiredBuiltins: readonly string[]
  readonly #options: PolicyModuleOptions
  readonly #memory: WebAssembly.Memory
  readonly #exports: PolicyExports
  readonly #builtinNames: ReadonlyMap<number, string>
  readonly #reportedBuiltins: ReadonlyMap<number, string>
  readonly #dataAddress: number
  readonly #heapStart: number
  readonly #stackStart: number | undefined
  #bytes: Buffer
  #call: EvaluationCall | undefined

  constructor(
    module: WebAssembly.Module,
    minimumPages: number,
    reportedBuiltins: ReadonlyMap<number, string>,
    options: PolicyModuleOptions,
  ) {
    this.#options = options
    this.#reportedBuiltins = reportedBuiltins
    const maximumPages = Math.ceil(options.limits.maxMemoryBytes / PAGE_BYTES)
    this.#memory = new WebAssembly.Memory({
      initial: Math.min(minimumPages, maximumPages),
      maximum: maximumPages,
    })
    this.#bytes = Buffer.from(this.#memory.buffer)
    this.#exports = toPolicyExports(new WebAssembly.Instance(module, { env: this.#imports() }).exports)
    this.#stackStart = this.#exports.stackPointer?.value
    const builtinIds = this.#readNumberTable(this.#exports.builtins())
    this.requiredBuiltins = [...builtinIds.keys()]
    this.#builtinNames = new Map([...builtinIds].map(([name, id]) => [id, name]))
    this.entrypoints = this.#readNumberTable(this.#exports.entrypoints())
    this.#dataAddress = this.#parse(options.data, this.#exports.opa_json_parse)
    this.#heapStart = align(this.#exports.opa_heap_ptr_get())
  }

  get memoryBytes(): number {
    return this.#memory.buffer.byteLength
  }

  /**
   * Evaluates an entrypoint over an input that must be well-formed JSON (or undefined), and gives the result set as
   * Rego text. Raises EvaluationAbort when the policy conflicts, a strict built-in fails or a limit is reached; the
   * instance must not be used again after that.
   */
  evaluate(entrypoint: number, input: Uint8Array | undefined, call: EvaluationCall): string {
    return this.#guard(input, call, (inputAddress, inputLength) => {
      const heap = align(this.#heapStart + inputLength)
      const { opa_eval } = this.#exports
      return this.#textAt(
        opa_eval(0, entrypoint, this.#dataAddress, inputAddress, inputLength, heap, VALUE_FORMAT),
      )
    })
  }

  /** Evaluates several entrypoints over one input, which is read only once. Otherwise as `evaluate`. */
  evaluateAll(entrypoints: readonly number[], input: Uint8Array | undefined, call: EvaluationCall): string[] {
    return this.#guard(input, call, (inputAddress, inputLength) => {
      const abi = this.#exports
      abi.opa_heap_ptr_set(align(this.#heapStart + inputLength))
      const inputValue = input === undefined ? 0 : abi.opa_json_parse(inputAddress, inputLength)
      return entrypoints.map((entrypoint) => {
        const context = abi.opa_eval_ctx_new()
        if (inputValue !== 0) abi.opa_eval_ctx_set_input(context, inputValue)
        abi.opa_eval_ctx_set_data(context, this.#dataAddress)
        abi.opa_eval_ctx_set_entrypoint(context, entrypoint)
        abi.eval(context)
        return this.#textAt(abi.opa_value_dump(abi.opa_eval_ctx_get_result(context)))
      })
    })
  }

  /** Puts the input at the start of the heap and tells every failure of `run` as an EvaluationAbort. */
  #guard<T>(
    input: Uint8Array | undefined,
    call: EvaluationCall,
    run: (inputAddress: number, inputLength: number) => T,
  ): T {
    const inputLength = input?.length ?? 0
    this.#refuel(inputLength)
    this.#call = call
    try {
      if (input !== undefined) {
        this.#reserve(this.#heapStart, inputLength).set(replaceLoneSurrogates(input), this.#heapStart)
      }
      return run(input === undefined ? 0 : this.#heapStart, inputLength)
    } catch (raw) {
      throw describeFailure(raw, this.#exports.fuel.value <= 0)
    } finally {
      this.#call = undefined
    }
  }

  #refuel(inputLength: number): void {
    const { loopIterations, loopIterationsPerInputByte } = this.#options.limits
    this.#exports.fuel.value = Math.min(MAX_FUEL, loopIterations + inputLength * loopIterationsPerInputByte)
    if (this.#exports.stackPointer !== undefined && this.#stackStart !== undefined) {
      this.#exports.stackPointer.value = this.#stackStart
    }
  }

  #imports(): WebAssembly.ModuleImports {
    const call = (id: number, _context: number, ...operands: number[]): number =>
      this.#callBuiltin(id, operands)
    return {
      memory: this.#memory,
      opa_abort: (address: number) => {
        throw new EvaluationAbort(this.#textAt(address))
      },
      // OPA erases print() when it builds for WASM; the import may still be there.
      opa_println: () => undefined,
      opa_builtin0: call,
      opa_builtin1: call,
      opa_builtin2: call,
      opa_builtin3: call,
      opa_builtin4: call,
    }
  }

  #callBuiltin(id: number, operands: readonly number[]): number {
    const reported = this.#reportedBuiltins.get(id)
    // What a native built-in failed at is asked for in strict mode only.
    if (reported !== undefined && this.#call?.strictBuiltinErrors !== true) return UNDEFINED_ADDRESS
    const name = reported ?? this.#builtinNames.get(id) ?? `built-in ${id}`
    const builtin = this.#options.builtins[name]
    const call = this.#call
    if (builtin === undefined || call === undefined) throw new EvaluationAbort(`not implemented: ${name}`)
    try {
      const result = builtin(
        operands.map((address) => this.#readValue(address)),
        call.context,
      )
      return result === undefined ? UNDEFINED_ADDRESS : this.#writeValue(result)
    } catch (raw) {
      if (!(raw instanceof BuiltinError)) throw raw
      if (!call.strictBuiltinErrors) return UNDEFINED_ADDRESS
      throw new EvaluationAbort(`${name}: ${raw.message}`, { code: raw.code, builtin: name })
    }
  }

  #readValue(address: number): RegoValue {
    const textAddress = this.#exports.opa_value_dump(address)
    const value = parseRegoText(this.#textAt(textAddress))
    this.#exports.opa_free(textAddress)
    return value
  }

  #writeValue(value: RegoValue): number {
    return this.#parse(Buffer.from(printRegoText(value)), this.#exports.opa_value_parse)
  }

  /** The address of a parsed value. The text stays allocated: parsed strings may point into it. */
  #parse(text: Uint8Array, parse: PolicyExports['opa_json_parse']): number {
    const address = this.#exports.opa_malloc(text.length)
    this.#reserve(address, text.length).set(text, address)
    const parsed = parse(address, text.length)
    if (parsed === 0)
      throw new AppError('invalid', 'the policy module refuses a value: it is not well-formed')
    return parsed
  }

  #readNumberTable(address: number): Map<string, number> {
    const table = this.#readValue(address)
    if (!(table instanceof RegoObject))
      throw new AppError('invalid', 'not an OPA policy module: a table is missing')
    const numbers = new Map<string, number>()
    for (const [name, id] of table.entries) {
      if (typeof name === 'string' && id instanceof RegoNumber) numbers.set(name, id.toNumber())
    }
    return numbers
  }

  /** The memory as bytes, grown where needed to hold `length` bytes at `address`. */
  #reserve(address: number, length: number): Buffer {
    const missing = address + length - this.#memory.buffer.byteLength
    if (missing > 0) {
      try {
        this.#memory.grow(Math.ceil(missing / PAGE_BYTES))
      } catch (raw) {
        throw new EvaluationAbort(`out of memory: ${toError(raw).message}`, { isOverBudget: true })
      }
    }
    return this.#view()
  }

  /** The zero-terminated text at an address. */
  #textAt(address: number): string {
    const bytes = this.#view()
    return bytes.toString('utf8', address, bytes.indexOf(0, address))
  }

  /** A growth of the memory detaches the old buffer. */
  #view(): Buffer {
    if (this.#bytes.buffer !== this.#memory.buffer) this.#bytes = Buffer.from(this.#memory.buffer)
    return this.#bytes
  }
}

function align(address: number): number {
  return Math.ceil(address / ALIGNMENT) * ALIGNMENT
}
