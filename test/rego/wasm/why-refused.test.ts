import { expect, test } from 'vitest'

import { whyRefused } from '../../../src/rego/wasm/module-code.js'
import { compileRego } from '../../support/open-reader.js'

test('a rule that is compiled to more code than a function may have is named, with what to do', async () => {
  const long = Array.from({ length: 500 }, (_, n) => `  input.a${n} == "x${n}"`).join('\n')
  const wasm = await compileRego(`package p\nimport rego.v1\nsmall := input.a\nlarge if {\n${long}\n}\n`)
  const tooLong = 'WebAssembly.compile(): size 9583541 > maximum function size 7654321 @+179356'
  expect(whyRefused(tooLong, wasm)).toMatch(
    /^data\.p\.large is compiled to more code than a function may have: .* split the rule$/,
  )
  const tooMany =
    'WebAssembly.compile(): Compiling function #971:"g0.data.p.small" failed: local count too large @+1'
  expect(whyRefused(tooMany, wasm)).toMatch(/^data\.p\.small is compiled to more code/)
})

test('whatever else an engine says of a module is told as it is', () => {
  expect(whyRefused('expected magic word', new Uint8Array())).toBe('expected magic word')
})
