import { MEMOIZE_EXPORT, RULE_EXPORT } from './module/export-rules.js'
import type { PolicyExports } from './module/policy-exports.js'

/** The number of the first rule; below it are the numbers that the module has for its entrypoints. */
export const RULES_FROM = 1_000_000

/** How the text of a result set stands around the value. */
const RESULT_START = '{{"result":'
const RESULT_END = '}}'
const SPACE = 0x20

type CallRule = (place: number, input: number, data: number) => number

/** What a module can be asked, by number: its entrypoints, and rules that are called by themselves. */
export class ModuleTargets {
  readonly #abi: PolicyExports
  readonly #callRule: CallRule | undefined
  readonly #memoize: (() => void) | undefined

  constructor(exports: WebAssembly.Exports, abi: PolicyExports) {
    this.#abi = abi
    this.#callRule = exports[RULE_EXPORT] as CallRule | undefined
    this.#memoize = exports[MEMOIZE_EXPORT] as (() => void) | undefined
  }

  /** To be called when an evaluation begins: what rules came to in another one is forgotten. */
  begin(targets: readonly number[]): void {
    if (targets.some((target) => target >= RULES_FROM)) this.#memoize?.()
  }

  /** The address of the value of a rule, 0 where it has none, or of the result set of an entrypoint. */
  evaluate(target: number, input: number, data: number): number {
    if (target >= RULES_FROM) return this.#callRule?.(target - RULES_FROM, input, data) ?? 0
    const abi = this.#abi
    const context = abi.opa_eval_ctx_new()
    if (input !== 0) abi.opa_eval_ctx_set_input(context, input)
    abi.opa_eval_ctx_set_data(context, data)
    abi.opa_eval_ctx_set_entrypoint(context, target)
    abi.eval(context)
    return abi.opa_eval_ctx_get_result(context)
  }

  /** The value in the text of what `evaluate` gave an address of; undefined where there is none. */
  valueIn(target: number, text: string): string | undefined {
    if (target >= RULES_FROM) return text
    if (!text.startsWith(RESULT_START)) return undefined
    // OPA 1.x writes a space behind a colon.
    const start = RESULT_START.length
    return text.slice(text.charCodeAt(start) === SPACE ? start + 1 : start, -RESULT_END.length)
  }
}
