import { describe, expect, test } from 'vitest'

import { codeOnly } from '../../../src/rego/modules/tokens/not-code.js'
import { positionIn, readTokens } from '../../../src/rego/modules/tokens/read-tokens.js'
import { expandTemplateStrings } from '../../../src/rego/modules/tokens/template-strings.js'
import { packagePath } from '../../../src/rego/values/package-line.js'
import { spellNumbers } from '../../../src/rego/workarounds/numbers-without-integer-part.js'

// Anyone who may send a policy chooses these texts. Each would take minutes, or the whole stack, if
// the time were not proportional to the length.
describe('texts are read in time proportional to their length', () => {
  test.each([
    ['a long line', 'x,'.repeat(300_000), 600_000],
    ['a string without an end, full of escapes', `"${'\\"'.repeat(300_000)}`, 1],
    ['a long string', `"${'y'.repeat(12_000_000)}"`, 1],
    ['a string with many escapes', `"${'\\n'.repeat(3_000_000)}"`, 1],
    ['a raw string without an end', '`'.repeat(300_001), 150_001],
    ['many lines of comments', '#\n'.repeat(300_000), 0],
  ])('%s', (_, text, count) => {
    expect(readTokens(text).tokens).toHaveLength(count)
    expect(codeOnly(text)).toHaveLength(text.length)
    expect(spellNumbers(`.5 ${text}`)).toBe(`0.5 ${text}`)
  })

  test('template strings inside of each other', () => {
    const nested = '$"{ '.repeat(60) + '1' + ' }"'.repeat(60)
    expect(expandTemplateStrings(nested)).not.toContain('$"')
  })

  test.each(['$"{', '$"{$`{', '$"{ x '])('template strings without an end: %s', (start) => {
    const text = start.repeat(30)
    expect(expandTemplateStrings(text)).toBe(text)
  })

  test('positions of many warnings', () => {
    const text = 'x\ny'.repeat(1_000_000)
    const rows = Array.from({ length: 5_000 }, (_, place) => positionIn(text, 2 + place * 300).row)
    expect(rows).toEqual(rows.map((__, place) => 2 + place * 100))
    expect([0, 1, 2, 3, 4, 5].map((offset) => positionIn('a\n\nbc', offset))).toEqual([
      { row: 1, col: 1 },
      { row: 1, col: 2 },
      { row: 2, col: 1 },
      { row: 3, col: 1 },
      { row: 3, col: 2 },
      { row: 3, col: 3 },
    ])
  })

  test('the package of a module', () => {
    expect(packagePath('\n'.repeat(500_000))).toBeUndefined()
    expect(packagePath(`${'\r\n'.repeat(500_000)}  package a.b`)).toEqual(['a', 'b'])
    expect(packagePath(`package a["${'y'.repeat(12_000_000)}"]`)).toHaveLength(2)
  })

  test('template strings nested too deeply', () => {
    const text = '$"{ '.repeat(100_000) + ' }"'.repeat(100_000)
    expect(() => expandTemplateStrings(text)).toThrow('template strings are nested more than 100 deep')
  })
})

test('comments and the contents of strings are blanked out, not their quotes', () => {
  expect(codeOnly('a # b"\n"c\\"d" `e\nf` "g\nh')).toBe('a     \n"    " ` \n ` " \nh')
})
