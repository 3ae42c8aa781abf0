import { describe, expect, test } from 'vitest'

import { maskEvent, parseMaskRules, makeShapeDecision } from '../../../src/decisions/shipping/shape-event.js'
import type { LogRules, ShapedDecision, ShapingCounts } from '../../../src/decisions/shipping/shape-event.js'
import type { DecisionEntry } from '../../../src/decisions/decision-log.js'
import { aBatch, anEntry, openStore } from '../../support/decisions.js'

const INPUT = {
  a: { b: { c: 1 }, 'x/y': 2, 't~s': 3, 'r~1s': 4 },
  l: [{ k: 1, j: 2 }, 3],
  s: 'text',
  n: null,
}

function masked(...rules: readonly unknown[]): Record<string, unknown> {
  const json = JSON.stringify({ input: INPUT, result: [1, { a: 2 }] })
  return JSON.parse(maskEvent(json, parseMaskRules(JSON.stringify(rules))).event) as Record<string, unknown>
}

const { a, l, s } = INPUT
const upsert = (path: string, value?: unknown): object => ({ op: 'upsert', path, value })

describe('removing', () => {
  test.each([
    { path: '/input/a/b', input: { ...INPUT, a: { ...a, b: undefined } } },
    { path: '/input/a/x~1y', input: { ...INPUT, a: { ...a, 'x/y': undefined } } },
    { path: '/input/a/t~0s', input: { ...INPUT, a: { ...a, 't~s': undefined } } },
    { path: '/input/a/r~1s', input: { ...INPUT, a: { ...a, 'r~1s': undefined } } },
    { path: '/input/l/0', input: { ...INPUT, l: [3] } },
    { path: '/input/l/0/k', input: { ...INPUT, l: [{ j: 2 }, 3] } },
    { path: '/input/n', input: { a, l, s } },
    { path: '/input', input: undefined },
  ])('$path removes its value', ({ path, input }) => {
    const event = masked(path)
    expect(event).toEqual({ ...(input && { input }), result: [1, { a: 2 }], erased: [path] })
  })

  test.each([
    '/input/no',
    '/input/a/no/c',
    '/input/s/x',
    '/input/l/2',
    '/input/l/-',
    '/input/l/00',
    '/input/',
  ])('%s is not in the event and has no effect', (path) => {
    expect(masked(path)).toEqual({ input: INPUT, result: [1, { a: 2 }] })
  })

  test('elements of a result that is an array can be removed', () => {
    expect(masked('/result/1/a')).toMatchObject({ result: [1, {}], erased: ['/result/1/a'] })
  })
})

describe('upserting', () => {
  test.each([
    { rule: upsert('/input/s', 'X'), input: { ...INPUT, s: 'X' } },
    { rule: upsert('/input/s'), input: { ...INPUT, s: null } },
    { rule: upsert('/input/new/deep/er', { z: 1 }), input: { ...INPUT, new: { deep: { er: { z: 1 } } } } },
    { rule: upsert('/input/l/0/k', 'X'), input: { ...INPUT, l: [{ k: 'X', j: 2 }, 3] } },
    { rule: upsert('/input', 'all'), input: 'all' },
  ])('$rule replaces or adds its value', ({ rule, input }) => {
    expect(masked(rule)).toMatchObject({ input, masked: [(rule as { path: string }).path] })
  })

  test.each(['/input/s/x', '/input/n/x', '/input/l/2', '/input/l/-', '/nd_builtin_cache/x'])(
    '%s has no effect, because nothing holds the value',
    (path) => {
      expect(masked(upsert(path, 1))).toEqual({ input: INPUT, result: [1, { a: 2 }] })
    },
  )

  test('a member named __proto__ is a member like others', () => {
    const event = maskEvent(
      '{"input":{}}',
      parseMaskRules('[{"op":"upsert","path":"/input/__proto__/a","value":1}]'),
    )
    expect(event.event).toBe('{"input":{"__proto__":{"a":1}},"masked":["/input/__proto__/a"]}')
  })
})

test.each([
  ['{"input":{"a":1,"a":2,"b":3}}', '{"input":{"b":3},"erased":["/input/a"]}'],
  ['{"input":{"b":3,"a":1,"c":4,"\\u0061":2}}', '{"input":{"b":3,"c":4},"erased":["/input/a"]}'],
  ['{"input":{ "a" : 1 , "a":2 }}', '{"input":{ },"erased":["/input/a"]}'],
  ['{"input":{"b":3,"a":1,"a":2}}', '{"input":{"b":3},"erased":["/input/a"]}'],
])('every value of a repeated member of %s is removed', (json, event) => {
  expect(JSON.parse(maskEvent(json, parseMaskRules('["/input/a"]')).event)).toEqual(JSON.parse(event))
  expect(maskEvent(json, parseMaskRules('["/input/a"]')).event).not.toContain('2')
})

test('numbers keep all their digits', () => {
  const { event } = maskEvent(
    '{"input":{"a":12345678901234567890,"b":1.0,"c":1}}',
    parseMaskRules('["/input/c"]'),
  )
  expect(event).toBe('{"input":{"a":12345678901234567890,"b":1.0},"erased":["/input/c"]}')
})

test('paths that the event already lists are kept', () => {
  const { event } = maskEvent(
    '{"input":{"a":1},"erased":["/result"],"masked":["/input/b"]}',
    parseMaskRules('["/input/a"]'),
  )
  expect(JSON.parse(event)).toEqual({ input: {}, erased: ['/result', '/input/a'], masked: ['/input/b'] })
})

test.each([
  'true',
  '{"a":1}',
  '[5]',
  '[["/input"]]',
  '[""]',
  '["input/a"]',
  '["/labels"]',
  '["/"]',
  '[{"path":"/input"}]',
  '[{"op":"move","path":"/input"}]',
  '[{"op":"remove","path":5}]',
])('%s is refused', (json) => {
  expect(() => parseMaskRules(json)).toThrow('system.log.mask')
})

async function shaped(
  rules: Partial<LogRules>,
  entry: Partial<DecisionEntry>,
): Promise<{ readonly made: ShapedDecision | undefined; readonly counts: ShapingCounts }> {
  const { writer, reader } = await openStore({})
  writer.insert(aBatch([anEntry(entry)]))
  const stored = await reader.get('d-1')
  if (stored === undefined) throw new Error('the decision is not stored')
  const counts = { dropped: 0, maskFailed: 0 }
  const all = { isDropped: () => false, masksOf: () => undefined, ...rules }
  return { made: makeShapeDecision({}, () => all, counts)(stored), counts }
}

const SECRET = {
  input: Buffer.from('{"application":"secret-shop","card":"4111-secret"}'),
  result: Buffer.from('"4111-secret"'),
  ndBuiltinCache: Buffer.from('{"http.send":{"[]":"4111-secret"}}'),
  application: 'secret-shop',
  error: 'to_number: parsing "4111-secret"',
  packages: Buffer.from('[{"package":"a","deny":["4111-secret"]}]'),
}
const fail = (): never => {
  throw new Error('the evaluation failed')
}

test.each<[string, Partial<LogRules>]>([
  ['a mask that fails', { masksOf: fail }],
  ['a mask that is no set', { masksOf: () => 'true' }],
  ['a mask with one bad path', { masksOf: () => '["/input/card","/labels"]' }],
  ['a drop rule that fails', { isDropped: fail }],
])('with %s, the decision leaves without anything that may be secret', async (_, rules) => {
  const { made, counts } = await shaped(rules, SECRET)
  expect(made?.event).not.toContain('secret')
  expect(JSON.stringify(made?.decision)).not.toContain('secret')
  expect(JSON.parse(made?.event ?? '')).toMatchObject({ decision_id: 'd-1', erased: ['/input', '/result'] })
  expect(counts).toEqual({ dropped: 0, maskFailed: 1 })
})

test('a masked value is also hidden in the members that rules cannot name', async () => {
  const { made } = await shaped(
    { masksOf: () => '["/input/card","/input/application","/result","/nd_builtin_cache"]' },
    SECRET,
  )
  expect(made?.event).not.toContain('secret')
  expect(made?.decision.application).toBe('[masked]')
})

test('where a rule masks, the start of a value that was cut does not leave', async () => {
  const { writer, reader } = await openStore({ maxInputBytes: 20 })
  writer.insert(
    aBatch([anEntry({ input: Buffer.from(`{"card":"4111-secret","more":"${'x'.repeat(99)}"}`) })]),
  )
  const stored = await reader.get('d-1')
  const rules = { isDropped: () => false, masksOf: () => '["/input/card"]' }
  const made = stored && makeShapeDecision({}, () => rules, { dropped: 0, maskFailed: 0 })(stored)
  expect(made?.event).not.toContain('4111')
  expect(JSON.parse(made?.event ?? '')).toMatchObject({ erased: ['/input'] })
})

test('a dropped decision does not leave and is counted', async () => {
  const { made, counts } = await shaped({ isDropped: () => true }, SECRET)
  expect(made).toBeUndefined()
  expect(counts).toEqual({ dropped: 1, maskFailed: 0 })
})
