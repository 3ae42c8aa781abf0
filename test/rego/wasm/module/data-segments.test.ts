import { beforeAll, describe, expect, test } from 'vitest'

import { hostBuiltins } from '../../../../src/rego/builtins/index.js'
import { newCall } from '../../../../src/rego/evaluation/new-call.js'
import { compileModule, lowestBase } from '../../../../src/rego/wasm/module-code.js'
import { PolicyModule } from '../../../../src/rego/wasm/policy-module.js'
import {
  SECTION,
  appendToVector,
  concat,
  readSections,
  writeSection,
} from '../../../../src/rego/wasm/binary/sections.js'
import { imageOf } from '../../../support/data-image.js'
import { DEFAULT_LIMITS } from '../../../support/default-limits.js'
import { compileRego } from '../../../support/open-reader.js'

const PAGE = 65_536
const ACTIVE = 0
const PASSIVE = 1
const ACTIVE_WITH_MEMORY = 2

let wasm: Uint8Array
beforeAll(async () => {
  wasm = await compileRego('package p\nanswer := input\n')
})

/** Adds a data segment outside of the declared pages. */
function withSegment(segment: readonly number[]): Uint8Array {
  const out: Uint8Array[] = [wasm.subarray(0, 8)]
  for (const { id, start, end } of readSections(wasm)) {
    const body = wasm.subarray(start, end)
    writeSection(out, id, [id === SECTION.data ? appendToVector(body, [segment]) : body])
  }
  return concat(out)
}

/** `i32.const address`, as a signed LEB128 integer of five bytes. */
function constant(address: number): number[] {
  const groups = [0, 7, 14, 21].map((shift) => ((address >>> shift) & 0x7f) | 0x80)
  return [0x41, ...groups, (address >> 28) & 0x7f, 0x0b]
}

/** One byte whose end is at `end`. */
const segmentTo = (end: number): number[] => [ACTIVE, ...constant(end - 1), 1, 0]

async function load(
  bytes: Uint8Array,
  maxMemoryBytes = DEFAULT_LIMITS.maxMemoryBytes,
): Promise<PolicyModule> {
  const code = await compileModule(bytes)
  return await PolicyModule.load(code, {
    builtins: hostBuiltins.table,
    limits: { ...DEFAULT_LIMITS, maxMemoryBytes },
    data: imageOf('{}', lowestBase(code)),
  })
}

async function answer(bytes: Uint8Array): Promise<string | undefined> {
  const module = await load(bytes)
  return module.evaluate(module.entrypoints.get('p/answer') ?? -1, Buffer.from('[1]'), newCall({ nowMs: 0 }))
}

describe('a module whose data ends after its declared pages', () => {
  const pages = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 31, 32, 33, 64, 65, 127, 128, 129, 1000, 8192]
  const ends = pages.flatMap((page) => [page * PAGE - 1, page * PAGE, page * PAGE + 1])

  test.each(ends.filter((end) => end <= DEFAULT_LIMITS.maxMemoryBytes))(
    'loads and evaluates with data up to %i',
    async (end) => {
      expect(await answer(withSegment(segmentTo(end)))).toBe('[1]')
    },
  )

  test('loads if a segment names its memory', async () => {
    const segment = [ACTIVE_WITH_MEMORY, 0, ...constant(20 * PAGE), 1, 0]
    expect(await answer(withSegment(segment))).toBe('[1]')
  })

  test('needs no memory for a passive segment', async () => {
    expect(await answer(withSegment([PASSIVE, 1, 0]))).toBe('[1]')
  })

  test('is refused with the needed size if it exceeds the limit', async () => {
    const loading = load(withSegment(segmentTo(32 * PAGE + 1)), 32 * PAGE)
    await expect(loading).rejects.toMatchObject({
      kind: 'invalid',
      message:
        'the policy module needs 2162688 bytes of memory before it evaluates anything, and policies.limits.maxMemoryBytes is 2097152: raise it, or load fewer policies',
    })
  })

  test('is refused with the needed size if it exceeds any memory', async () => {
    await expect(load(withSegment(segmentTo(0xffff_ffff)))).rejects.toThrow(
      'needs 4294967296 bytes of memory',
    )
  })

  test('is refused if an address is not constant', async () => {
    await expect(load(withSegment([ACTIVE, 0x23, 0, 0x0b, 1, 0]))).rejects.toThrow(
      'without a constant address',
    )
  })
})
