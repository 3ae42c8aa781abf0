import { describe, expect, test } from 'vitest'
import { walkPath } from '../../../src/lib/json/walk-path.js'

const DOCUMENT =
  ' {"a":{"b":[10, {"c":"x"},[ ]],"b c":1}, "a/b":2,"\\u00e9\\n":3,"":{"":4}, "twice":5,"twice":6,"1":{"01":7},"n":null,"\\ud83d":8} '

function textAt(segments: readonly string[]): string | undefined {
  const bytes = Buffer.from(DOCUMENT)
  const extent = walkPath(bytes, 0, bytes.length, segments)
  return extent && bytes.toString('utf8', extent.start, extent.end)
}

describe('walking a path into JSON text', () => {
  test.each<{ path: string[]; found: string | undefined }>([
    { path: ['a', 'b'], found: '[10, {"c":"x"},[ ]]' },
    { path: ['a', 'b', '0'], found: '10' },
    { path: ['a', 'b', '1', 'c'], found: '"x"' },
    { path: ['a', 'b', '2'], found: '[ ]' },
    { path: ['a', 'b c'], found: '1' },
    { path: ['a/b'], found: '2' },
    { path: ['é\n'], found: '3' },
    { path: ['\ufffd'], found: '8' },
    { path: ['', ''], found: '4' },
    { path: ['twice'], found: '6' },
    { path: ['1', '01'], found: '7' },
    { path: ['n'], found: 'null' },
    { path: ['a', 'b', '3'], found: undefined },
    { path: ['a', 'b', '-1'], found: undefined },
    { path: ['a', 'b', '00'], found: undefined },
    { path: ['a', 'b', '1.0'], found: undefined },
    { path: ['a', 'b', ''], found: undefined },
    { path: ['a', 'b', '99999999999999999999'], found: undefined },
    { path: ['A'], found: undefined },
    { path: ['a', 'b', '0', 'c'], found: undefined },
    { path: ['n', 'x'], found: undefined },
    { path: ['a', 'b', '2', '0'], found: undefined },
    { path: ['missing', 'x'], found: undefined },
  ])('$path leads to $found', ({ path, found }) => {
    expect(textAt(path)).toBe(found)
  })

  test('no segments lead to the value itself', () => {
    expect(textAt([])).toBe(DOCUMENT.trimStart())
  })

  test('stays inside the extent given', () => {
    const bytes = Buffer.from('{"a":1}{"a":2}')
    expect(walkPath(bytes, 7, 14, ['a'])).toEqual({ start: 12, end: 13 })
  })
})
