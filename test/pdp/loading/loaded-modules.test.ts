import { expect, test } from 'vitest'

import { LoadedModules } from '../../../src/pdp/loading/loaded-modules.js'
import type { ModuleCode } from '../../../src/pdp/wasm/module-code.js'

const CODE: ModuleCode = {
  module: new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)),
  bytes: new Uint8Array(),
  minimumPages: 0,
  wrappedBuiltins: new Map(),
  callSites: '',
  rules: [],
}

test('a module that has been prepared is not compiled again', async () => {
  const asked: Uint8Array[] = []
  const modules = new LoadedModules((wasm) => {
    asked.push(wasm)
    return Promise.resolve(CODE)
  })
  const wasm = new Uint8Array()
  modules.prepare(wasm)
  expect(await modules.compile(wasm)).toBe(CODE)
  expect(asked).toEqual([wasm])
})

test('what could not be prepared is told to who loads it, and compiled anew', async () => {
  let fails = true
  const modules = new LoadedModules(() =>
    fails ? Promise.reject(new Error('too large')) : Promise.resolve(CODE),
  )
  const wasm = new Uint8Array()
  modules.prepare(wasm)
  await expect(modules.compile(wasm)).rejects.toThrow('too large')
  fails = false
  expect(await modules.compile(wasm)).toBe(CODE)
})
