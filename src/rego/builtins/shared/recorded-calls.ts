import { parseRegoText } from '../../values/parse-text.js'
import { printRegoText } from '../../values/print-text.js'
import type { RegoValue } from '../../values/value.js'

export type CallResult = { readonly value: RegoValue } | { readonly failure: CallFailure }

/** `network`: the other side was unreachable or did not respond in time. */
export interface CallFailure {
  readonly cause: 'network' | 'internal'
  readonly message: string
}

/** A built-in call and its result, which is constant within the decision. */
export interface RecordedCall {
  readonly name: string
  readonly args: readonly RegoValue[]
  readonly result: CallResult
}

/** A call whose result is not known yet. `key` identifies it. */
export interface MissingCall extends Omit<RecordedCall, 'result'> {
  readonly key: string
}

export type RecordedCalls = Map<string, RecordedCall>

/** Returns the identity of a call: the built-in and its arguments. */
export function callKey(name: string, args: readonly RegoValue[]): string {
  return `${name}${printRegoText(args)}`
}

/** A call as plain data for another thread, with values as Rego text. */
export interface PackedCall {
  readonly key: string
  readonly name: string
  readonly args: readonly string[]
  readonly result: { readonly value: string } | { readonly failure: CallFailure }
}

export function packCalls(calls: RecordedCalls | undefined): readonly PackedCall[] | undefined {
  if (calls === undefined || calls.size === 0) return undefined
  return [...calls].map(([key, { name, args, result }]) => ({
    key,
    name,
    args: args.map(printRegoText),
    result: 'failure' in result ? result : { value: printRegoText(result.value) },
  }))
}

export function packMissing({ key, name, args }: MissingCall): Omit<PackedCall, 'result'> {
  return { key, name, args: args.map(printRegoText) }
}

export function unpackMissing({ key, name, args }: Omit<PackedCall, 'result'>): MissingCall {
  return { key, name, args: args.map((text) => parseRegoText(text)) }
}

export function unpackCalls(packed: readonly PackedCall[] = []): RecordedCalls {
  return new Map(
    packed.map(({ key, name, args, result }) => [
      key,
      {
        name,
        args: args.map((text) => parseRegoText(text)),
        result: 'failure' in result ? result : { value: parseRegoText(result.value) },
      },
    ]),
  )
}
