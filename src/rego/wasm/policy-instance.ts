import { isUtf8 } from 'node:buffer'

import { replaceLoneSurrogates } from '../../lib/json/text/lone-surrogates.js'
import { BuiltinError } from '../builtins/shared/builtin.js'
import { passMarker, HostValues } from './host-values.js'
import type { BuiltinContext } from '../builtins/shared/builtin.js'
import { EMPTY_SET_TEXT } from '../values/value.js'
import { EvaluationAbort, INSERT_CONFLICT, describeFailure } from './module/evaluation-abort.js'
import type { EvaluationCall } from './evaluation-call.js'
import { EvaluationBudget, SliceOver } from './evaluation-budget.js'
import * as costs from './evaluation-limits.js'
import type { EvaluationSlice } from './evaluation-budget.js'
import type { Booleans } from './host-values.js'
import { lastCallerOf } from './calls/call-sites.js'
import { OUT_OF_FUEL } from './module/meter-module.js'
import { MemoryHeadroom, ALIGNMENT, align, copyImage, parseImage, reserveImage } from './place-data.js'
import { ModuleMemory } from './module/module-memory.js'
import { CONFLICT, OrderedIteration } from './linked/ordered-iteration.js'
import { RETRIED_BUILTINS, isForHost } from './native-builtins.js'
import { ANSWERS_FROM, LEFT_TO_NATIVE } from './native-wrapper.js'
import type { ModuleCode } from './module-code.js'
import { ModuleTargets } from './module-targets.js'
import { ModuleState, findSizes } from './module-state.js'
import type { PolicyExports } from './module/policy-exports.js'
import { numberTable, toPolicyExports } from './module/policy-exports.js'
import type { PolicyModuleOptions } from './evaluation-limits.js'
import { instantiateReader } from './reader/input-reader.js'
import type { InputReader } from './reader/input-reader.js'
import { hasKnownLayout } from './reader/known-layout.js'

const UNDEFINED_ADDRESS = 0
/** The letter `s`. Among the texts of values only `set()` begins with it. */
const EMPTY_SET_START = 0x73

/** An instantiated module with its memory: data loaded once, heap reset per evaluation. */
export class PolicyInstance {
  readonly entrypoints: ReadonlyMap<string, number>
  readonly requiredBuiltins: readonly string[]
  readonly #options: PolicyModuleOptions
  readonly #memory: ModuleMemory
  readonly #exports: PolicyExports
  readonly #builtinNames: ReadonlyMap<number, string>
  readonly #wrappedBuiltins: ReadonlyMap<number, string>
  readonly #caller: ReturnType<typeof lastCallerOf>
  readonly #budget: EvaluationBudget
  readonly #targets: ModuleTargets
  readonly #values: HostValues
  readonly #dataAddress: number
  #heapStart: number
  readonly #reader: InputReader | undefined
  readonly #iteration: OrderedIteration | undefined
  readonly #state: ModuleState
  readonly #headroom: MemoryHeadroom
  readonly #bytesWhenNew: number
  #lastBytes: number
  /** An input that is already in memory, and its value. */
  #held: { readonly input: Uint8Array; readonly value: number } | undefined
  #call: EvaluationCall | undefined
  /** Created by the first built-in call of an evaluation; most evaluations call none. */
  #builtinContext: BuiltinContext | undefined

  /**
   * Checks whether the module's runtime has the reader's memory layout unless `isReaderFit` is
   * given. The data must be copied afterwards.
   */
  constructor(
    { module, minimumPages, wrappedBuiltins, callSites }: ModuleCode,
    options: PolicyModuleOptions,
    isReaderFit?: boolean,
  ) {
    this.#options = options
    this.#wrappedBuiltins = wrappedBuiltins
    const { data, limits } = options
    this.#memory = new ModuleMemory(minimumPages, limits.maxMemoryBytes, data.base + data.bytes.length)
    const { exports } = new WebAssembly.Instance(module, { env: this.#imports() })
    this.#exports = toPolicyExports(exports)
    this.#caller = lastCallerOf(exports, callSites)
    this.#targets = new ModuleTargets(exports, this.#exports)
    this.#values = new HostValues(this.#memory, this.#exports)
    // The first block of the heap follows all static memory.
    const staticEnd = this.#exports.opa_malloc(ALIGNMENT)
    const sizes = findSizes(this.#memory, staticEnd, this.#exports)
    this.#headroom = new MemoryHeadroom(this.#memory, this.#exports.opa_heap_ptr_get, sizes)
    this.#budget = new EvaluationBudget(limits, this.#exports.fuel)
    const heapOfTables = this.#exports.opa_heap_ptr_get()
    const builtinIds = this.#readNumberTable(this.#exports.builtins())
    this.requiredBuiltins = [...builtinIds.keys()]
    this.#builtinNames = new Map([...builtinIds].map(([name, id]) => [id, name]))
    this.entrypoints = this.#readNumberTable(this.#exports.entrypoints())
    this.#exports.opa_heap_ptr_set(heapOfTables)
    const reader = instantiateReader(this.#memory.memory, this.#exports)
    const booleans = this.#values.parseBooleans()
    const notes = this.#reserveNotes(reader, booleans)
    const notesEnd = align(notes + OrderedIteration.bytesOf(exports))
    this.#memory.reserve(notes, notesEnd - notes)
    this.#reader = (isReaderFit ?? this.#isFit(reader, notesEnd)) ? reader : undefined
    if (this.#reader !== undefined) {
      this.#values.trustLayout(booleans)
    }
    const placed =
      this.#reader === undefined
        ? parseImage(this.#exports, this.#values, data, notesEnd)
        : reserveImage(this.#memory, data, notesEnd)
    this.#headroom.markPermanent()
    this.#dataAddress = placed.root
    this.#heapStart = align(placed.end)
    if (this.#reader !== undefined)
      this.#iteration = OrderedIteration.begin(exports, this.#memory, notes, this.#heapStart)
    this.#budget.arm()
    this.#state = new ModuleState(this.#memory, exports, staticEnd, sizes)
    this.#bytesWhenNew = this.#memory.byteLength
    this.#lastBytes = this.#bytesWhenNew
  }

  /** Copies a part of the data. All of it must be copied before the first evaluation. */
  copyData(start: number, end: number): void {
    // Without the reader, the module has parsed the data.
    if (this.#reader !== undefined) copyImage(this.#memory, this.#options.data, start, end)
  }

  get memoryBytes(): number {
    return this.#memory.byteLength
  }

  get grownBytes(): number {
    return this.#memory.byteLength - this.#bytesWhenNew
  }

  /** Bytes of the heap that the last evaluation used. */
  get usedBytes(): number {
    return this.#exports.opa_heap_ptr_get() - this.#heapStart
  }

  /** Makes the instance usable again after an evaluation that threw. */
  restore(): void {
    this.#state.restore()
    this.#budget.arm()
  }

  /** True if Tidegate's own reader reads the inputs, not the parser of the module's runtime. */
  get readsDirectly(): boolean {
    return this.#reader !== undefined
  }

  /**
   * Reads the `input` of a request body (UTF-8) in one pass and keeps its value for the next
   * evaluation, which must be passed the returned bytes. Returns undefined if `input` is missing or
   * null, or if the body has to be read by other means, which then report any problem.
   */
  readRequest(body: Uint8Array): Uint8Array | undefined {
    this.#held = undefined
    if (this.#reader === undefined) return undefined
    this.#budget.start(body.length)
    this.#memory.place(body, this.#heapStart)
    const value = this.#reader.readRequest(this.#heapStart, body.length)
    if (value === 0) return undefined
    const input = body.subarray(this.#reader.startOfInput(), this.#reader.endOfInput())
    this.#held = { input, value }
    return input
  }

  /**
   * Evaluates entrypoints and rules, by number, over one input, which must be well-formed JSON or
   * undefined. Returns the values as Rego text, undefined if there is none. Throws EvaluationAbort
   * if the policy conflicts, a strict built-in fails or a limit is reached; the instance must then
   * be restored before it is used again.
   */
  evaluateAll(
    targets: readonly number[],
    input: Uint8Array | undefined,
    call: EvaluationCall,
  ): (string | undefined)[] {
    const inputLength = input?.length ?? 0
    this.#budget.start(inputLength, call.slice)
    // Growth during an earlier evaluation does not count for this one.
    this.#lastBytes = this.#memory.byteLength
    this.#call = call
    this.#iteration?.startEvaluation()
    try {
      if (inputLength > costs.SHORT_INPUT_BYTES) call.slice?.require(inputLength * costs.READ_MS_PER_BYTE)
      const inputValue = this.#inputValue(input)
      this.#targets.begin(targets)
      if (call.cost !== undefined) this.#budget.take()
      const values = targets.map((target) => this.#valueOf(target, inputValue, call))
      this.#keepSorted()
      return values
    } catch (raw) {
      throw describeFailure(raw, this.#exhausted())
    } finally {
      this.#call = undefined
      this.#builtinContext = undefined
      this.#held = undefined
    }
  }

  #valueOf(target: number, input: number, { slice, cost }: EvaluationCall): string | undefined {
    const address = this.#targets.evaluate(target, input, this.#dataAddress)
    const text = address === UNDEFINED_ADDRESS ? undefined : this.#textOf(address, slice)
    cost?.targetFuel.push(this.#budget.take())
    return text === undefined ? undefined : this.#targets.valueIn(target, text)
  }

  /** Makes the order of base documents that were sorted in this evaluation permanent. */
  #keepSorted(): void {
    if (this.#iteration?.wantsKept !== true) return
    this.#budget.start(0)
    try {
      this.#heapStart = align(this.#iteration.keep(this.#heapStart, this.#exports))
    } catch {
      this.restore()
    }
  }

  /** As Rego text, because JSON does not distinguish sets from arrays, and sets need sorting. */
  #textOf(value: number, slice: EvaluationSlice | undefined): string {
    const address = this.#exports.opa_value_dump(value)
    if (this.#memory.bytes[address] === EMPTY_SET_START) return EMPTY_SET_TEXT
    const length = this.#memory.textLengthAt(address)
    // Ordering and printing a result takes time, too.
    if (length > costs.SHORT_RESULT_BYTES) {
      slice?.require(length * costs.SHOW_MS_PER_BYTE)
      this.#budget.spend(length * costs.RESULT_STEPS_PER_BYTE)
      this.#budget.reserve(length * costs.RESULT_HEAP_PER_BYTE)
    }
    return this.#memory.textAt(address, length)
  }

  /** Returns the address of the input's value, 0 without an input. The heap is free after it. */
  #inputValue(input: Uint8Array | undefined): number {
    if (input === undefined) {
      this.#exports.opa_heap_ptr_set(this.#heapStart)
      return 0
    }
    const value = this.#held?.input === input ? this.#held.value : this.#readDocument(input)
    if (value === 0) return this.#parseDocument(input)
    this.#headroom.noteSize()
    this.#reader?.finish()
    return value
  }

  #readDocument(input: Uint8Array): number {
    if (this.#reader === undefined || !isUtf8(input)) return 0
    this.#memory.place(input, this.#heapStart)
    return this.#reader.readDocument(this.#heapStart, input.length)
  }

  /** Parses by the module's own parser, which is limited by fuel. */
  #parseDocument(input: Uint8Array): number {
    const text = replaceLoneSurrogates(input)
    this.#memory.place(text, this.#heapStart)
    this.#headroom.noteSize()
    this.#exports.opa_heap_ptr_set(align(this.#heapStart + text.length))
    return this.#exports.opa_json_parse(this.#heapStart, text.length)
  }

  /** Places the reader's notes after all permanent memory and returns the address after them. */
  #reserveNotes(reader: InputReader, { truth, falsehood }: Booleans): number {
    const scratch = align(this.#exports.opa_heap_ptr_get())
    this.#memory.reserve(scratch, reader.scratchBytes())
    reader.prepare(scratch, truth, falsehood)
    return align(scratch + reader.scratchBytes())
  }

  #isFit(reader: InputReader, heapStart: number): boolean {
    return hasKnownLayout({ memory: this.#memory, policy: this.#exports, reader, heapStart })
  }

  #exhausted(): 'memory' | 'stack' | undefined {
    if (this.#state.isStackUsedUp) return 'stack'
    return this.#memory.canGrow ? undefined : 'memory'
  }

  /** Ends a slice whose growth would require replacing the instance. */
  #refuseGrowth(): void {
    const { byteLength } = this.#memory
    const hasGrown = byteLength > this.#lastBytes
    this.#lastBytes = byteLength
    if (hasGrown && this.grownBytes > this.#options.limits.recycleMemoryBytes / 2) throw new SliceOver()
  }

  #imports(): WebAssembly.ModuleImports {
    return {
      memory: this.#memory.memory,
      opa_abort: (address: number) => {
        if (address === OUT_OF_FUEL) {
          this.#headroom.growIfNeeded()
          this.#budget.refuel()
          if (this.#call?.slice !== undefined) this.#refuseGrowth()
          return
        }
        throw new EvaluationAbort(address === CONFLICT ? INSERT_CONFLICT : this.#memory.textAt(address))
      },
      opa_println: () => undefined, // print() is erased; the import may still be there
      opa_builtin0: (id) => this.#callBuiltin(id, []),
      opa_builtin1: (id, _context, a) => this.#callBuiltin(id, [a]),
      opa_builtin2: (id, _context, a, b) => this.#callBuiltin(id, [a, b]),
      opa_builtin3: (id, _context, a, b, c) => this.#callBuiltin(id, [a, b, c]),
      opa_builtin4: (id, _context, a, b, c, d) => this.#callBuiltin(id, [a, b, c, d]),
    }
  }

  #callBuiltin(id: number, operands: readonly number[]): number {
    const native = this.#wrappedBuiltins.get(id)
    // The reason of a native failure is needed in strict mode only; some built-ins are repeated by
    // the host.
    const needsReason = this.#call?.strictBuiltinErrors === true || RETRIED_BUILTINS.has(native ?? '')
    if (native !== undefined && id < ANSWERS_FROM && !needsReason) return UNDEFINED_ADDRESS
    if (
      native !== undefined &&
      id >= ANSWERS_FROM &&
      !isForHost(native, this.#values, operands, this.#budget)
    )
      return LEFT_TO_NATIVE
    const name = native ?? this.#builtinNames.get(id) ?? `built-in ${id}`
    const [builtin, call] = [this.#options.builtins[name], this.#call]
    if (builtin === undefined || call === undefined) throw new EvaluationAbort(`not implemented: ${name}`)
    try {
      const { tracer } = call.context
      if (tracer && name === 'sprintf' && passMarker(tracer, this.#values, this.#budget, operands))
        return this.#values.write('', this.#budget)
      const result = builtin(
        operands.map((address) => this.#values.read(address, this.#budget)),
        this.#contextOf(call),
      )
      return result === undefined ? UNDEFINED_ADDRESS : this.#values.write(result, this.#budget)
    } catch (raw) {
      if (!(raw instanceof BuiltinError)) throw raw
      if (!call.strictBuiltinErrors) return UNDEFINED_ADDRESS
      const failed = { code: raw.code, builtin: name, caller: this.#caller(), isVerdict: call.isVerdict }
      throw new EvaluationAbort(`${name}: ${raw.message}`, failed)
    }
  }

  #contextOf({ context: { nowNs, memo, suspend, print } }: EvaluationCall): BuiltinContext {
    this.#builtinContext ??= { nowNs, memo, suspend, print, meter: this.#budget }
    return this.#builtinContext
  }

  #readNumberTable(address: number): Map<string, number> {
    return numberTable(this.#values.dump(address))
  }
}
