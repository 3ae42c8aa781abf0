import { AppError, toError } from '../../errors/app-error.js'
import { meterModule } from './module/meter-module.js'
import type { PolicyModuleOptions } from './evaluation-limits.js'
import { PolicyInstance } from './policy-instance.js'
import type { EvaluationCall } from './policy-instance.js'
import { wrapNativeBuiltins } from './wrap-native-builtins.js'

/** A longer body takes milliseconds to read: that is left to the evaluation, which has a slice. */
const LONG_REQUEST_BYTES = 524_288

/** A compiled module as plain data: threads share its code, and where it is in shared memory its data. */
export interface ModuleParts {
  readonly module: WebAssembly.Module
  readonly minimumPages: number
  /** Native built-ins by the numbers that the module calls its host with. */
  readonly wrappedBuiltins: ReadonlyMap<number, string>
  /** The base documents, as JSON text. */
  readonly data: Uint8Array
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

  /** Compiles the bytes of a `policy.wasm`. Raises `invalid` for a module that is damaged or of an unknown ABI. */
  static async compile(wasm: Uint8Array, options: PolicyModuleOptions): Promise<PolicyModule> {
    const { bytes, builtinNames } = wrapNativeBuiltins(wasm)
    const metered = meterModule(bytes)
    try {
      const module = await WebAssembly.compile(metered.bytes)
      const parts = {
        module,
        minimumPages: metered.minimumPages,
        wrappedBuiltins: builtinNames,
        data: options.data,
        readsDirectly: undefined,
      }
      return new PolicyModule(parts, options)
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
