import { describe, expect, it } from 'vitest'
import { cryptoBuiltins } from '../../../src/rego/builtins/crypto.js'
import { outcomeOf } from '../../support/builtin-outcome.js'
import type { OutcomeCase } from '../../support/builtin-outcome.js'

/** Outcomes of OPA 0.70. */
const cases: readonly OutcomeCase[] = [
  ['crypto.md5', '[""]', '"d41d8cd98f00b204e9800998ecf8427e"'],
  ['crypto.md5', '["lorem ipsum"]', '"80a751fde577028640c419000e33eba6"'],
  ['crypto.sha1', '["lorem ipsum"]', '"bfb7759a67daeb65410490b4d98bb9da7d1ea2ce"'],
  ['crypto.sha256', '["åäöçß🥲"]', '"ac4a6c085c815ad5b4695dc37fed3d23828a9e3a369d4a2dde7fd18c91e2498d"'],
  ['crypto.md5', '[1]', 'eval_type_error: operand 1 must be string but got number'],
  ['crypto.sha1', '[null]', 'eval_type_error: operand 1 must be string but got null'],
  ['crypto.sha256', '[["a"]]', 'eval_type_error: operand 1 must be string but got array'],
  ['crypto.hmac.md5', '["message","key"]', '"4e4748e62b463521f6775fbf921234b5"'],
  ['crypto.hmac.sha1', '["åäöçß🥲♙Ω","秘密の"]', '"81759c39013935fcf0de833d44c8018d7c1455dd"'],
  [
    'crypto.hmac.sha256',
    '["message",""]',
    '"eb08c1f56d5ddee07f7bdf80468083da06b64cf4fac64fe3a90883df5feacae4"',
  ],
  [
    'crypto.hmac.sha512',
    '["","key"]',
    '"84fa5aa0279bbc473267d05a53ea03310a987cecc4c1535ff29b6d76b8f1444a728df3aadb89d4a9a6709e1998f373566e8f824a8ca93b1821f0b69bc2a2f65e"',
  ],
  ['crypto.hmac.sha512', '[1,"key"]', 'eval_type_error: operand 1 must be string but got number'],
  ['crypto.hmac.md5', '["a",{}]', 'eval_type_error: operand 2 must be string but got object'],
  ['crypto.hmac.equal', '["a","a"]', 'true'],
  ['crypto.hmac.equal', '["a","b"]', 'false'],
  ['crypto.hmac.equal', '["","a"]', 'false'],
  ['crypto.hmac.equal', '["a",1]', 'eval_type_error: operand 2 must be string but got number'],
  ['crypto.hmac.equal', '[1,"a"]', 'eval_type_error: operand 1 must be string but got number'],
]

describe('digests and message authentication codes', () => {
  it.each(cases)('%s of %s gives %s', (builtin, args, outcome) => {
    expect(outcomeOf(cryptoBuiltins, builtin, args)).toBe(outcome)
  })
})
