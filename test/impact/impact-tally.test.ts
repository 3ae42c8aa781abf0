import { expect, test } from 'vitest'
import { changedPackages } from '../../src/impact/compare-answers.js'
import { ImpactTally } from '../../src/impact/impact-tally.js'
import { readVerdict } from '../../src/impact/read-verdict.js'
import type { ReplayCase } from '../../src/impact/replay-case.js'

const ABOUT = {
  candidate: { name: 'a', revision: 'a', warnings: [] },
  against: { name: 'b', revision: 'b', warnings: [] },
  isPartial: false,
  notes: [],
}
const denied = (text: string) => ({
  outcome: 'deny' as const,
  reasons: [{ package: 'p', deny: [text] }],
  warnings: [],
  durationMs: 1,
})
const ALLOWED = { outcome: 'allow' as const, reasons: [], warnings: [], durationMs: 1 }
const replayed = (id: string): ReplayCase => ({
  ...{ origin: 'input', id, kind: 'static', path: 'p', timeMs: 0, input: undefined },
})

test('flips beyond the limit are counted and not listed', () => {
  const tally = new ImpactTally({ maxFlips: 2, maxFlipChars: 1_000_000 })
  for (const id of ['1', '2', '3']) tally.add(replayed(id), { before: ALLOWED, after: denied('x') })
  const { flips, flipsLeftOut, changes } = tally.result(ABOUT)
  expect([flips.length, flipsLeftOut, changes.allow_to_deny]).toEqual([2, 1, 3])
})

test('flips that are too long together are counted and not listed', () => {
  const tally = new ImpactTally({ maxFlips: 100, maxFlipChars: 500 })
  for (const id of ['1', '2']) tally.add(replayed(id), { before: ALLOWED, after: denied('x'.repeat(300)) })
  expect(tally.result(ABOUT)).toMatchObject({ flipsLeftOut: 2, changes: { allow_to_deny: 2 } })
})

test('reasons in another order are the same reasons', () => {
  const one = [{ package: 'p', deny: ['a', 'b'] }]
  expect(changedPackages(one, [{ package: 'p', deny: ['b', 'a'] }])).toEqual([])
  expect(changedPackages(one, [{ package: 'p', deny: ['a'] }])).toEqual(['p'])
})

test.each([
  [['a', 'deny'], '["no"]', { outcome: 'deny', reasons: [{ package: 'a', deny: ['no'] }] }],
  [['a', 'deny'], '[]', { outcome: 'allow', reasons: [] }],
  [['a', 'violation'], '[{"msg":"no"}]', { outcome: 'deny', reasons: [{ package: 'a', deny: ['no'] }] }],
  [['a', 'deny'], '{"x":true,"y":false}', { outcome: 'deny', reasons: [{ package: 'a', deny: ['x'] }] }],
  [['a', 'deny'], 'null', { outcome: 'defined' }],
  [['a', 'deny'], '"no"', { outcome: 'deny' }],
  [['a', 'allow'], 'true', { outcome: 'allow' }],
  [['a', 'allow'], 'false', { outcome: 'deny' }],
  [['a'], '{"allow":true,"deny":["no"]}', { outcome: 'deny' }],
  [['a'], '{"allow":true,"deny":[]}', { outcome: 'allow' }],
  [['a'], '{"limit":1}', { outcome: 'defined', value: '{"limit":1}' }],
  [['a', 'deny', '0'], '"no"', { outcome: 'defined' }],
  [['a'], undefined, { outcome: 'undefined' }],
  [['a', 'allow'], undefined, { outcome: 'deny' }],
  [['a', 'deny'], undefined, { outcome: 'undefined' }],
])('the document %j with the value %s is read', (path, text, expected) => {
  expect(readVerdict(path, text)).toMatchObject(expected)
})
