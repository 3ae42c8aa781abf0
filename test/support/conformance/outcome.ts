import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import { printGoJson } from '../../../src/rego/values/print-go-json.js'
import { RegoObject, compareValues, equalValues } from '../../../src/rego/values/value.js'
import type { RegoValue } from '../../../src/rego/values/value.js'
import type { ConformanceCase } from './read-cases.js'

/** The result of an evaluation: bindings of the query's variables, or an error. */
export type Outcome =
  { readonly bindings: readonly RegoObject[] } | { readonly errorCode: string; readonly message: string }

/** Describes the difference between expected and actual result. Undefined if there is none. */
export function differenceOf(wanted: ConformanceCase, got: Outcome): string | undefined {
  if (wanted.wantErrorCode !== undefined || wanted.wantError !== undefined) {
    return isWantedError(wanted, got)
      ? undefined
      : `want ${wanted.wantErrorCode ?? 'error'}: ${wanted.wantError ?? ''}, got ${describe(got)}`
  }
  if ('bindings' in got && sameBindings(wanted, got.bindings)) return undefined
  return `want ${printGoJson(wanted.wantResult)}, got ${describe(got)}`
}

function isWantedError({ wantErrorCode, wantError }: ConformanceCase, got: Outcome): boolean {
  if ('bindings' in got) return false
  if (wantErrorCode !== undefined && wantErrorCode !== got.errorCode) return false
  return wantError === undefined || `${got.errorCode}: ${got.message}`.includes(withoutLocation(wantError))
}

/** File names and rows are those of OPA's own runner. */
function withoutLocation(message: string): string {
  return message.replace(/^[\w-]+\.rego:\d+: /, '')
}

function sameBindings(wanted: ConformanceCase, got: readonly RegoObject[]): boolean {
  const comparable = (bindings: readonly RegoObject[]): RegoValue[] =>
    bindings.map((binding) => plainBinding(binding, wanted.anyOrder)).sort((a, b) => compareValues(a, b))
  return equalValues(comparable(wanted.wantResult), comparable(got))
}

/** As JSON, sets as arrays; and the numbers of the shared cases have been through doubles. */
function plainBinding(binding: RegoObject, anyOrder: boolean): RegoObject {
  const plain = parseRegoText(JSON.stringify(JSON.parse(printGoJson(binding)))) as RegoObject
  if (!anyOrder) return plain
  return new RegoObject(plain.entries.map(([name, value]) => [name, inOrder(value)]))
}

function inOrder(value: RegoValue): RegoValue {
  return Array.isArray(value) ? [...(value as RegoValue[])].sort(compareValues) : value
}

function describe(got: Outcome): string {
  return 'bindings' in got ? printGoJson(got.bindings) : `${got.errorCode}: ${got.message}`
}
