import { describe, expect, it } from 'vitest'

import { makeHideSecrets } from '../../src/decisions/hide-secrets.js'

describe('hiding masked values in the rest of a decision', () => {
  it.each([
    ['a text', ['"s3cret"'], '["token s3cret is bad"]', '["token [masked] is bad"]'],
    ['a text that JSON escapes', ['"a\\"b\\nc"'], '["got a\\"b\\nc"]', '["got [masked]"]'],
    ['a text that OPA escapes', ['"<key>&"'], '["\\u003ckey\\u003e\\u0026"]', '["[masked]"]'],
    ['a number', ['123456'], '[123456]', '[[masked]]'],
    ['what is inside a value', ['{"a":["first"],"b":{"c":"second"}}'], 'first second', '[masked] [masked]'],
    ['the longer of two', ['"secret"', '"secret-key"'], 'secret-key', '[masked]'],
    ['nothing short', ['"a"', '1', 'true', 'null'], 'a 1 true', 'a 1 true'],
    ['nothing when nothing is masked', [], 'text', 'text'],
  ])('hides %s', (_, values, text, shown) => {
    expect(makeHideSecrets(values)(text, false)).toBe(shown)
  })

  it('leaves no part of a secret at the end of a text that was cut', () => {
    expect(makeHideSecrets(['"s3cret-token"'])('denied: s3cret-tok', true)).not.toContain('s3c')
  })

  it('gives nothing of a text when there are too many secrets to search for', () => {
    const values = [JSON.stringify(Array.from({ length: 201 }, (_, n) => `secret-${n}`))]
    expect(makeHideSecrets(values)('text', false)).toBeNull()
  })

  it('hides a number as it is written, with more digits than a JavaScript number has', () => {
    const hide = makeHideSecrets(['{"card":6304000000000000123,"rate":0.12345678901234567890}'])
    expect(hide('card 6304000000000000123 at 0.12345678901234567890 is refused', false)).toBe(
      'card [masked] at [masked] is refused',
    )
  })
})
