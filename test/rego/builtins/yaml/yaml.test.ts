import { describe, expect, it } from 'vitest'
import { yamlBuiltins } from '../../../../src/rego/builtins/yaml/yaml.js'
import { builtinCases } from '../../../support/builtin-cases.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'

describe('YAML', () => {
  it.each(builtinCases('yaml'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(yamlBuiltins, builtin, args)).toBe(outcome)
  })

  it('refuses aliases that expand to too many nodes', () => {
    const lines = Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`)
    const args = JSON.stringify([['a0: &a0 x', ...lines].join('\n')])
    expect(outcomeOf(yamlBuiltins, 'yaml.unmarshal', args)).toBe(
      'eval_builtin_error: yaml: document contains excessive aliasing',
    )
  })

  it.each(['[', '{a: ', '- ', '? '])(
    'ends the evaluation over a document nested without end: %s',
    (level) => {
      const args = JSON.stringify([level.repeat(100_000)])
      expect(outcomeOf(yamlBuiltins, 'yaml.is_valid', args)).toMatch(/^over budget: /)
      expect(outcomeOf(yamlBuiltins, 'yaml.unmarshal', args)).toMatch(/^over budget: /)
    },
  )
})
