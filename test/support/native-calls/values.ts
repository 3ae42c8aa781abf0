import fc from 'fast-check'

import { RegoNumber, RegoObject } from '../../../src/rego/values/value.js'
import type { RegoValue } from '../../../src/rego/values/value.js'
import { part } from './texts.js'

const NUMBERS = [
  '0',
  '1',
  '-1',
  '2',
  '3',
  '7',
  '10',
  '-0',
  '1.0',
  '-1.0',
  '0.1',
  '0.2',
  '0.3',
  '1.5',
  '2.5',
  '-2.5',
  '0.5',
  '1e3',
  '1E2',
  '1e-3',
  '100.00',
  '2147483647',
  '2147483648',
  '-2147483648',
  '-2147483649',
  '4294967295',
  '4294967296',
  '1718000000123',
  '9007199254740991',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '-9223372036854775809',
  '18446744073709551615',
  '18446744073709551616',
  '1e18',
  '1e19',
  '1e20',
  '1e21',
  '123456789012345678901234567890',
  '0.30000000000000004',
  '1e-7',
  '3.14159',
  '1e40',
  '1e400',
  '1e-400',
]
const SMALL = [
  '0',
  '1',
  '2',
  '3',
  '4',
  '-1',
  '-2',
  '10',
  '1.0',
  '0.5',
  '1e0',
  '-0',
  '8',
  '16',
  '9',
  '63',
  '64',
  '65',
  '2147483648',
  '4294967297',
  '9223372036854775808',
]

const numberOf = (digits: string): RegoNumber => new RegoNumber(digits)

/** Any number, by the text that it is sent as. */
export const number = fc.oneof(
  fc.constantFrom(...NUMBERS).map(numberOf),
  fc.integer({ min: -1000, max: 1000 }).map(String).map(numberOf),
  fc
    .tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.integer({ min: -8, max: 8 }))
    .map(([digits, exponent]) => numberOf(decimal(digits, exponent))),
  fc
    .bigInt({ min: -(2n ** 70n), max: 2n ** 70n })
    .map(String)
    .map(numberOf),
)
/** Where an index or a count is wanted. */
export const small = fc
  .oneof(fc.integer({ min: -3, max: 12 }).map(String), fc.constantFrom(...SMALL))
  .map(numberOf)
/** Shift counts. OPA itself allocates as many bits as given. */
export const shift = fc
  .oneof(fc.integer({ min: -2, max: 130 }).map(String), fc.constantFrom('1.0', '1e1', '0.5', '-0'))
  .map(numberOf)
export const integer = fc
  .oneof(fc.constantFrom(...NUMBERS), fc.integer({ min: -300, max: 300 }).map(String))
  .map(numberOf)
/** Two ends of a range that is no longer than some hundred numbers. */
export const rangeEnd = fc
  .oneof(fc.integer({ min: -40, max: 40 }).map(String), fc.constantFrom('1.0', '1e1', '-0', '0.5', '2.0'))
  .map(numberOf)

const scalar: fc.Arbitrary<RegoValue> = fc.oneof(fc.constant(null), fc.boolean(), number, part)

/** Any document of JSON, mostly shallow. */
export const value: fc.Arbitrary<RegoValue> = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(part, scalar, { maxKeys: 3 }).map((record) => RegoObject.fromRecord(record)),
  fc.array(fc.array(scalar, { maxLength: 2 }), { maxLength: 2 }),
)
export const array = fc.array(value, { maxLength: 5 })
export const texts = fc.array(part, { maxLength: 4 })
export const numbers = fc.array(number, { maxLength: 4 })
export const object = fc
  .dictionary(part, value, { maxKeys: 4 })
  .map((record) => RegoObject.fromRecord(record))
const nested = fc
  .dictionary(fc.constantFrom('a', 'b', '0', '', 'a/b', 'a~b'), fc.oneof(value, object), { maxKeys: 3 })
  .map((record) => RegoObject.fromRecord(record))
/** An object in which paths lead somewhere. */
export const document: fc.Arbitrary<RegoValue> = fc
  .dictionary(fc.constantFrom('a', 'b', '0', '', 'a/b', 'a~b'), fc.oneof(value, nested), { maxKeys: 4 })
  .map((record) => RegoObject.fromRecord(record))
const segment = fc.constantFrom<RegoValue>('a', 'b', '0', '', 'a/b', numberOf('0'), numberOf('1'))
const path: fc.Arbitrary<RegoValue> = fc.oneof(
  fc.array(segment, { maxLength: 3 }),
  fc
    .array(fc.constantFrom('a', 'b', '0', '', 'a~1b', 'a~0b', '1', '-'), { maxLength: 3 })
    .map((segments) => segments.join('/')),
  fc.constantFrom('/a', '/a/b', 'a/b/', '//', '/'),
)
export const paths = fc.array(path, { maxLength: 3 })
export const graph = fc
  .dictionary(
    fc.constantFrom('a', 'b', 'c', 'd'),
    fc.oneof(
      fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 3 }),
      fc.constant(null),
      fc.constant('a'),
    ),
    { maxKeys: 4 },
  )
  .map((record) => RegoObject.fromRecord(record))
export const replacements = fc
  .dictionary(part, fc.oneof({ weight: 9, arbitrary: part }, { weight: 1, arbitrary: scalar }), {
    maxKeys: 3,
  })
  .map((record) => RegoObject.fromRecord(record))
export const delimiters: fc.Arbitrary<RegoValue> = fc.oneof(
  fc.constantFrom<RegoValue>(
    null,
    [],
    ['/'],
    ['.'],
    ['/', '.'],
    ['a'],
    ['é'],
    ['😀'],
    ['ab'],
    [''],
    ['/', 'ab'],
    ['-', '/'],
    ['*'],
    ['^'],
    [']'],
    ['\\'],
  ),
  fc.array(part, { maxLength: 2 }),
)

function decimal(digits: number, exponent: number): string {
  if (exponent > 4) return `${digits}e${exponent}`
  if (exponent >= 0) return String(digits)
  const sign = digits < 0 ? '-' : ''
  const plain = String(Math.abs(digits)).padStart(1 - exponent, '0')
  return `${sign}${plain.slice(0, exponent)}.${plain.slice(exponent)}`
}
