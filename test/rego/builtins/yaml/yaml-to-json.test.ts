import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'

import { AppError } from '../../../../src/errors/app-error.js'
import { yamlToJson } from '../../../../src/rego/builtins/yaml/yaml.js'

const LIMIT = 1_000_000
const PIECES = [
  '[',
  ']',
  '{',
  '}',
  '- ',
  '? ',
  ': ',
  'a',
  '&a ',
  '*a',
  '!t ',
  '\n',
  '  ',
  '"',
  "'",
  '|',
  '#',
  '---\n',
  ',',
  '<<',
  '1',
]

/** Each line is a list of the previous one: 520 levels deep, with a quarter of a million nodes. */
const CHAIN = Array.from({ length: 520 }, (_, n) => `- &a${n} [${n === 0 ? '1' : `*a${n - 1}`}]`).join('\n')

function kindOf(text: string): string {
  try {
    JSON.parse(yamlToJson(text, LIMIT))
    return 'JSON'
  } catch (error) {
    return error instanceof AppError ? `${error.kind}: ${error.message}` : String(error)
  }
}

describe('YAML as JSON', () => {
  it('is the same document', () => {
    const document = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,8}$/),
      fc.oneof(fc.integer(), fc.boolean(), fc.array(fc.integer())),
    )
    fc.assert(
      fc.property(document, (given) => {
        expect(JSON.parse(yamlToJson(stringify(given, { version: '1.1' }), LIMIT))).toEqual(given)
      }),
      { numRuns: 100 },
    )
  })

  it('returns JSON or a refusal with a reason for any input', () => {
    const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(text, (given) => {
        expect(kindOf(given)).toMatch(/^(?:JSON$|invalid: \S)/)
      }),
      { numRuns: 500 },
    )
  })

  it.each([
    ['open brackets', '['.repeat(5000)],
    ['open braces', '{a: '.repeat(5000)],
    ['brackets', `${'['.repeat(5000)}${']'.repeat(5000)}`],
    ['lists in one line', `${'- '.repeat(5000)}a`],
    ['keys that are mappings', `${'? '.repeat(5000)}a`],
    ['indentation', Array.from({ length: 600 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')],
    ['keys with a colon each in one line', `{"" ${'a: '.repeat(5000)}1`],
  ])('is refused before anything overflows: %s', (_, text) => {
    expect(kindOf(text)).toBe('invalid: YAML is nested deeper than 250 levels')
  })

  it('is refused if nested aliases are too deep', () => {
    // With 5000 other values, the share of aliases is within the limit.
    expect(kindOf(`${'- 1\n'.repeat(5000)}${CHAIN}`)).toBe(
      'invalid: the YAML is nested more than 512 levels deep after its aliases are expanded',
    )
  })

  it('is refused if a few aliases expand to too much', () => {
    const text = `- &a "${'x'.repeat(20_000)}"\n${'- *a\n'.repeat(100)}`
    expect(kindOf(text)).toBe(
      `too_large: the YAML exceeds the limit of ${LIMIT} bytes after its aliases are expanded`,
    )
    const doubling = Array.from({ length: 40 }, (_, n) => `- &a${n} [*a${n - 1}, *a${n - 1}]`).join('\n')
    expect(kindOf(doubling.replaceAll('*a-1', '1'))).toMatch(/^invalid: .*excessive aliasing/)
    expect(kindOf(CHAIN)).toMatch(/^invalid: .*excessive aliasing/)
  })

  it('may contain brackets in its strings', () => {
    expect(JSON.parse(yamlToJson(`a: |\n  ${'['.repeat(2000)}\nb: "${'{'.repeat(2000)}"\n`, LIMIT))).toEqual({
      a: `${'['.repeat(2000)}\n`,
      b: '{'.repeat(2000),
    })
  })
})
