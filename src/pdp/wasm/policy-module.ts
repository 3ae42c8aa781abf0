import { AppError, toError } from '../../errors.js'
import { meterModule } from './meter-module.js'
import type { PolicyModuleOptions } from './module-options.js'
import { PolicyInstance } from './policy-instance.js'
import type { EvaluationCall } from './policy-instance.js'
import { reportNativeFailures } from './report-native-failures.js'

/**
 * One compiled policy module with its data: evaluates any of its entrypoints. Holds a single instance, since an
 * evaluation is synchronous, and makes a new one when the old has failed or grown.
 */
export class PolicyModule {
  /** Entrypoint numbers by path (`static/waiting/deny`; the empty path is the whole of `data`). */
  readonly entrypoints: ReadonlyMap<string, number>
  /** The built-ins that the module calls and does not bring along. */
  readonly requiredBuiltins: readonly string[]
  readonly #module: WebAssembly.Module
  readonly #minimumPages: number
  readonly #reportedBuiltins: ReadonlyMap<number, string>
  readonly #options: PolicyModuleOptions
  #instance: PolicyInstance | undefined

  private constructor(
    module: WebAssembly.Module,
    minimumPages: number,
    reportedBuiltins: ReadonlyMap<number, string>,
    options: PolicyModuleOptions,
  ) {
    this.#module = module
    this.#minimumPages = minimumPages
    this.#reportedBuiltins = reportedBuiltins
    this.#options = options
    const instance = this.#instantiate()
    this.entrypoints = instance.entrypoints
    this.requiredBuiltins = instance.requiredBuiltins
    this.#instance = instance
  }

  /** Compiles the bytes of a `policy.wasm`. Raises `invalid` for a module that is damaged or of an unknown ABI. */
  static async compile(wasm: Uint8Array, options: PolicyModuleOptions): Promise<PolicyModule> {
    const { bytes, builtinNames } = reportNativeFailures(wasm)
    const metered = meterModule(bytes)
    try {
      const module = await WebAssembly.compile(metered.bytes)
      return new PolicyModule(module, metered.minimumPages, builtinNames, options)
    } catch (raw) {
      if (raw instanceof AppError) throw raw
      throw new AppError('invalid', `load policy module: ${toError(raw).message}`, { cause: raw })
    }
  }

  /** The result set of one evaluation as Rego text: `{{"result":X}}`, or `set()` when undefined. */
  evaluate(entrypoint: number, input: Uint8Array | undefined, call: EvaluationCall): string {
    return this.#use((instance) => instance.evaluate(entrypoint, input, call))
  }

  /** The result sets of several entrypoints over one input, in their order. */
  evaluateAll(entrypoints: readonly number[], input: Uint8Array | undefined, call: EvaluationCall): string[] {
    return this.#use((instance) => instance.evaluateAll(entrypoints, input, call))
  }

  /** An instance that fails in use, or has grown, is not used again. */
  #use<T>(run: (instance: PolicyInstance) => T): T {
    const instance = this.#instance ?? this.#instantiate()
    this.#instance = undefined
    const result = run(instance)
    if (instance.memoryBytes <= this.#options.limits.recycleMemoryBytes) this.#instance = instance
    return result
  }

  #instantiate(): PolicyInstance {
    return new PolicyInstance(this.#module, this.#minimumPages, this.#reportedBuiltins, this.#options)
  }
}
