import fc from 'fast-check'
import { expect, test } from 'vitest'

import { BinaryReader, encodeUnsigned } from '../../../../src/rego/wasm/binary/binary-reader.js'
import { growTable, readTableSize } from '../../../../src/rego/wasm/module/export-rules.js'

const FUNCTIONS = 0x70

/** A section of two tables. The first has a maximum or none. */
function tableSection(minimum: number, maximum: number | undefined): Uint8Array {
  const limits = [minimum, ...(maximum === undefined ? [] : [maximum])].flatMap(encodeUnsigned)
  return Buffer.from([2, FUNCTIONS, maximum === undefined ? 0 : 1, ...limits, ...[FUNCTIONS, 0, 7]])
}

test('the first table grows with its maximum, and the bytes after it are unchanged', () => {
  const size = fc.nat({ max: 5_000_000 })
  fc.assert(
    fc.property(size, size, fc.option(size, { nil: undefined }), (minimum, added, room) => {
      const maximum = room === undefined ? undefined : minimum + room
      const grown = growTable(tableSection(minimum, maximum), added)
      expect(readTableSize(new BinaryReader(grown))).toBe(minimum + added)
      expect(Buffer.from(grown)).toEqual(
        Buffer.from(tableSection(minimum + added, maximum === undefined ? undefined : maximum + added)),
      )
    }),
    { numRuns: 200 },
  )
})
