import { expect, test } from 'vitest'

import { makeRequestIds } from '../../../src/http/exchange/request-id.js'

test('requests that bring no id, or one that could forge a log line, get ids of their own', () => {
  const nextId = makeRequestIds()
  const ids = [undefined, undefined, 'two words', 'a'.repeat(129), ''].map((claimed) => nextId(claimed))
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^[\w-]{8}-\w+$/)
})

test('a request keeps the id that it brings', () => {
  expect(makeRequestIds()('trace-1:a.b_c')).toBe('trace-1:a.b_c')
})
