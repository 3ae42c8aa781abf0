import { expect, test } from 'vitest'

import { mergeJson, printMembers, readMergeValue } from '../../../../src/lib/json/edit/merge-json.js'

const merged = (base: string, own: string): string =>
  Buffer.from(mergeJson(readMergeValue(Buffer.from(base)), readMergeValue(Buffer.from(own)))).toString()

test.each([
  ['{"a":{"b":1,"c":2},"d":1}', '{"a":{"b":9}}', '{"a":{"b":9,"c":2},"d":1}'],
  ['{"a":{"b":1}}', '{"a":null}', '{"a":null}'],
  ['{"a":[1]}', '{"a":[2]}', '{"a":[2]}'],
  ['{"n":1.50}', '{"m":12345678901234567890}', '{"n":1.50,"m":12345678901234567890}'],
  ['{"a":1}', '5', '5'],
  ['{"\\u0061":1}', '{"a":2}', '{"a":2}'],
  ['{"__proto__":{"q":1}}', '{"__proto__":{"z":2}}', '{"__proto__":{"q":1,"z":2}}'],
  [' {"a" : { } } ', '{"a":{"b":1,"b":2}}', '{"a":{"b":2}}'],
])('%s merged with %s is %s', (base, own, expected) => {
  expect(merged(base, own)).toBe(expected)
})

test('objects within objects are read once, however deep they are', () => {
  const nested = (inner: string): string => `${'{"a":'.repeat(900)}${inner}${'}'.repeat(900)}`
  expect(merged(nested('{"p":1}'), nested('{"q":2}'))).toBe(nested('{"p":1,"q":2}'))
})

test('members are printed with their keys escaped', () => {
  expect(printMembers([['a"', Buffer.from('1')]]).toString()).toBe('{"a\\"":1}')
})
