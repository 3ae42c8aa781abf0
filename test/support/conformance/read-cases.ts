import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import { RegoObject } from '../../../src/rego/values/value.js'
import type { RegoValue } from '../../../src/rego/values/value.js'

const CASES_FILE =
  process.env['CONFORMANCE_FILE'] ??
  fileURLToPath(new URL('../../cases/conformance/rego-v1.json', import.meta.url))

/** One case of OPA's test suite. */
export interface ConformanceCase {
  /** Unique: the note, with a number appended if several cases share it. */
  readonly name: string
  readonly group: string
  readonly query: string
  readonly modules: readonly string[]
  readonly data: RegoObject
  readonly input: RegoValue | undefined
  /** The input as Rego text, which is JSON but for a few. */
  readonly inputTerm: string | undefined
  readonly wantResult: readonly RegoObject[]
  readonly wantErrorCode: string | undefined
  readonly wantError: string | undefined
  readonly isStrict: boolean
  readonly anyOrder: boolean
}

/** All cases in the order of the file, with numbers as written. */
export function readCases(): ConformanceCase[] {
  const seen = new Map<string, number>()
  const cases = parseRegoText(readFileSync(CASES_FILE, 'utf8')) as RegoObject[]
  return cases.map((fields) => {
    const note = textAt(fields, 'note').trim()
    const count = (seen.get(note) ?? 0) + 1
    seen.set(note, count)
    return toCase(fields, count === 1 ? note : `${note} #${count}`)
  })
}

function toCase(fields: RegoObject, name: string): ConformanceCase {
  return {
    name,
    group: textAt(fields, 'group'),
    query: textAt(fields, 'query').trim(),
    modules: listAt(fields, 'modules') as string[],
    data: (fields.get('data') as RegoObject | null | undefined) ?? new RegoObject([]),
    input: fields.get('input'),
    inputTerm: fields.get('input_term') as string | undefined,
    wantResult: listAt(fields, 'want_result') as RegoObject[],
    wantErrorCode: fields.get('want_error_code') as string | undefined,
    wantError: fields.get('want_error') as string | undefined,
    isStrict: fields.get('strict_error') === true,
    anyOrder: fields.get('sort_bindings') === true,
  }
}

function textAt(fields: RegoObject, key: string): string {
  return fields.get(key) as string
}

function listAt(fields: RegoObject, key: string): readonly RegoValue[] {
  return (fields.get(key) as readonly RegoValue[] | null | undefined) ?? []
}
