import { expect, test } from 'vitest'

import { encodeUnsigned } from '../../../src/rego/wasm/binary/binary-reader.js'
import { HEADER_BYTES, SECTION, concat, writeSection } from '../../../src/rego/wasm/binary/sections.js'
import { explainRefusal } from '../../../src/rego/wasm/module-code.js'
import { compileRego } from '../../support/open-reader.js'

const REMEDY = / has more local variables or code than a WebAssembly function may have: .* split the rule$/

/** A module with one function, `data.p.deny`, of this many local variables. */
function moduleWithLocals(count: number): Uint8Array<ArrayBuffer> {
  const name = Buffer.from('g0.data.p.deny')
  const body = [1, ...encodeUnsigned(count), 0x7f, 0x0b]
  const sections: readonly (readonly [number, readonly number[]])[] = [
    [SECTION.type, [1, 0x60, 0, 0]],
    [SECTION.function, [1, 0]],
    [SECTION.code, [1, body.length, ...body]],
    [SECTION.custom, [4, ...Buffer.from('name'), 1, name.length + 3, 1, 0, name.length, ...name]],
  ]
  const pieces: Uint8Array[] = [Buffer.from([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]).subarray(0, HEADER_BYTES)]
  for (const [id, bytes] of sections) writeSection(pieces, id, [Buffer.from(bytes)])
  return concat(pieces)
}

test('a rule with more local variables than V8 accepts is named, with the remedy', async () => {
  const wasm = moduleWithLocals(50_001)
  const refusal: unknown = await WebAssembly.compile(wasm).catch((raw: unknown) => raw)
  const message = refusal instanceof Error ? refusal.message : ''
  expect(explainRefusal(message, wasm)).toMatch(new RegExp(`^data\\.p\\.deny${REMEDY.source}`))
})

test('a rule with more code than a function may have is named, with the remedy', async () => {
  const long = Array.from({ length: 500 }, (_, n) => `  input.a${n} == "x${n}"`).join('\n')
  const wasm = await compileRego(`package p\nimport rego.v1\nsmall := input.a\nlarge if {\n${long}\n}\n`)
  const message = 'WebAssembly.compile(): size 9583541 > maximum function size 7654321 @+179356'
  expect(explainRefusal(message, wasm)).toMatch(new RegExp(`^data\\.p\\.large${REMEDY.source}`))
})

test('other errors of the engine are reported unchanged', () => {
  expect(explainRefusal('expected magic word', new Uint8Array())).toBe('expected magic word')
})
