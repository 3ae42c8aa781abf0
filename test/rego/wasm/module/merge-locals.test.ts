import { describe, expect, test } from 'vitest'

import { newCall } from '../../../../src/rego/evaluation/new-call.js'
import { evaluateDocument, planDocument } from '../../../../src/rego/evaluation/evaluate-document.js'
import { BinaryReader } from '../../../../src/rego/wasm/binary/binary-reader.js'
import { OP } from '../../../../src/rego/wasm/binary/opcodes.js'
import { SECTION, openSection, readSections } from '../../../../src/rego/wasm/binary/sections.js'
import { findLifetimes } from '../../../../src/rego/wasm/module/local-lifetimes.js'
import { loadPolicies } from '../../../support/load-policies.js'

const PACKAGES = 16
/** Each pair of packages gets code of its own. */
const PAIR = `package static.pair
import rego.v1
deny contains sprintf("%v and %v", [x.version, y.version]) if {
  x := data.apps[input.a]
  y := data.apps[input.b]
  x.tested == y.tested
  some n in [1, 2, 3]
  n + x.version == y.version
}
`

function mostLocals(wasm: Uint8Array): number {
  const code = openSection(wasm, readSections(wasm), SECTION.code)
  const counts = Array.from({ length: code.unsigned() }, () => {
    const body = code.slice(code.unsigned())
    let count = 0
    for (let groups = body.unsigned(); groups > 0; groups--) {
      count += body.unsigned()
      body.byte()
    }
    return count
  })
  return Math.max(...counts)
}

test('a rule that looks up packages in pairs has few locals, and decides as before', async () => {
  const apps = Array.from({ length: PACKAGES }, (_, n) => [
    `app${n}.rego`,
    `package apps.a${n}\nimport rego.v1\nversion := ${n}\ntested := ${n !== 3}\n`,
  ])
  const snapshot = await loadPolicies({ 'pair.rego': PAIR, ...(Object.fromEntries(apps) as object) })
  const [entrypoint] = snapshot.entrypoints.get('static/pair/deny') ?? []
  expect(mostLocals(entrypoint?.module.parts.bytes ?? new Uint8Array())).toBeLessThan(500)
  for (let a = 0; a < PACKAGES; a++) {
    for (let b = 0; b < PACKAGES; b++) {
      const isDenied = [1, 2, 3].includes(b - a) && (a === 3) === (b === 3)
      const input = Buffer.from(JSON.stringify({ a: `a${a}`, b: `a${b}` }))
      const value = evaluateDocument(
        planDocument(snapshot, ['static', 'pair', 'deny']),
        input,
        newCall({ nowMs: 0 }),
      )
      expect(JSON.parse(String(value))).toEqual(isDenied ? [`${a} and ${b}`] : [])
    }
  }
})

const VOID = 0x40
const BLOCK = [OP.block, VOID]
const LOOP = [OP.loop, VOID]
const END = [OP.end]
const READ = [OP.getLocal, 1, 0x1a]
const SET = [OP.constant, 7, OP.setLocal, 1]
const branch = (depth: number): number[] => [OP.branch, depth]
const branchIf = (depth: number): number[] => [OP.constant, 1, OP.branchIf, depth]

/** Of local 1, after a parameter. */
function lifetimeIn(...code: readonly (readonly number[])[]): { isShareable: boolean; span: number[] } {
  const bytes = Buffer.from([...code.flat(), ...END])
  const { first, last, isShareable } = findLifetimes(new BinaryReader(bytes), 1, 1)
  return { isShareable: isShareable[1] === 1, span: [first[1] ?? 0, last[1] ?? 0] }
}

describe('a local', () => {
  test('that is set in the block where it is read may share its place from there to its last use', () => {
    expect(lifetimeIn(BLOCK, SET, branchIf(0), READ, END)).toEqual({ isShareable: true, span: [3, 6] })
  })

  test('that is read behind the block that sets it keeps a place of its own, where it may still be 0', () => {
    expect(lifetimeIn(BLOCK, branchIf(0), SET, END, READ).isShareable).toBe(false)
    expect(lifetimeIn(READ, SET).isShareable).toBe(false)
  })

  test('is in use until the end of a loop that begins behind its first use', () => {
    expect(lifetimeIn(SET, LOOP, READ, branchIf(0), END)).toEqual({ isShareable: true, span: [2, 8] })
  })

  test('that an earlier round of a loop sets keeps a place of its own', () => {
    expect(lifetimeIn(LOOP, BLOCK, branchIf(0), READ, END, SET, branchIf(0), END).isShareable).toBe(false)
  })

  test('that is set on each way to the end of a block may share its place, from the beginning of that block', () => {
    const either = [BLOCK, BLOCK, branchIf(0), SET, branch(1), END, SET, END]
    expect(lifetimeIn(...either, READ)).toEqual({ isShareable: true, span: [1, 12] })
  })

  test('that is set on some ways only, or read before the others, keeps a place of its own', () => {
    expect(lifetimeIn(BLOCK, BLOCK, branchIf(1), SET, branch(1), END, SET, END, READ).isShareable).toBe(false)
    expect(lifetimeIn(BLOCK, BLOCK, branchIf(0), SET, branch(1), END, END, READ).isShareable).toBe(false)
    expect(lifetimeIn(BLOCK, BLOCK, branchIf(0), SET, branch(1), END, READ, SET, END).isShareable).toBe(false)
  })
})
