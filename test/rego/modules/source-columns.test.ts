import { describe, expect, test } from 'vitest'

import { sourceLocation } from '../../../src/rego/modules/source-columns.js'
import { spellNumbers } from '../../../src/rego/workarounds/numbers-without-integer-part.js'
import { loadPolicies } from '../../support/load-policies.js'

describe('the columns after a number without digits before its point are those of the file', () => {
  test.each(['x := [.5,.25]; X', 'x := .5 + -.5; X', 'x := f(.5,"a .5",.7); X', 'x := 0.5; y := [.5]; X'])(
    '%s',
    (line) => {
      const source = `package a\n${line}\n`
      const text = spellNumbers(source)
      const written = text.split('\n')[1] ?? ''
      const location = sourceLocation(
        { file: 'a.rego', text, source },
        { row: 2, col: written.indexOf('X') + 1 },
      )
      expect(location).toEqual({ row: 2, col: line.indexOf('X') + 1 })
    },
  )
})

test('an error after such numbers has the column of the file', async () => {
  const line = 'deny if { input.ratio in [.5,.25]; missing(input.a) }'
  await expect(loadPolicies({ 'a.rego': `package a\n\nimport rego.v1\n\n${line}\n` })).rejects.toMatchObject({
    details: [{ location: { row: 5, col: line.indexOf('missing') + 1 } }],
  })
})
