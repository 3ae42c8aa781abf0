import { expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { loadPolicies } from '../../support/load-policies.js'

const POLICY = [
  'package p',
  '',
  'import rego.v1',
  '',
  'user := $"{input.name} is {input.age}, not {input.absent}"',
  'set_text := $"of {{x | some x in input.list}}"',
  'object_text := $"has {input.object}"',
  'raw := $`\\n {input.name}`',
].join('\n')

test('strings are made of values, whichever compiler there is', async () => {
  const snapshot = await loadPolicies({ 'p.rego': POLICY })
  const input = '{"name":"ann","age":4.5,"list":["b","a",1],"object":{"b":[null],"a":"x"}}'
  const ask = (rule: string): string | undefined =>
    evaluateDocument(planDocument(snapshot, ['p', rule]), Buffer.from(input), newCall())
  expect(ask('user')).toBe('"ann is 4.5, not \\u003cundefined\\u003e"')
  expect(ask('set_text')).toBe(JSON.stringify('of {1, "a", "b"}'))
  expect(ask('object_text')).toBe(JSON.stringify('has {"a": "x", "b": [null]}'))
  expect(ask('raw')).toBe(JSON.stringify('\\n ann'))
})
