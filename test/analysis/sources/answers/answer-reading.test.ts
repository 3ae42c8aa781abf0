import fc from 'fast-check'
import { expect, test } from 'vitest'

import { AnswerReading } from '../../../../src/analysis/sources/answers/answer-reading.js'

function readLines(pieces: readonly Buffer[]): unknown[] {
  const documents: unknown[] = []
  const reading = new AnswerReading({
    arrays: { take: (elements) => documents.push(...elements) },
    isByLine: true,
    end: () => documents,
  })
  for (const piece of pieces) reading.push(piece)
  return reading.end()
}

test('documents that stand a line each are read wherever the answer is cut', () => {
  const breaks = fc.constantFrom('\n', '\r\n', '\n\n', ' \n')
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.jsonValue(), breaks)),
      fc.array(fc.nat(40), { maxLength: 20 }),
      (lines, cuts) => {
        const bytes = Buffer.from(lines.map(([value, end]) => JSON.stringify(value) + end).join(''))
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length]
        const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end))
        const written = lines.map(([value]) => JSON.parse(JSON.stringify(value)) as unknown)
        expect(readLines(pieces)).toEqual(written)
      },
    ),
    { numRuns: 100 },
  )
})

test.each(['{"a":1} {"b":2}\n', '{"a":1}\n]\n', '[1\n', 'text\n', '{"a":1},\n{"b":2}\n'])(
  'what is no document a line is refused: %j',
  (text) => {
    expect(() => readLines([Buffer.from(text)])).toThrow('malformed JSON')
  },
)
