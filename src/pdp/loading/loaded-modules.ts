import type { PolicyModuleOptions } from '../wasm/evaluation-limits.js'
import { compileModule } from '../wasm/module-code.js'
import type { ModuleCode } from '../wasm/module-code.js'
import { PolicyModule } from '../wasm/policy-module.js'

/** Modules as they were last set up: of a load, those that are the same as before are used again. */
export class LoadedModules {
  readonly #compile: (wasm: Uint8Array) => Promise<ModuleCode>
  readonly #codes = new WeakMap<Uint8Array, ModuleCode>()
  readonly #modules = new WeakMap<ModuleCode, { readonly module: PolicyModule; readonly data: object }>()

  /** `compile` is `compileModule`, where the thread that loads has the time. */
  constructor(compile = compileModule) {
    this.#compile = compile
  }

  /** Compiles the bytes of a module, once as long as they are the very same. Raises as `compileModule`. */
  async compile(wasm: Uint8Array): Promise<ModuleCode> {
    const code = this.#codes.get(wasm) ?? (await this.#compile(wasm))
    this.#codes.set(wasm, code)
    return code
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
