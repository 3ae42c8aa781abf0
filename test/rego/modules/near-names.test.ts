import { expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { loadPolicies } from '../../support/load-policies.js'

const LIB = 'package lib.util\n\nimport rego.v1\n\nis_prod(x) if x.prod\n'
const HEAD =
  'package a\n\nimport rego.v1\n\nimport data.lib.util\n\nmax_wait := 3\n\nhelper(x) := x\n\nx := 1\n\n'

test.each([
  [
    'deny if util.is_prdo(input)',
    'undefined function data.lib.util.is_prdo, did you mean data.lib.util.is_prod?',
  ],
  ['deny if helpr(input)', 'undefined function helpr, did you mean helper?'],
  ['deny if uper(input.a) == "A"', 'undefined function uper, did you mean upper?'],
  ['deny if input.wait > max_wiat', 'var max_wiat is unsafe, did you mean max_wait?'],
  ['deny if input.wait > y', 'var y is unsafe'],
])('what is not there is told with what is near in %s', async (rule, message) => {
  const files = { 'lib.rego': LIB, 'a.rego': `${HEAD}${rule}\n` }
  const raw: unknown = await loadPolicies(files).catch((error: unknown) => error)
  expect(raw instanceof AppError ? raw.details.map((detail) => detail.message) : raw).toEqual([message])
})
