import { expect, test } from 'vitest'

import { encodeUnsigned } from '../../../src/rego/wasm/binary/binary-reader.js'
import { OP } from '../../../src/rego/wasm/binary/instructions.js'
import { HEADER_BYTES, SECTION, concat, writeSection } from '../../../src/rego/wasm/binary/sections.js'
import { explainRefusal } from '../../../src/rego/wasm/module-code.js'
import { compileRego } from '../../support/open-reader.js'

const REMEDY = / has more local variables or code than a WebAssembly function may have: .* split the rule$/

/** A module of the function `data.p.deny` and one that takes an argument. */
function moduleWith(body: readonly number[]): Uint8Array<ArrayBuffer> {
  const name = Buffer.from('g0.data.p.deny')
  const sections: readonly (readonly [number, readonly number[]])[] = [
    [SECTION.type, [2, 0x60, 0, 0, 0x60, 1, 0x7f, 0]],
    [SECTION.function, [2, 0, 1]],
    [SECTION.code, [2, body.length, ...body, 2, 0, 0x0b]],
    [SECTION.custom, [4, ...Buffer.from('name'), 1, name.length + 3, 1, 0, name.length, ...name]],
  ]
  const pieces: Uint8Array[] = [Buffer.from([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]).subarray(0, HEADER_BYTES)]
  for (const [id, bytes] of sections) writeSection(pieces, id, [Buffer.from(bytes)])
  return concat(pieces)
}

async function refusalOf(wasm: Uint8Array<ArrayBuffer>): Promise<string> {
  const refusal: unknown = await WebAssembly.compile(wasm).catch((raw: unknown) => raw)
  return explainRefusal(refusal instanceof Error ? refusal.message : '', wasm)
}

test('a rule that calls a function like a rule is named, with the remedy', async () => {
  expect(await refusalOf(moduleWith([0, OP.call, 1, OP.end]))).toMatch(
    /^data\.p\.deny has a reference with a variable .* Rename the function, or move it to another package$/,
  )
})

test('a rule with more local variables than V8 accepts is named, with the remedy', async () => {
  const wasm = moduleWith([1, ...encodeUnsigned(50_001), 0x7f, OP.end])
  expect(await refusalOf(wasm)).toMatch(new RegExp(`^data\\.p\\.deny${REMEDY.source}`))
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
