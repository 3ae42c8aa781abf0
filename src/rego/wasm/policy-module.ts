import { AppError, toError } from '../../errors/app-error.js'
import { inSlices } from '../../lib/turns/in-slices.js'
import { dataOf } from './data/data-image.js'
import type { DataImage } from './data/data-image.js'
import { RULES_FROM } from './module-targets.js'
import type { ModuleCode } from './module-code.js'
import type { PolicyModuleOptions } from './evaluation-limits.js'
import { PolicyInstance } from './policy-instance.js'
import type { EvaluationCall } from './evaluation-call.js'

/** A longer body takes milliseconds to read. The evaluation reads it within its slice. */
const LONG_REQUEST_BYTES = 524_288

/** Large inputs come in groups, with small ones between them. */
const MAX_USES_WITHOUT_NEED = 20

/** A module with its data as plain data that threads can share. */
export interface ModuleParts extends ModuleCode {
  readonly data: DataImage
  /** True if Tidegate's own reader reads the inputs; undefined until it is determined. */
  readonly readsDirectly: boolean | undefined
}

/**
 * One compiled policy module with its data. Evaluates any of its entrypoints in a single instance,
 * since evaluations are synchronous, and replaces the instance after a failure or growth.
 */
export class PolicyModule {
  /** Entrypoint numbers by path (`static/waiting/deny`; the empty path is all of `data`). */
  readonly entrypoints: ReadonlyMap<string, number>
  /** Numbers of the rules that can be called directly, by the keys of their paths. */
  readonly rules: ReadonlyMap<string, number>
  /** Built-ins that the module calls and does not contain. */
  readonly requiredBuiltins: readonly string[]
  /** The required built-ins and the native ones that may call the host. */
  readonly hostedBuiltins: readonly string[]
  /** True if Tidegate's own reader reads inputs in one pass. */
  readonly readsDirectly: boolean
  #parts: ModuleParts
  readonly #options: PolicyModuleOptions
  #instance: PolicyInstance | undefined
  /** Consecutive evaluations that did not need the memory that the instance has grown to. */
  #usesWithoutNeed = 0
  /** Instances created since this was last reported. */
  #replaced = 0

  private constructor(parts: ModuleParts, options: PolicyModuleOptions, instance: PolicyInstance) {
    this.#options = options
    this.readsDirectly = instance.readsDirectly
    this.#parts = { ...parts, readsDirectly: this.readsDirectly }
    this.entrypoints = instance.entrypoints
    this.rules = new Map(parts.rules.map((key, index) => [key, RULES_FROM + index]))
    this.requiredBuiltins = instance.requiredBuiltins
    this.hostedBuiltins = [...new Set([...this.requiredBuiltins, ...parts.wrappedBuiltins.values()])]
    this.#instance = instance
  }

  /** Sets up compiled code. Throws `invalid` for a damaged module or an unknown ABI. */
  static async load(code: ModuleCode, options: PolicyModuleOptions): Promise<PolicyModule> {
    // Without data, loading does not depend on the layout.
    const staysOpen = options.isTrial === true && dataOf(options.data).size === 0
    const parts = { ...code, data: options.data, readsDirectly: staysOpen ? false : undefined }
    try {
      return new PolicyModule(parts, options, await setUp(parts, options))
    } catch (raw) {
      if (raw instanceof AppError) throw raw
      throw new AppError('invalid', `load policy module: ${toError(raw).message}`, { cause: raw })
    }
  }

  /** Sets up a module that was compiled in another thread or process. */
  static async fromParts(
    parts: ModuleParts,
    options: Omit<PolicyModuleOptions, 'data'>,
  ): Promise<PolicyModule> {
    const whole = { ...options, data: parts.data }
    return new PolicyModule(parts, whole, await setUp(parts, whole))
  }

  /** The data from which another thread creates the same module. */
  get parts(): ModuleParts {
    return this.#parts
  }

  /** Returns the value of one target as Rego text; undefined if there is none. */
  evaluate(target: number, input: Uint8Array | undefined, call: EvaluationCall): string | undefined {
    return this.evaluateAll([target], input, call)[0]
  }

  /** Returns the values of several targets over one input, in order. */
  evaluateAll(
    targets: readonly number[],
    input: Uint8Array | undefined,
    call: EvaluationCall,
  ): (string | undefined)[] {
    const { cost } = call
    const values = this.#use((instance) => instance.evaluateAll(targets, input, call))
    if (cost !== undefined) {
      cost.instancesReplaced += this.#replaced
      this.#replaced = 0
    }
    return values
  }

  /**
   * Reads the `input` of a request body (UTF-8) into memory for the next evaluation over the
   * returned bytes. Returns undefined if `input` is missing or null, or if the body has to be read
   * by other means (`locateInput`).
   */
  readRequest(body: Uint8Array): Uint8Array | undefined {
    if (!this.readsDirectly || body.length > LONG_REQUEST_BYTES) return undefined
    try {
      this.#instance ??= this.#instantiate()
      return this.#instance.readRequest(body)
    } catch {
      // Out of memory: the evaluation reports it.
      this.#instance = undefined
      return undefined
    }
  }

  /**
   * Keeps an instance that has grown as long as evaluations need the memory: fresh memory for each
   * would take ten times as long. Afterwards it is dropped.
   */
  #use<T>(run: (instance: PolicyInstance) => T): T {
    const instance = this.#instance ?? this.#instantiate()
    this.#instance = undefined
    try {
      return run(instance)
    } catch (raw) {
      instance.restore()
      throw raw
    } finally {
      if (this.#isWorthKeeping(instance)) this.#instance = instance
    }
  }

  #isWorthKeeping(instance: PolicyInstance): boolean {
    const { recycleMemoryBytes } = this.#options.limits
    // Memory grows ahead of need, so using half of it is enough.
    const isNeeded =
      instance.grownBytes <= recycleMemoryBytes ||
      instance.usedBytes > Math.min(recycleMemoryBytes, instance.grownBytes / 2)
    this.#usesWithoutNeed = isNeeded ? 0 : this.#usesWithoutNeed + 1
    return this.#usesWithoutNeed <= MAX_USES_WITHOUT_NEED
  }

  #instantiate(): PolicyInstance {
    const instance = new PolicyInstance(this.#parts, this.#options, this.#parts.readsDirectly)
    instance.copyData(0, Infinity)
    this.#replaced += 1
    this.#usesWithoutNeed = 0
    return instance
  }
}

/** Creates an instance and copies the data in slices, yielding in between. */
async function setUp(parts: ModuleParts, options: PolicyModuleOptions): Promise<PolicyInstance> {
  const instance = new PolicyInstance(parts, options, parts.readsDirectly)
  await inSlices(options.data.bytes.length, (start, end) => instance.copyData(start, end))
  return instance
}
