import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { labelRole } from '../../../src/lib/redaction/member-names.js'
import { readOpenContainers } from '../../../src/lib/redaction/close-json.js'

/** The result of checking each byte. */
function standing(text: string): { open: number[]; stringStart: number; isInString: boolean } {
  const open: number[] = []
  let stringStart = -1
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at)
    if (isInString) {
      if (letter === '\\') at++
      else isInString = letter !== '"'
    } else if (letter === '"') {
      stringStart = at
      isInString = true
    } else if ('[{]}'.includes(letter)) {
      stringStart = -1
      if (letter === '[' || letter === '{') open.push(at)
      else open.pop()
    }
  }
  return { open, stringStart, isInString }
}

const read = (text: string) => readOpenContainers(Buffer.from(text))

const part = fc.constantFrom(
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  '\\\\',
  '\\"',
  'a',
  ' ',
  ':',
  ',',
  '"value":',
  'x'.repeat(17),
)

describe('the containers that are open', () => {
  it('are those that a look at each byte finds', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const text = parts.join('')
        expect(read(text)).toMatchObject(standing(text))
      }),
      { numRuns: 500 },
    )
  })

  it.each(['value', 'Values', 'default', 'defaultValue', 'DEFAULTVALUE', 'data', 'stringData'])(
    'are known to have a member by the name of a value, %s',
    (name) => {
      expect(labelRole(name)).toMatch(/value/i)
      expect(read(`[{"a":{"${name}":1}},{"b":{}, "${name}" : {"c":1`).hasValue).toBe(true)
      expect(read(`[{"a":{"${name}":1}},{"b":["${name}"], "c" : "${name}", "d":{"e":1`).hasValue).toBe(false)
    },
  )

  it('are found however many there are', () => {
    expect(read('['.repeat(4097)).open).toHaveLength(4097)
    expect(read(`${'['.repeat(9000)}${']'.repeat(8999)}`).open).toEqual([0])
  })
})
