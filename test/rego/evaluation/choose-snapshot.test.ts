import { expect, test } from 'vitest'

import { chooseSnapshot } from '../../../src/rego/evaluation/choose-snapshot.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'

const current = { revision: '1' } as Snapshot
const inputOf = (value: object): Buffer => Buffer.from(JSON.stringify(value))
const applications = Array.from({ length: 1000 }, (_, number) => `application-${number}`)

function chosenIn(revision: string, sharePercent: number): readonly string[] {
  const staged = { snapshot: { revision } as Snapshot, sharePercent }
  return applications.filter(
    (application) => chooseSnapshot({ current, staged }, inputOf({ application })) === staged.snapshot,
  )
}

test('the staged revision answers about its share of the applications, each revision others', () => {
  const chosen = chosenIn('2', 10)
  expect(chosen.length).toBeGreaterThan(60)
  expect(chosen.length).toBeLessThan(140)
  expect(chosenIn('2', 10)).toEqual(chosen)
  expect(chosenIn('3', 10)).not.toEqual(chosen)
  // A larger share contains the smaller one.
  expect(chosenIn('2', 50)).toEqual(expect.arrayContaining([...chosen]))
})

test('all inputs of an application have one revision, as have equal inputs without application', () => {
  const staged = { snapshot: { revision: '2' } as Snapshot, sharePercent: 50 }
  const choose = (value: object): Snapshot => chooseSnapshot({ current, staged }, inputOf(value))
  for (const application of applications.slice(0, 20)) {
    expect(choose({ pipeline: { application, name: 'a' } })).toBe(choose({ application, stage: { x: 1 } }))
    expect(choose({ user: application })).toBe(choose({ user: application }))
  }
})

test('without a stage, and without an input, the current revision answers', () => {
  const staged = { snapshot: { revision: '2' } as Snapshot, sharePercent: 99 }
  expect(chooseSnapshot({ current }, inputOf({}))).toBe(current)
  expect(chooseSnapshot({ current, staged }, undefined)).toBe(current)
})
