import { BinaryReader, encodeUnsigned } from '../binary/binary-reader.js'
import type { FunctionTable } from '../binary/function-table.js'
import { encodeSigned, OP } from '../binary/instructions.js'
import { LINKED_PREFIX } from '../linked/ordered-iteration.js'
import type { Caller } from '../module/evaluation-abort.js'
import { rulePath } from '../module/export-rules.js'

/** The exported global in which a module stores the number of its last built-in call. */
export const CALL_SITE = 'callSite'
/** No function name contains this character. */
const SEPARATOR = '\0'

/** Formats the line of a call: the name of the rule's function and the built-in. */
function callSiteLine(rule: string, builtin: string): string {
  return `${rule}${SEPARATOR}${builtin}`
}

/**
 * Returns a function that identifies the last built-in call of a module; it returns undefined if
 * the call is unknown. `callSites` has one line per call and is split on the first use.
 */
export function lastCallerOf(exports: WebAssembly.Exports, callSites: string): () => Caller | undefined {
  let lines: readonly string[] | undefined
  return () => {
    lines ??= callSites.split('\n')
    const global: unknown = exports[`${LINKED_PREFIX}${CALL_SITE}`]
    const site = global instanceof WebAssembly.Global ? global.value : 0
    const line = lines[site - 1]
    const name = line?.split(SEPARATOR)[0]
    // A function that `with` replaces is compiled again under another number.
    const rule = name === undefined ? undefined : rulePath(name.replace(/^g\d+/, 'g0'))
    if (rule === undefined) return undefined
    const isSame = (other: string): boolean => other === line
    return { rule, nth: lines.slice(0, site - 1).filter(isSame).length, count: lines.filter(isSame).length }
  }
}

export interface FoundCall {
  readonly called: number
  readonly bytes: Uint8Array
  /** Returns the offset of the instruction that is `before` instructions before the call. */
  readonly startOf: (before: number) => number
}

const NONE = new Uint8Array()
const HOST_CALL = /^opa_builtin(?<operands>\d)$/

/** Numbers built-in calls in policies and generates code that stores the number. */
export class CallSiteWriter {
  readonly #builtins: ReadonlyMap<number, string>
  /** Number of operands by the function number of `opa_builtin0` to `opa_builtin4`. */
  readonly #hostCalls: ReadonlyMap<number, number>
  readonly #global: number | undefined
  readonly #lines: string[] = []

  /** `natives`: names of native built-ins by function number. No code without a global. */
  constructor({ names }: FunctionTable, natives: ReadonlyMap<number, string>, global: number | undefined) {
    this.#builtins = natives
    this.#hostCalls = new Map(
      [...names].flatMap(([number, name]) => {
        const operands = HOST_CALL.exec(name)?.groups?.['operands']
        return operands === undefined ? [] : [[number, Number(operands)] as const]
      }),
    )
    this.#global = global
  }

  get text(): string {
    return this.#lines.join('\n')
  }

  /** Returns the code to insert before a call; empty if it calls no built-in. */
  codeBefore(rule: string, call: FoundCall): Uint8Array {
    const builtin = this.#builtins.get(call.called) ?? this.#hostBuiltin(call)
    if (builtin === undefined || this.#global === undefined) return NONE
    const site = this.#lines.push(callSiteLine(rule, builtin))
    return Buffer.from([OP.constant, ...encodeSigned(site), OP.setGlobal, ...encodeUnsigned(this.#global)])
  }

  /**
   * Returns the host's number of the built-in, as `#number`. OPA's compiler pushes it and a zero
   * before the operands, one instruction each.
   */
  #hostBuiltin({ called, bytes, startOf }: FoundCall): string | undefined {
    const operands = this.#hostCalls.get(called)
    if (operands === undefined) return undefined
    const start = startOf(operands + 2)
    return bytes[start] === OP.constant ? `#${new BinaryReader(bytes, start + 1).signed()}` : undefined
  }
}
