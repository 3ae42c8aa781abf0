import { MEMOIZE_EXPORT, RULE_EXPORT } from './module/export-rules.js'
import type { PolicyExports } from './module/policy-exports.js'

/** The number of the first rule. Lower numbers are entrypoints. */
export const RULES_FROM = 1_000_000

/** The text around the value in a result set. */
const RESULT_START = '{{"result":'
const RESULT_END = '}}'
const SPACE = 0x20

type CallRule = (position: number, input: number, data: number) => number

/** The targets of an evaluation, by number: entrypoints and rules that can be called directly. */
export class ModuleTargets {
  readonly #abi: PolicyExports
  readonly #callRule: CallRule | undefined
  readonly #memoize: (() => void) | undefined

  constructor(exports: WebAssembly.Exports, abi: PolicyExports) {
    this.#abi = abi
    this.#callRule = exports[RULE_EXPORT] as CallRule | undefined
    this.#memoize = exports[MEMOIZE_EXPORT] as (() => void) | undefined
  }

  /** Starts an evaluation and clears the cached results of rules. */
  begin(targets: readonly number[]): void {
    if (targets.some((target) => target >= RULES_FROM)) this.#memoize?.()
  }

  /** Returns the address of a rule's value (0 if undefined) or of an entrypoint's result set. */
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

  /** Extracts the value from the text of an `evaluate` result; undefined if there is none. */
  valueIn(target: number, text: string): string | undefined {
    if (target >= RULES_FROM) return text
    if (!text.startsWith(RESULT_START)) return undefined
    // OPA 1.x writes a space after the colon.
    const start = RESULT_START.length
    return text.slice(text.charCodeAt(start) === SPACE ? start + 1 : start, -RESULT_END.length)
  }
}
