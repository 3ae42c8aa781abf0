import { describe, expect, it, vi } from 'vitest'

import { awsBuiltins } from '../../../src/rego/builtins/aws.js'
import { graphqlBuiltins } from '../../../src/rego/builtins/graphql/graphql.js'
import { jsonSchemaBuiltins } from '../../../src/rego/builtins/json-schema/json-schema.js'
import { largeFamilies, makeLazyFamily } from '../../../src/rego/builtins/index.js'
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

describe('built-ins that are loaded when they are needed', () => {
  it('are loaded once, and only for policies that call one of them', async () => {
    const load = vi.fn(() => Promise.resolve({ 'family.one': () => 'one' }))
    const { table, prepare } = makeLazyFamily(['family.one'], load)
    await prepare(['other.one', 'concat'])
    expect(load).not.toHaveBeenCalled()
    await Promise.all([prepare(['family.one']), prepare(['concat', 'family.one'])])
    expect(load).toHaveBeenCalledTimes(1)
    expect(table['family.one']?.([], CONTEXT)).toBe('one')
  })

  it('throw if they are called before', () => {
    const { table } = makeLazyFamily(['family.one'], () => Promise.resolve({}))
    expect(() => table['family.one']?.([], CONTEXT)).toThrow('family.one is called before it was loaded')
  })
})
