import type { PolicyModuleOptions } from '../wasm/evaluation-limits.js'
import { compileModule } from '../wasm/module-code.js'
import type { ModuleCode } from '../wasm/module-code.js'
import { PolicyModule } from '../wasm/policy-module.js'

/** Modules as they were last set up: of a load, those that are the same as before are used again. */
export class LoadedModules {
  readonly #compile: (wasm: Uint8Array) => Promise<ModuleCode>
  readonly #codes = new WeakMap<Uint8Array, Promise<ModuleCode>>()
  readonly #modules = new WeakMap<ModuleCode, { readonly module: PolicyModule; readonly data: object }>()

  /** `compile` is `compileModule`, where the thread that loads has the time. */
  constructor(compile = compileModule) {
    this.#compile = compile
  }

  /** Compiles the bytes of a module, once as long as they are the very same. Raises as `compileModule`. */
  async compile(wasm: Uint8Array): Promise<ModuleCode> {
    const code = this.#codes.get(wasm) ?? this.#compile(wasm)
    this.#codes.set(wasm, code)
    try {
      return await code
    } catch (raw) {
      this.#codes.delete(wasm)
      throw raw
    }
  }

  /** Begins to compile bytes that a load is about to ask for, which is told what is wrong with them. */
  readonly prepare = (wasm: Uint8Array): void => {
    this.compile(wasm).catch(() => undefined)
  }

  /** Sets code up with base documents, once as long as both are the very same. Raises as `PolicyModule.load`. */
  async load(code: ModuleCode, options: PolicyModuleOptions): Promise<PolicyModule> {
    const known = this.#modules.get(code)
    if (known?.data === options.data) return known.module
    const module = await PolicyModule.load(code, options)
    this.#modules.set(code, { module, data: options.data })
    return module
  }
}
