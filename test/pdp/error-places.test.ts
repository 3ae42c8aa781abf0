import { expect, test } from 'vitest'

import { AppError } from '../../src/errors/app-error.js'
import { evaluateDocument, planDocument } from '../../src/pdp/evaluation/evaluate-document.js'
import { newCall } from '../../src/pdp/evaluation/new-call.js'
import { loadPolicies } from '../support/load-policies.js'

test('the place of a failed evaluation is told below the directory of the policies, not where that stands', async () => {
  const snapshot = await loadPolicies({
    'team/conflict.rego': 'package p\n\nx = input.a\nx = input.b\n',
    'team/call.rego': 'package q\n\ny = yaml.unmarshal(input.text)\n',
  })
  const place = (path: readonly string[], strictBuiltinErrors: boolean): unknown => {
    try {
      const input = Buffer.from('{"a": 1, "b": 2, "text": "["}')
      return evaluateDocument(planDocument(snapshot, path), input, newCall({ strictBuiltinErrors }))
    } catch (raw) {
      return raw instanceof AppError ? raw.details[0]?.location?.file : raw
    }
  }
  expect(place(['p', 'x'], false)).toBe('team/conflict.rego')
  expect(place(['q', 'y'], true)).toBe('team/call.rego')
})
