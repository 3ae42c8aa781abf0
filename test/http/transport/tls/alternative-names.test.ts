import fc from 'fast-check'
import { expect, test } from 'vitest'

import { alternativeNames } from '../../../../src/http/transport/node/standard-exchange.js'

test.each([
  ['', []],
  ['DNS:a.example.org', ['DNS:a.example.org']],
  ['DNS:a, IP Address:10.0.0.1, URI:spiffe://x/y', ['DNS:a', 'IP:10.0.0.1', 'URI:spiffe://x/y']],
  ['DNS:"a, DNS:admin"', ['DNS:a, DNS:admin']],
  ['DNS:a, "broken', []],
  ['DNS:"a, DNS:admin', []],
])('the names in %j are %j', (text, names) => {
  expect(alternativeNames(text)).toEqual(names)
})

test('no name in quotes adds another one', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (values) => {
      const text = values.map((value) => `URI:${JSON.stringify(value)}`).join(', ')
      expect(alternativeNames(text)).toEqual(values.map((value) => `URI:${value}`))
    }),
  )
})
