import { describe, expect, it } from 'vitest'

import { readPathNumber, requirePathNumber } from '../../../src/http/input/path-parameter.js'

describe('a number in a path', () => {
  it.each([
    ['1', 1],
    ['007', 7],
    ['2147483648', 2_147_483_648],
    ['999999999999999', 999_999_999_999_999],
  ])('%s is one', (text, number) => {
    expect([readPathNumber(text), requirePathNumber(text, 'gate')]).toEqual([number, number])
  })

  it.each([
    undefined,
    '',
    '0',
    '000',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x1',
    ' 1',
    '1 ',
    'x',
    '１',
    '1000000000000000',
  ])('%j is none, and nothing has it', (text) => {
    expect(readPathNumber(text)).toBeUndefined()
    expect(() => requirePathNumber(text, 'approval gate')).toThrow(
      expect.objectContaining({
        kind: 'not_found',
        message: `approval gate "${text ?? ''}" not found: the id must be a positive integer`,
      }),
    )
  })
})
