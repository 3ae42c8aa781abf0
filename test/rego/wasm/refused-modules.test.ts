import { expect, test } from 'vitest'

import { loadPolicies } from '../../support/load-policies.js'

test('a reference with variables for which OPA generates invalid code is named', async () => {
  const files = {
    'f.rego': 'package static.f\nimport rego.v1\ndeny(x) := "no" if x == 1\n',
    'main.rego': 'package main\nimport rego.v1\nfound contains m if { some p, q; data.static[p][q][m] }\n',
  }
  await expect(loadPolicies(files)).rejects.toMatchObject({
    kind: 'invalid',
    message: expect.stringMatching(
      /data\.main\.found has a reference with a variable .* that can reach a function/,
    ) as string,
  })
})
