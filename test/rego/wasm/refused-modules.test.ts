import { expect, test } from 'vitest'

import { loadPolicies } from '../../support/load-policies.js'

test('a reference with variables that leads to a function is named where OPA compiles it to code that is not valid', async () => {
  const files = {
    'f.rego': 'package static.f\nimport rego.v1\ndeny(x) := "no" if x == 1\n',
    'main.rego': 'package main\nimport rego.v1\nfound contains m if { some p, q; data.static[p][q][m] }\n',
  }
  await expect(loadPolicies(files)).rejects.toMatchObject({
    kind: 'invalid',
    message: expect.stringMatching(
      /data\.main\.found refers by a variable .* to what may be a function/,
    ) as string,
  })
})
