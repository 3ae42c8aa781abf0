import { BinaryReader, encodeUnsigned } from '../binary/binary-reader.js'
import type { FunctionTable } from '../binary/function-table.js'
import { encodeSigned, OP } from '../binary/instructions.js'
import { LINKED_PREFIX } from '../linked/ordered-iteration.js'
import type { Caller } from '../module/evaluation-abort.js'
import { rulePath } from '../module/export-rules.js'

/** The global in which a module tells the call of a built-in that it made last, as the linked library exports it. */
export const CALL_SITE = 'callSite'
/** No name has one. */
const SEPARATOR = '\0'

/** The line that tells a call: of which rule, and of which built-in. */
export function callSiteLine(rule: string, builtin: string): string {
  return `${rule}${SEPARATOR}${builtin}`
}

/** What tells the call that a module made last, or undefined where it does not tell. `callSites` has a line for each, and is taken apart when the first is asked for. */
export function lastCallerOf(exports: WebAssembly.Exports, callSites: string): () => Caller | undefined {
  let lines: readonly string[] | undefined
  return () => {
    lines ??= callSites.split('\n')
    const global: unknown = exports[`${LINKED_PREFIX}${CALL_SITE}`]
    const site = global instanceof WebAssembly.Global ? global.value : 0
    const line = lines[site - 1]
    const name = line?.split(SEPARATOR)[0]
    // What `with` gives other functions is compiled once more, under another number.
    const rule = name === undefined ? undefined : rulePath(name.replace(/^g\d+/, 'g0'))
    if (rule === undefined) return undefined
    const isSame = (other: string): boolean => other === line
    return { rule, nth: lines.slice(0, site - 1).filter(isSame).length, count: lines.filter(isSame).length }
  }
}

/** A call in the code of a function. */
export interface FoundCall {
  readonly called: number
  readonly bytes: Uint8Array
  /** Where the instruction starts that is so many before the call, of the last few. */
  readonly startOf: (before: number) => number
}

const NONE = new Uint8Array()
const HOST_CALL = /^opa_builtin(?<operands>\d)$/

/** Numbers the calls of built-ins in the functions of policies, and has each tell its number before it is made. */
export class CallSiteWriter {
  readonly #builtins: ReadonlyMap<number, string>
  /** How many operands the built-in has that a function of the host's is called for. */
  readonly #hostCalls: ReadonlyMap<number, number>
  readonly #global: number | undefined
  readonly #lines: string[] = []

  /** `natives` are the names of native built-ins by the numbers of their functions. Without a global nothing is told. */
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

  /** A line for each call. */
  get text(): string {
    return this.#lines.join('\n')
  }

  /** What is to stand before a call in the function of a rule: nothing where it calls no built-in. */
  codeBefore(rule: string, call: FoundCall): Uint8Array {
    const builtin = this.#builtins.get(call.called) ?? this.#hostBuiltin(call)
    if (builtin === undefined || this.#global === undefined) return NONE
    const site = this.#lines.push(callSiteLine(rule, builtin))
    return Buffer.from([OP.constant, ...encodeSigned(site), OP.setGlobal, ...encodeUnsigned(this.#global)])
  }

  /** The number that the host knows the built-in by: OPA's compiler puts it and a zero in front of the operands, an instruction each. */
  #hostBuiltin({ called, bytes, startOf }: FoundCall): string | undefined {
    const operands = this.#hostCalls.get(called)
    if (operands === undefined) return undefined
    const start = startOf(operands + 2)
    return bytes[start] === OP.constant ? `#${new BinaryReader(bytes, start + 1).signed()}` : undefined
  }
}
