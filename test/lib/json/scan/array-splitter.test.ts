import { describe, expect, it } from 'vitest'

import { ArraySplitter } from '../../../../src/orchestrator/read-list.js'
import { seededRandom } from '../../../support/random-bytes.js'

/** The texts of the elements, the array coming in pieces that `cut` gives the lengths of. */
function split(json: string, cut: () => number, maxElementBytes = 1000): string[] {
  const bytes = Buffer.from(json)
  const splitter = new ArraySplitter(maxElementBytes)
  const elements: string[] = []
  for (let at = 0; at < bytes.length;) {
    const end = at + cut()
    elements.push(...splitter.push(bytes.subarray(at, end)).map((element) => element.toString().trim()))
    at = end
  }
  splitter.end()
  return elements
}

const ELEMENTS = ['{}', '{"a":[1,{"b":"]},{\\"é\\\\"}]}', '[[],[[]]]', '"\\"\\\\"', '-1.5e3', 'null', '" , "']

describe('an array that comes in pieces', () => {
  it('is the same array wherever it is cut', () => {
    const json = ` [ ${ELEMENTS.join(' , ')} ] `
    for (let length = 1; length <= json.length; length++) expect(split(json, () => length)).toEqual(ELEMENTS)
    const random = seededRandom(7)
    for (let round = 0; round < 200; round++) {
      expect(split(json, () => 1 + Math.floor(random() * 9))).toEqual(ELEMENTS)
    }
  })

  it.each([
    ['[]', []],
    [' \n[\t]\r\n', []],
    ['[1]', ['1']],
    ['[1,]', ['1', '']],
    ['[,]', ['', '']],
  ])('%j has the elements %j', (json, elements) => {
    expect(split(json, () => 1)).toEqual(elements)
    expect(split(json, () => json.length)).toEqual(elements)
  })

  it.each([
    ['', 'the list is truncated'],
    ['[', 'the list is truncated'],
    ['[1,2', 'the list is truncated'],
    ['["]', 'the list is truncated'],
    ['[{]', 'the list is truncated'],
    ['{}', 'the answer is not a list'],
    ['1', 'the answer is not a list'],
    ['[]]', 'something follows the list'],
    ['[1] x', 'something follows the list'],
  ])('%j is refused: %s', (json, message) => {
    expect(() => split(json, () => 1)).toThrow(message)
    expect(() => split(json, () => json.length || 1)).toThrow(message)
  })

  it('is refused when an element is larger than the limit, before all of it has come', () => {
    expect(split('["12345678"]', () => 3, 10)).toEqual(['"12345678"'])
    expect(() => split('["123456789"]', () => 3, 10)).toThrow('more than 10 bytes')
    expect(() => split('["1234567890', () => 12, 10)).toThrow('more than 10 bytes')
  })
})
