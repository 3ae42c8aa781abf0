import { describe, expect, it } from 'vitest'

import { awsBuiltins } from '../../../src/rego/builtins/aws.js'
import { graphqlBuiltins } from '../../../src/rego/builtins/graphql/graphql.js'
import { jsonSchemaBuiltins } from '../../../src/rego/builtins/json-schema/json-schema.js'
import { largeFamilies } from '../../../src/rego/builtins/index.js'
import { renderTemplateBuiltins } from '../../../src/rego/builtins/render-template/render-template.js'
import { x509Builtins } from '../../../src/rego/builtins/x509/x509.js'
import { generousMeter } from '../../support/generous-meter.js'

const CONTEXT = { nowNs: 0n, memo: new Map(), meter: generousMeter() }

describe('large families of built-ins', () => {
  it('are named as they are defined', () => {
    const defined = [awsBuiltins, graphqlBuiltins, jsonSchemaBuiltins, renderTemplateBuiltins, x509Builtins]
    expect(Object.keys(largeFamilies.table).sort()).toEqual(defined.flatMap(Object.keys).sort())
  })

  it('are loaded separately', async () => {
    const { table, prepare } = largeFamilies
    await prepare(['json.verify_schema', 'concat'])
    expect(table['json.verify_schema']?.(['{}'], CONTEXT)).toEqual([true, null])
    expect(() => table['crypto.x509.parse_certificates']?.([''], CONTEXT)).toThrow('before it was loaded')
  })
})
