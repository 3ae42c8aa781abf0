import { describe, expect, test } from 'vitest'

import { numberTable } from '../../../../src/rego/wasm/module/policy-exports.js'

describe("a module's table of numbers", () => {
  test('is read in the order of its names', () => {
    const table = numberTable('{"b/x": 3, "10": 2, "9": 1, "__proto__": 4, "a\\u00e9\\"\\/": 0, "": 5}')
    expect([...table]).toEqual([
      ['', 5],
      ['10', 2],
      ['9', 1],
      ['__proto__', 4],
      ['aé"/', 0],
      ['b/x', 3],
    ])
  })

  test('ignores entries without a number', () => {
    expect([...numberTable('{"a": "1", "b": 2, "c": null}')]).toEqual([['b', 2]])
  })

  test.each(['', 'null', '7', '"a"', '[1]', '{1}', 'set()', '{1: 2}', '{"a": 1'])('is not %j', (text) => {
    expect(() => numberTable(text)).toThrow('not an OPA policy module: a table is missing')
  })
})
