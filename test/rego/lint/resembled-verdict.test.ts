import { expect, test } from 'vitest'

import { resembledVerdict } from '../../../src/rego/lint/describe-module.js'

test.each([
  [
    'deny',
    ['dney', 'deyn', 'dey', 'denyy', 'Deny', 'deny2', 'deny_', 'denied', 'denials', 'reject', 'dis_allow'],
  ],
  ['allow', ['alow', 'allwo', 'alllow', 'al_low', 'allOw', 'allowed', 'permitted']],
  ['violation', ['voilation', 'violatoin', 'vilation', 'violations', 'violates']],
])('%s is what was meant by %j', (verdict, names) => {
  for (const name of names) expect([name, resembledVerdict(name)]).toEqual([name, verdict])
})

test.each([
  ['verdicts themselves', ['deny', 'allow', 'violation']],
  ['names of two words that run together into a near one', ['all_of', 'allOf', 'all_on', 'de_dy']],
  [
    'words of their own',
    ['alloc', 'isolation', 'defy', 'den', 'dent', 'validation', 'variation', 'all', 'any', 'env'],
  ],
  [
    'what begins or ends with a verdict',
    ['deny_reason', 'allow_list', 'is_allowed', 'not_denied', 'violation_text'],
  ],
])('%s resemble none', (_, names) => {
  for (const name of names) expect([name, resembledVerdict(name)]).toEqual([name, undefined])
})
