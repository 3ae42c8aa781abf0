import { describe, expect, test } from 'vitest'
import { maskPointers } from '../../../../src/lib/json/edit/mask-pointers.js'

const DOCUMENT =
  ' {"user": {"name":"jane", "token":"s3cret"},\n "stages":[{"env":{"K":1}},{"env":{"K":[2]}},7], "token":"a","token":"b", "é\\u0041":true}'

describe('masking values of JSON text', () => {
  test.each<{ pointers: string[][]; masked: readonly (readonly [string, string])[] }>([
    { pointers: [], masked: [] },
    { pointers: [['user', 'token']], masked: [['"s3cret"', '"#"']] },
    { pointers: [['stages', '1', 'env', 'K']], masked: [['[2]', '"#"']] },
    {
      pointers: [['stages', '*', 'env', 'K']],
      masked: [
        ['{"K":1}', '{"K":"#"}'],
        ['[2]', '"#"'],
      ],
    },
    {
      pointers: [['stages', '*']],
      masked: [['[{"env":{"K":1}},{"env":{"K":[2]}},7]', '["#","#","#"]']],
    },
    {
      pointers: [['user', '*'], ['user', 'token'], ['user']],
      masked: [['{"name":"jane", "token":"s3cret"}', '"#"']],
    },
    { pointers: [['*', 'token']], masked: [['"s3cret"', '"#"']] },
    {
      pointers: [['token']],
      masked: [
        ['"a"', '"#"'],
        ['"b"', '"#"'],
      ],
    },
    { pointers: [['éA']], masked: [['true', '"#"']] },
    {
      pointers: [['nothing'], ['user', 'name', 'x'], ['stages', '9'], ['stages', '01'], ['user', '0']],
      masked: [],
    },
  ])('at $pointers changes those values alone', ({ pointers, masked }) => {
    const expected = masked.reduce((text, [from, to]) => text.replace(from, to), DOCUMENT)
    expect(maskPointers(Buffer.from(DOCUMENT), pointers, '"#"').bytes.toString()).toBe(expected)
  })

  test('by the empty pointer replaces the whole value', () => {
    expect(maskPointers(Buffer.from(' [1] \n'), [[]], 'null').bytes.toString()).toBe(' null \n')
  })

  test('keeps bytes that are not UTF-8 as they are', () => {
    const source = Buffer.from('{"a":"\xff","b":1}', 'latin1')
    expect(maskPointers(source, [['b']], '0').bytes.toString('latin1')).toBe('{"a":"\xff","b":0}')
  })

  test('masks hundreds of thousands of elements', () => {
    const source = Buffer.from(JSON.stringify(Array.from({ length: 300_000 }, () => 1)))
    const { bytes, values } = maskPointers(source, [['*']], '0')
    expect(values).toHaveLength(300_000)
    expect(bytes.includes('1')).toBe(false)
  })
})
