import { expect, test } from 'vitest'
import { pieceEnd } from '../../../src/store/sqlite/decisions/input-packer.js'

/** Text of a fixed generator, which no compression or repetition helps. */
function text(length: number, seed = 1): Buffer {
  let state = seed
  return Buffer.from(
    Array.from({ length }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
      return 32 + ((state >>> 16) % 90)
    }),
  )
}

function pieces(bytes: Buffer): string[] {
  const found: string[] = []
  for (let start = 0; start < bytes.length;) {
    const end = pieceEnd(bytes, start)
    found.push(bytes.toString('latin1', start, end))
    start = end
  }
  return found
}

test('pieces make up the text, and each but the last is within the bounds', () => {
  const bytes = text(300_000)
  const found = pieces(bytes)
  expect(found.join('')).toBe(bytes.toString('latin1'))
  expect(Math.max(...found.map(({ length }) => length))).toBeLessThanOrEqual(16_384)
  expect(Math.min(...found.slice(0, -1).map(({ length }) => length))).toBeGreaterThan(2048)
})

test('an edit changes only the pieces around it, even if it moves the rest', () => {
  const bytes = text(300_000)
  const edited = Buffer.concat([bytes.subarray(0, 150_000), Buffer.from('inserted'), bytes.subarray(150_000)])
  const known = new Set(pieces(bytes))
  expect(pieces(edited).filter((piece) => !known.has(piece)).length).toBeLessThanOrEqual(3)
})

test('the boundaries stay the same from release to release, since stored pieces are found by them', () => {
  expect(pieces(text(40_000)).map(({ length }) => length)).toMatchInlineSnapshot(`
    [
      9521,
      12220,
      4990,
      6448,
      5593,
      1228,
    ]
  `)
})

test('text without any boundary ends at the largest size', () => {
  expect(pieces(Buffer.alloc(40_000, 'x')).map(({ length }) => length)).toEqual([16_384, 16_384, 7232])
})
