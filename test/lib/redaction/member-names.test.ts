import { expect, test } from 'vitest'

import { MemberNames } from '../../../src/lib/redaction/member-names.js'

test('a name is remembered apart from the memory that it was read from', () => {
  const names = new MemberNames()
  const memory = Buffer.from('"token"')
  expect(names.read(memory, 0)).toMatchObject({ name: 'token', isSecret: true })
  // Of the same length and in the same place among those that are remembered.
  memory.write('"uPken"')
  expect(names.read(memory, 0)).toMatchObject({ name: 'uPken', isSecret: false })
  memory.write('"token"')
  expect(names.read(memory, 0)).toMatchObject({ name: 'token', isSecret: true })
})
