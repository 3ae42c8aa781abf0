import { expect, test, vi } from 'vitest'

import { rememberData } from '../../../src/rego/loading/remember-data.js'
import type { LoadData } from '../../../src/rego/loading/remember-data.js'

function filesOf(text: string): Parameters<LoadData>[0] {
  return [[{ file: 'data.json', at: [], content: Buffer.from(text) }]]
}

/** Loads nothing, and remembers for which address. */
function remembering() {
  const load = vi.fn<LoadData>((_, base) =>
    Promise.resolve({ parts: [], image: { base, root: 0, bytes: new Uint8Array() } }),
  )
  return { load, remembered: rememberData(load) }
}

test('data that is the same is not loaded again', async () => {
  const { load, remembered } = remembering()
  const first = await remembered(filesOf('{}'), 8)
  expect(await remembered(filesOf('{}'), 8)).toBe(first)
  expect(await remembered(filesOf('{}'), 4)).toBe(first)
  expect(load).toHaveBeenCalledTimes(1)
})

test('data that replaces other data is loaded once where its policies need more room than it seems', async () => {
  const { load, remembered } = remembering()
  await remembered(filesOf('{"old":true}'), 8)
  await remembered(filesOf('{"old":true}'), 16)
  const replaced = await remembered(filesOf('{"new":true}'), 8)
  expect(await remembered(filesOf('{"new":true}'), 16)).toBe(replaced)
  expect(load).toHaveBeenCalledTimes(3)
})
