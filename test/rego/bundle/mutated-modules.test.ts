import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { readBundleKey } from '../../../src/rego/bundle/signing/verification.js'
import type { BundleVerification } from '../../../src/rego/bundle/signing/verification.js'
import { unpackBundle } from '../../../src/rego/archive/unpack-bundle.js'
import type { UnpackedFiles } from '../../../src/rego/archive/unpack-bundle.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { evaluateStaticPolicies } from '../../../src/rego/evaluation/evaluate-static-policies.js'
import { loadSnapshot } from '../../../src/rego/loading/load-snapshot.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { packFiles } from '../../support/make-bundle.js'
import { makeWorkspace } from '../../support/workspace.js'

const RUNS = Number(process.env['MUTATED_MODULES'] ?? 60)
/** Limits that soon end a module that never ends or fills its memory. */
const LIMITS = { ...DEFAULT_LIMITS, loopIterations: 1_000_000, maxDurationMs: 500, maxMemoryBytes: 64 << 20 }
const SECRET = 'a secret of our own'
const DEMAND = { isRequired: true, keyId: 'ci', excludedFiles: [] }
const VERIFICATION: BundleVerification = {
  keys: new Map([['ci', { algorithm: 'HS256', key: readBundleKey('ci', 'HS256', SECRET), scope: '' }]]),
  demandOf: () => DEMAND,
  demandOfSource: () => DEMAND,
}
const TEXTS = ['2.5 is too much', 'bad', 'é', 'é is too much']
const INPUTS = ['{"new": {"bad": true, "n": [1, 2.5, "é"]}}', '{"new": {}}', '{}'].map((text) =>
  Buffer.from(text),
)

const workspace = makeWorkspace({
  'sources/a.rego': [
    'package static.a',
    'import rego.v1',
    'deny contains "bad" if input.new.bad',
    'deny contains sprintf("%v is too much", [x]) if { some x in input.new.n; x > data.limit }',
    'deny contains lower(x) if { some x in input.new.n; regex.match(`^[a-zé]+$`, x) }',
  ].join('\n'),
  'sources/data.json': '{"limit": 2}',
})
afterAll(workspace.remove)
const file = join(workspace.path, 'changed.tar.gz')
let files: UnpackedFiles
let signed: UnpackedFiles

beforeAll(async () => {
  const opa = await findOpa({ env: process.env })
  const build = async (...flags: readonly string[]): Promise<UnpackedFiles> => {
    const made = join(workspace.path, 'made.tar.gz')
    const args = ['build', '-t', 'wasm', '-e', 'static/a', '-b', 'sources', '-o', made, ...flags]
    execFileSync(opa.path, args, { cwd: workspace.path })
    return await unpackBundle('made', readFileSync(made))
  }
  files = await build()
  signed = await build('--signing-alg', 'HS256', '--signing-key', SECRET)
})

/** Changes to a file: some bytes of it, or its length. */
const change = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .array(fc.tuple(fc.double({ min: 0, max: 0.999_999, noNaN: true }), fc.integer({ min: 1, max: 255 })), {
        minLength: 1,
        maxLength: 4,
      })
      .map((flips) => (bytes: Buffer) => {
        const changed = Buffer.from(bytes)
        for (const [share, bits] of flips) {
          const at = Math.floor(share * changed.length)
          changed[at] = (changed[at] ?? 0) ^ bits
        }
        return changed
      }),
  },
  {
    weight: 1,
    arbitrary: fc
      .double({ min: 0, max: 0.999_999, noNaN: true })
      .map((share) => (bytes: Buffer) => bytes.subarray(0, Math.floor(share * bytes.length))),
  },
  {
    weight: 1,
    arbitrary: fc
      .uint8Array({ minLength: 1, maxLength: 20 })
      .map((more) => (bytes: Buffer) => Buffer.concat([bytes, more])),
  },
)

async function load(changed: UnpackedFiles, verification?: BundleVerification): Promise<Snapshot | AppError> {
  writeFileSync(file, await packFiles(Object.fromEntries(changed)))
  try {
    return await loadSnapshot(
      { directories: [], bundles: [file] },
      {
        findOpa: () => Promise.reject(new Error('nothing is compiled')),
        builtins: hostBuiltins,
        limits: LIMITS,
        analysis: { staticPackages: ['static.**'], undefinedData: 'warn' },
        ...(verification && { verification: () => verification }),
      },
    )
  } catch (raw) {
    if (raw instanceof AppError) return raw
    throw raw
  }
}

function withModule(of: UnpackedFiles, make: (bytes: Buffer) => Buffer): UnpackedFiles {
  return new Map([...of, ['policy.wasm', make(of.get('policy.wasm') ?? Buffer.alloc(0))]])
}

describe('a bundle whose module was damaged', () => {
  test('is refused in words, or each question to it ends, as an answer or as an error in words', async () => {
    await fc.assert(
      fc.asyncProperty(change, async (make) => {
        const snapshot = await load(withModule(files, make))
        if (snapshot instanceof AppError) {
          expect(snapshot.kind).toBe('invalid')
          return
        }
        for (const input of INPUTS) {
          try {
            evaluateStaticPolicies(snapshot, snapshot.packages, input, newCall())
          } catch (raw) {
            expect(raw).toBeInstanceOf(AppError)
          }
        }
      }),
      { numRuns: RUNS },
    )
  }, 300_000)

  test('leaves a good one that serves next to it as it was', async () => {
    const good = await load(files)
    await fc.assert(
      fc.asyncProperty(change, async (make) => {
        await load(withModule(files, make))
        const texts = INPUTS.map((input) =>
          good instanceof AppError
            ? []
            : evaluateStaticPolicies(good, good.packages, input, newCall()).denials.map(({ text }) => text),
        )
        expect(texts).toEqual([TEXTS, [], []])
      }),
      { numRuns: RUNS / 4 },
    )
  }, 300_000)
})

describe('a signed bundle', () => {
  test('is always refused when its module or its Rego was changed by a byte or more', async () => {
    const whole = await load(signed, VERIFICATION)
    expect(whole instanceof AppError ? whole.message : '').toBe('')
    const names = [...signed.keys()].filter((name) => name.endsWith('.wasm') || name.endsWith('.rego'))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), change, async (name, make) => {
        const before = signed.get(name) ?? Buffer.alloc(0)
        const after = make(before)
        fc.pre(!after.equals(before))
        const outcome = await load(new Map([...signed, [name, after]]), VERIFICATION)
        expect(outcome).toMatchObject({ kind: 'invalid' })
        expect((outcome as AppError).message).toContain(`${name} was changed`)
      }),
      { numRuns: RUNS },
    )
  }, 300_000)

  test('whose other files were changed is refused, or says the same', async () => {
    const names = [...signed.keys()].filter((name) => !name.endsWith('.wasm') && !name.endsWith('.rego'))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), change, async (name, make) => {
        const changed = make(signed.get(name) ?? Buffer.alloc(0))
        const outcome = await load(new Map([...signed, [name, changed]]), VERIFICATION)
        if (outcome instanceof AppError) return
        const { denials } = evaluateStaticPolicies(outcome, outcome.packages, INPUTS[0], newCall())
        expect(denials.map(({ text }) => text)).toEqual(TEXTS)
      }),
      { numRuns: RUNS },
    )
  }, 300_000)
})
