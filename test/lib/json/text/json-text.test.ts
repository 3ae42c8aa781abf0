import { describe, expect, it } from 'vitest'

import { JsonText, printWithJsonText } from '../../../../src/lib/json/text/json-text.js'

describe('JSON text inside a document', () => {
  it('stays as it is, with all digits', () => {
    const text = '{"big":123456789012345678901234567890,"exact":0.10}'
    expect(printWithJsonText({ a: [new JsonText(text), 1], b: { c: new JsonText('1e400') } })).toBe(
      `{"a":[${text},1],"b":{"c":1e400}}`,
    )
  })

  it.each([
    [{ a: undefined, b: null, c: 'ü"\n', d: [undefined, 1.5, true] }],
    [[]],
    [{}],
    ['text'],
    [null],
    [{ at: new Date(0) }],
    [{ '': { 'a"b': [[], {}] } }],
  ])('leaves everything else to be written as ever: %j', (value) => {
    expect(printWithJsonText(value)).toBe(JSON.stringify(value))
  })

  it('is an ordinary value for other JSON writers', () => {
    expect(JSON.stringify({ a: new JsonText('[1, 2]') })).toBe('{"a":[1,2]}')
  })
})
