import { describe, expect, test } from 'vitest'
import { AppError } from '../../../../src/errors/app-error.js'
import { canonicalJson } from '../../../../src/lib/json/edit/canonical.js'
import { locateInput } from '../../../../src/lib/json/scan/locate-input.js'
import { readCases } from '../read-cases.js'

/**
 * The answer of an OPA 0.70 server to the body, whose characters are bytes: an error, no input, or
 * this input.
 */
interface BodyCase {
  readonly body: string
  readonly error?: string
  readonly absent?: boolean
  readonly input?: string
}

const cases = readCases('request-bodies') as readonly BodyCase[]

function messageOf(body: Uint8Array): string {
  try {
    locateInput(body)
  } catch (error) {
    if (error instanceof AppError) return `${error.kind}: ${error.message}`
    throw error
  }
  return 'no error'
}

describe('locating the input of a Data API request', () => {
  test.each(cases.filter(({ error }) => error !== undefined))('refuses $body in the words of OPA', (row) => {
    expect(messageOf(Buffer.from(row.body, 'latin1'))).toBe(`invalid: ${row.error ?? ''}`)
  })

  test.each(cases.filter(({ absent }) => absent === true))('finds no input in $body', ({ body }) => {
    expect(locateInput(Buffer.from(body, 'latin1'))).toBeUndefined()
  })

  test.each(cases.filter(({ input }) => input !== undefined))(
    'finds the input of $body',
    ({ body, input }) => {
      const bytes = Buffer.from(body, 'latin1')
      const extent = locateInput(bytes)
      expect(extent && canonicalJson(bytes, extent.start, extent.end).toString()).toBe(input)
    },
  )

  test('gives the extent without the white space around it', () => {
    expect(locateInput(Buffer.from('{"input" : {"a": 1} }'))).toEqual({ start: 11, end: 19 })
  })

  test('reads a body that is a window into a larger buffer', () => {
    const whole = Buffer.from('xx{"input":7}5')
    expect(locateInput(whole.subarray(2, 13))).toEqual({ start: 9, end: 10 })
    expect(messageOf(whole.subarray(2, 12))).toMatch(/unexpected EOF$/)
  })
})
