import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { ReplacedData } from '../../../../src/pdp/wasm/data/replaced-data.js'
import type { DataImage } from '../../../../src/pdp/wasm/data/data-image.js'

const MIB = 1024 * 1024

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function image(bytes: number): DataImage {
  return { bytes: new Uint8Array(bytes), base: 0, root: 0 }
}

function serve(...images: readonly DataImage[]): number {
  const mark = vi.fn<() => void>()
  const replaced = new ReplacedData(mark)
  for (const one of images) replaced.serves(one)
  vi.advanceTimersByTime(1000)
  return mark.mock.calls.length
}

test('large base documents are given back a second after they were replaced', () => {
  expect(serve(image(8 * MIB), image(1))).toBe(1)
})

test('nothing is given back of those that still serve, of small ones, or at the start', () => {
  const same = image(8 * MIB)
  expect([serve(same, same), serve(image(MIB), image(MIB)), serve(same)]).toEqual([0, 0, 0])
})
