import { describe, expect, test } from 'vitest'

import { findStageGate, findStageRule } from '../../../src/gates/definitions/find-stage-gate.js'
import { makeGate } from '../../support/gates.js'

const stage = { application: 'shop', pipeline: 'prod', stage: 'Release' }

describe('the gate of a stage', () => {
  test.each([
    ['is called like the stage', makeGate(), true],
    ['names another stage', makeGate({ stage: 'Other' }), false],
    ['names the stage under another name', makeGate({ name: 'X', stage: 'Release' }), true],
    ['names the application in another case', makeGate({ application: 'SHOP' }), true],
    ['is of another application', makeGate({ application: 'bank' }), false],
    ['is of any application', makeGate({ application: undefined }), true],
    ['is of another pipeline', makeGate({ pipeline: 'test' }), false],
    ['has been removed', makeGate({ isEnabled: false }), false],
  ])('is found when it %s: %#', (_, gate, isFound) => {
    expect(findStageGate([gate], stage)).toBe(isFound ? gate : undefined)
  })

  test('is the one that names the most', () => {
    const gates = [
      makeGate({ id: 1, application: undefined }),
      makeGate({ id: 2 }),
      makeGate({ id: 3, pipeline: 'prod' }),
      makeGate({ id: 4 }),
    ]
    expect(findStageGate(gates, stage)?.id).toBe(3)
    expect(findStageGate(gates.slice(0, 2), stage)?.id).toBe(2)
  })

  test('is undefined for policies that fit nothing, and the first of equals', () => {
    expect(findStageRule([{ stage: 'Other' }], stage)).toBeUndefined()
    const any = {}
    expect(findStageRule([any, {}], stage)).toBe(any)
  })
})
