import { AppError, toError } from '../../errors/app-error.js'
import { inSlices } from '../../lib/turns/in-slices.js'
import { dataOf } from './data/data-image.js'
import type { DataImage } from './data/data-image.js'
import { RULES_FROM } from './module-targets.js'
import type { ModuleCode } from './module-code.js'
import type { PolicyModuleOptions } from './evaluation-limits.js'
import { PolicyInstance } from './policy-instance.js'
import type { EvaluationCall } from './evaluation-call.js'

/** A longer body takes milliseconds to read: that is left to the evaluation, which has a slice. */
const LONG_REQUEST_BYTES = 524_288

/** Large inputs come one after the other, and small ones in between. */
const MOST_USES_WITHOUT_NEED = 20

/** A module with its data as plain data: threads share both. */
export interface ModuleParts extends ModuleCode {
  readonly data: DataImage
  /** Whether inputs are read by the reader of our own; found out where it is not known. */
  readonly readsDirectly: boolean | undefined
}

/**
 * One compiled policy module with its data: evaluates any of its entrypoints. Holds a single instance, since an
 * evaluation is synchronous, and makes a new one when the old has failed or grown.
 */
export class PolicyModule {
  /** Entrypoint numbers by path (`static/waiting/deny`; the empty path is the whole of `data`). */
  readonly entrypoints: ReadonlyMap<string, number>
  /** The numbers of the rules that can be called by themselves, by the keys of their paths. */
  readonly rules: ReadonlyMap<string, number>
  /** The built-ins that the module calls and does not bring along. */
  readonly requiredBuiltins: readonly string[]
  /** These, and the native ones for which the host may be asked. */
  readonly hostedBuiltins: readonly string[]
  /** Whether inputs are read in one pass of our own: the module's runtime lays its values out as we know it. */
  readonly readsDirectly: boolean
  #parts: ModuleParts
  readonly #options: PolicyModuleOptions
  #instance: PolicyInstance | undefined
  /** Evaluations in a row that had no need of the memory that the instance has grown to. */
  #usesWithoutNeed = 0
  /** Instances that were made since this was last told. */
  #replaced = 0

  private constructor(parts: ModuleParts, options: PolicyModuleOptions, instance: PolicyInstance) {
    this.#options = options
    this.readsDirectly = instance.readsDirectly
    this.#parts = { ...parts, readsDirectly: this.readsDirectly }
    this.entrypoints = instance.entrypoints
    this.rules = new Map(parts.rules.map((key, place) => [key, RULES_FROM + place]))
    this.requiredBuiltins = instance.requiredBuiltins
    this.hostedBuiltins = [...new Set([...this.requiredBuiltins, ...parts.wrappedBuiltins.values()])]
    this.#instance = instance
  }

  /** Sets up compiled code. Raises `invalid` for a module that is damaged or of an unknown ABI. */
  static async load(code: ModuleCode, options: PolicyModuleOptions): Promise<PolicyModule> {
    // Without data, nothing of loading depends on it.
    const staysOpen = options.isTrial === true && dataOf(options.data).size === 0
    const parts = { ...code, data: options.data, readsDirectly: staysOpen ? false : undefined }
    try {
      return new PolicyModule(parts, options, await setUp(parts, options))
    } catch (raw) {
      if (raw instanceof AppError) throw raw
      throw new AppError('invalid', `load policy module: ${toError(raw).message}`, { cause: raw })
    }
  }

  /** A module that has been compiled in another thread or process. */
  static async fromParts(
    parts: ModuleParts,
    options: Omit<PolicyModuleOptions, 'data'>,
  ): Promise<PolicyModule> {
    const whole = { ...options, data: parts.data }
    return new PolicyModule(parts, whole, await setUp(parts, whole))
  }

  /** What another thread makes the same module of. */
  get parts(): ModuleParts {
    return this.#parts
  }

  /** The value of one entrypoint or rule, by its number, as Rego text; undefined where it has none. */
  evaluate(target: number, input: Uint8Array | undefined, call: EvaluationCall): string | undefined {
    return this.evaluateAll([target], input, call)[0]
  }

  /** The values of several over one input, in their order. */
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
   * Reads the `input` of a request body (UTF-8) into the memory where the next evaluation over these very bytes finds it. Undefined
   * when there is none, or it is null, and for a body that has to be looked at by other means (`locateInput`).
   */
  readRequest(body: Uint8Array): Uint8Array | undefined {
    if (!this.readsDirectly || body.length > LONG_REQUEST_BYTES) return undefined
    try {
      this.#instance ??= this.#instantiate()
      return this.#instance.readRequest(body)
    } catch {
      // Out of memory: the evaluation will find out, and tell.
      this.#instance = undefined
      return undefined
    }
  }

  /**
   * An instance that has grown far is kept as long as evaluations need so much: with fresh memory for each, they would take ten times as
   * long. Then it is not used again.
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
    // Memory grows ahead of what is needed, so that half of it in use is good use.
    const isNeeded =
      instance.grownBytes <= recycleMemoryBytes ||
      instance.usedBytes > Math.min(recycleMemoryBytes, instance.grownBytes / 2)
    this.#usesWithoutNeed = isNeeded ? 0 : this.#usesWithoutNeed + 1
    return this.#usesWithoutNeed <= MOST_USES_WITHOUT_NEED
  }

  #instantiate(): PolicyInstance {
    const instance = new PolicyInstance(this.#parts, this.#options, this.#parts.readsDirectly)
    instance.copyData(0, Infinity)
    this.#replaced += 1
    this.#usesWithoutNeed = 0
    return instance
  }
}

/** An instance whose data is copied in slices, between which the thread does what else there is to do. */
async function setUp(parts: ModuleParts, options: PolicyModuleOptions): Promise<PolicyInstance> {
  const instance = new PolicyInstance(parts, options, parts.readsDirectly)
  await inSlices(options.data.bytes.length, (start, end) => instance.copyData(start, end))
  return instance
}
