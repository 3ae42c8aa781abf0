import { expect, test } from 'vitest'

import { displayWidth, shortenTo } from '../../../src/cli/output/display-width.js'
import { textTable } from '../../../src/cli/output/text-table.js'

test.each([
  ['abc', 3],
  ['延迟', 4],
  ['レイテンシ', 10],
  ['지연', 4],
  ['e\u0301te\u0301', 3],
  ['Größe', 5],
  ['👍🏽', 2],
  ['Ａ', 2],
  ['ｱ', 1],
  ['a … b', 5],
])('%s takes %d columns', (text, columns) => {
  expect(displayWidth(text)).toBe(columns)
})

test('columns stand under each other where characters are wide', () => {
  const table = textTable(
    [
      ['延迟', '1', 'x'],
      ['latency', '12', 'y'],
    ],
    [1],
  )
  expect(table).toBe('延迟      1  x\nlatency  12  y\n')
})

test('the last column is shortened to the width that there is', () => {
  const rows = [
    ['id', 'why'],
    ['1', 'no metric changed in a way that matters'],
    ['2', 'fine'],
  ]
  expect(textTable(rows, [0], 24)).toBe('id  why\n 1  no metric changed i…\n 2  fine\n')
  expect(textTable(rows, [0])).toContain('that matters\n')
  // A reason shortened to a few columns would be unreadable.
  expect(textTable(rows, [0], 10)).toContain('no metric changed i…\n')
})

test('a text is shortened between its characters', () => {
  expect(shortenTo('延迟升高', 6)).toBe('延迟…')
  expect(shortenTo('延迟升高', 8)).toBe('延迟升高')
})
