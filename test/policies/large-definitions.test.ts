import { beforeAll, describe, expect, test } from 'vitest'

import { hostBuiltins } from '../../src/rego/builtins/index.js'
import { evaluateStaticPolicies } from '../../src/rego/evaluation/evaluate-static-policies.js'
import { newCall } from '../../src/rego/evaluation/new-call.js'
import { loadSnapshot } from '../../src/rego/loading/load-snapshot.js'
import { findOpa } from '../../src/rego/opa/find-opa.js'
import type { Snapshot } from '../../src/rego/snapshot/snapshot.js'
import { DEFAULT_LIMITS } from '../support/default-limits.js'
import { policiesFolder } from '../support/sample-cases.js'

const KIB = 1024
/**
 * Iterations of the compiled code per byte: the need of a definition with some stages, with a
 * margin.
 */
const PER_BYTE = 40
const LIMITS = {
  ...DEFAULT_LIMITS,
  loopIterations: 200_000,
  loopIterationsPerInputByte: PER_BYTE,
  maxDurationMs: 600_000,
}

type Stage = Readonly<Record<string, unknown>>

/** Forms of stages that occur in thousands. */
const SHAPES: Readonly<Record<string, (number: number) => Stage>> = {
  'a judgment before each deploy': (number) => ({
    type: number % 2 === 0 ? 'manualJudgment' : 'deployManifest',
    requisiteStageRefIds: number === 0 ? [] : [String(number - 1)],
    account: 'prod-eu',
  }),
  'deploys to accounts of their own': (number) => ({
    type: 'deployManifest',
    requisiteStageRefIds: ['0'],
    account: `prod-${number}`,
  }),
  'waits one after the other': (number) => ({
    type: 'wait',
    requisiteStageRefIds: number === 0 ? [] : [String(number - 1)],
    waitTime: 30,
  }),
}

function definition(shape: (number: number) => Stage, bytes: number): Buffer {
  const stages: Stage[] = []
  for (let size = 0; size < bytes;) {
    const number = stages.length
    const stage = {
      refId: String(number),
      name: `stage ${number}`,
      comments: 'x'.repeat(100),
      ...shape(number),
    }
    size += JSON.stringify(stage).length + 1
    stages.push(stage)
  }
  return Buffer.from(JSON.stringify({ new: { application: 'shop', name: 'deploy', stages } }))
}

let snapshot: Snapshot

beforeAll(async () => {
  const options = { findOpa: () => findOpa({ env: process.env }), builtins: hostBuiltins, limits: LIMITS }
  snapshot = await loadSnapshot({ directories: [policiesFolder], bundles: [] }, options)
})

describe('the shipped static policies take as long as a definition is', () => {
  test.each(Object.keys(SHAPES))('%s', (name) => {
    const input = definition(SHAPES[name]!, 1024 * KIB)
    for (const key of snapshot.packages.filter((path) => path.startsWith('static/'))) {
      expect(() => evaluateStaticPolicies(snapshot, [key], input, newCall({ nowMs: 0 })), key).not.toThrow()
    }
  })
})
