import { AppError, toError } from '../../errors/app-error.js'
import type { DataImage } from './data/data-image.js'
import type { ModuleCode } from './module-code.js'
import type { PolicyModuleOptions } from './evaluation-limits.js'
import { PolicyInstance } from './policy-instance.js'
import type { EvaluationCall } from './policy-instance.js'

/** A longer body takes milliseconds to read: that is left to the evaluation, which has a slice. */
const LONG_REQUEST_BYTES = 524_288

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
  /** The built-ins that the module calls and does not bring along. */
  readonly requiredBuiltins: readonly string[]
  /** Whether inputs are read in one pass of our own: the module's runtime lays its values out as we know it. */
  readonly readsDirectly: boolean
  #parts: ModuleParts
  readonly #options: PolicyModuleOptions
  #instance: PolicyInstance | undefined

  private constructor(parts: ModuleParts, options: PolicyModuleOptions) {
    this.#parts = parts
    this.#options = options
    const instance = this.#instantiate()
    this.readsDirectly = instance.readsDirectly
    this.#parts = { ...parts, readsDirectly: this.readsDirectly }
    this.entrypoints = instance.entrypoints
    this.requiredBuiltins = instance.requiredBuiltins
    this.#instance = instance
  }

  /** Sets up compiled code. Raises `invalid` for a module that is damaged or of an unknown ABI. */
  static of(code: ModuleCode, options: PolicyModuleOptions): PolicyModule {
    try {
      return new PolicyModule({ ...code, data: options.data, readsDirectly: undefined }, options)
    } catch (raw) {
      if (raw instanceof AppError) throw raw
      throw new AppError('invalid', `load policy module: ${toError(raw).message}`, { cause: raw })
    }
  }

  /** A module that has been compiled in another thread. */
  static fromParts(parts: ModuleParts, options: Omit<PolicyModuleOptions, 'data'>): PolicyModule {
    return new PolicyModule(parts, { ...options, data: parts.data })
  }

  /** What another thread makes the same module of. */
  get parts(): ModuleParts {
    return this.#parts
  }

  /** The result set of one evaluation as Rego text: `{{"result":X}}`, or `set()` when undefined. */
  evaluate(entrypoint: number, input: Uint8Array | undefined, call: EvaluationCall): string {
    const [resultSet = ''] = this.evaluateAll([entrypoint], input, call)
    return resultSet
  }

  /** The result sets of several entrypoints over one input, in their order. */
  evaluateAll(entrypoints: readonly number[], input: Uint8Array | undefined, call: EvaluationCall): string[] {
    return this.#use((instance) => instance.evaluateAll(entrypoints, input, call))
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

  /** An instance that has grown far is not used again. */
  #use<T>(run: (instance: PolicyInstance) => T): T {
    const instance = this.#instance ?? this.#instantiate()
    this.#instance = undefined
    try {
      return run(instance)
    } catch (raw) {
      instance.restore()
      throw raw
    } finally {
      if (instance.grownBytes <= this.#options.limits.recycleMemoryBytes) this.#instance = instance
    }
  }

  #instantiate(): PolicyInstance {
    const { module, minimumPages, wrappedBuiltins, readsDirectly } = this.#parts
    return new PolicyInstance(module, minimumPages, wrappedBuiltins, this.#options, readsDirectly)
  }
}
