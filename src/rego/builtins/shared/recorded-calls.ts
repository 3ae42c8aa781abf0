import { parseRegoText } from '../../values/parse-text.js'
import { printRegoText } from '../../values/print-text.js'
import type { RegoValue } from '../../values/value.js'

/** What a call that may answer otherwise another time gave: a value, or why it failed. */
export type CallResult = { readonly value: RegoValue } | { readonly failure: CallFailure }

/** `network`: whoever was asked could not be reached or did not answer in time. */
export interface CallFailure {
  readonly cause: 'network' | 'internal'
  readonly message: string
}

/** A call of a built-in and what it gave, which holds for the rest of the decision. */
export interface RecordedCall {
  readonly name: string
  readonly args: readonly RegoValue[]
  readonly result: CallResult
}

/** A call whose result is to be found out; `key` is what such calls are recorded by. */
export interface MissingCall extends Omit<RecordedCall, 'result'> {
  readonly key: string
}

/** The calls of one decision, by `callKey`. */
export type RecordedCalls = Map<string, RecordedCall>

/** What tells calls apart: the built-in and its arguments. */
export function callKey(name: string, args: readonly RegoValue[]): string {
  return `${name}${printRegoText(args)}`
}

/** A call as plain data, for another thread: values as Rego text. */
export interface PackedCall {
  readonly key: string
  readonly name: string
  readonly args: readonly string[]
  readonly result: { readonly value: string } | { readonly failure: CallFailure }
}

/** Calls as plain data; undefined where there are none. */
export function packCalls(calls: RecordedCalls | undefined): readonly PackedCall[] | undefined {
  if (calls === undefined || calls.size === 0) return undefined
  return [...calls].map(([key, { name, args, result }]) => ({
    key,
    name,
    args: args.map(printRegoText),
    result: 'failure' in result ? result : { value: printRegoText(result.value) },
  }))
}

/** A call that is to be found out, as plain data. */
export function packMissing({ key, name, args }: MissingCall): Omit<PackedCall, 'result'> {
  return { key, name, args: args.map(printRegoText) }
}

/** The call that was packed. */
export function unpackMissing({ key, name, args }: Omit<PackedCall, 'result'>): MissingCall {
  return { key, name, args: args.map((text) => parseRegoText(text)) }
}

/** The calls that were packed. */
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
