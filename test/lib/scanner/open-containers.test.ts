import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { labelRole } from '../../../src/lib/redaction/labelled-values.js'
import { readOpenContainers } from '../../../src/lib/scanner/open-containers.js'

/** What a look at each byte finds. */
function standing(text: string): { open: number[]; textFrom: number; isInText: boolean } {
  const open: number[] = []
  let textFrom = -1
  let isInText = false
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at)
    if (isInText) {
      if (letter === '\\') at++
      else isInText = letter !== '"'
    } else if (letter === '"') {
      textFrom = at
      isInText = true
    } else if ('[{]}'.includes(letter)) {
      textFrom = -1
      if (letter === '[' || letter === '{') open.push(at)
      else open.pop()
    }
  }
  return { open, textFrom, isInText }
}

function read(text: string) {
  const found = readOpenContainers(Buffer.from(text))
  if (found === undefined) throw new Error('too deep')
  return found
}

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
  it('are those that a look at each byte finds, also in more than one part', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), fc.constantFrom(0, 65_520, 131_060), (parts, before) => {
        const text = `${' '.repeat(before)}${parts.join('')}`
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

  it('may have such a member where its name lies in two parts', () => {
    expect(read(`{${' '.repeat(65_531)}"value":1`).hasValue).toBe(true)
  })

  it('are not told where there are thousands', () => {
    expect(readOpenContainers(Buffer.from('['.repeat(4096)))?.open).toHaveLength(4096)
    expect(readOpenContainers(Buffer.from('['.repeat(4097)))).toBeUndefined()
    expect(read(`${'['.repeat(9000)}${']'.repeat(8999)}`).open).toEqual([0])
  })
})
