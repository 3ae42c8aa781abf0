import { expect, test } from 'vitest'

import { resolveDataPath } from '../../../src/http/policy/data-query.js'
import { trimTrailing, trimCharacters } from '../../../src/lib/text/trim-characters.js'
import { readRequest } from '../../../src/rego/builtins/http/http-request.js'
import { exactInteger } from '../../../src/rego/builtins/native/go-float.js'
import { readVerifyOptions } from '../../../src/rego/builtins/x509/verify-chain.js'
import { yamlBuiltins } from '../../../src/rego/builtins/yaml/yaml.js'
import { RegoObject } from '../../../src/rego/values/value.js'
import { outcomeOf } from '../../support/builtin-outcome.js'
import { generousMeter } from '../../support/generous-meter.js'

/** With quadratic cost each of these would take minutes, more than the time limit of a test. */
const LONG = 500_000

const yamlOf = (text: string): unknown => outcomeOf(yamlBuiltins, 'yaml.marshal', JSON.stringify([text]))

const READS: readonly (readonly [what: string, read: () => unknown])[] = [
  [
    'quotes in the text of a request',
    () =>
      readRequest(
        RegoObject.fromRecord({
          method: 'post',
          url: 'http://127.0.0.1',
          raw_body: `a${'"'.repeat(LONG)}b`,
        }),
      ),
  ],
  [
    'quotes in the name of a certificate',
    () => readVerifyOptions(RegoObject.fromRecord({ DNSName: `a${'"'.repeat(LONG)}b` }), 0n),
  ],
  ['zeros in a fraction', () => exactInteger(`1.${'0'.repeat(LONG)}1`, generousMeter())],
  ['blanks in a text that is written as YAML', () => yamlOf(`: ${' '.repeat(LONG)}b`)],
  ['ends of lines in such a text', () => yamlOf(`b${'\u2028'.repeat(LONG)}`)],
  [
    'slashes in a path',
    () => resolveDataPath('**', new URLSearchParams({ requestUri: `/v1/data/a${'/'.repeat(LONG)}b` })),
  ],
]

test.each(READS)('a long run of %s is read once', (_, read) => {
  expect(read).not.toThrow()
})

test('only characters at the ends of a text are trimmed', () => {
  expect(trimCharacters('""a"b"""', '"')).toBe('a"b')
  expect(trimCharacters('"""', '"')).toBe('')
  expect(trimTrailing('0010200', '0')).toBe('00102')
  expect(trimTrailing('000', '0')).toBe('')
})

test('a text with line ends is written as in Go', () => {
  const written = (text: string): string =>
    outcomeOf(yamlBuiltins, 'yaml.marshal', JSON.stringify([{ a: text }]))
  expect(written('b  \u0085 c')).toBe(written('b c'))
  expect(written('b  \u0085 \u0085 c')).toBe(written('b\nc'))
  expect(written('b  c')).toContain('b  c')
})
