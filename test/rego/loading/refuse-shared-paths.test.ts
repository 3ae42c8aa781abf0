import { expect, test } from 'vitest'

import { refuseSharedRoots } from '../../../src/rego/loading/check-entrypoints.js'
import { dataOf } from '../../../src/rego/wasm/data/data-image.js'
import { imageOf } from '../../support/data-image.js'

type Part = Parameters<typeof refuseSharedRoots>[0][number]

/** A part that owns the paths of its data. `count` is called with their keys. */
function partOf(name: string, json: string, count?: () => void): Part {
  return { name, packages: [], data: dataOf(imageOf(json), count) } as unknown as Part
}

test('what a part owns is looked for only where another part might own it, too: its data may have millions of keys', () => {
  let reads = 0
  const part = partOf('one', '{"a":1,"b":2}', () => void (reads += 1))
  reads = 0
  refuseSharedRoots([part])
  expect(reads).toBe(0)
  refuseSharedRoots([part, partOf('two', '{"c":3}')])
  expect(reads).toBeGreaterThan(0)
  expect(() => refuseSharedRoots([part, partOf('two', '{"b":3}')])).toThrow("one owns 'b' and two owns 'b'")
})
