import { describe, expect, it } from 'vitest'
import { graphBuiltins } from '../../../src/rego/builtins/graph.js'
import { builtinCases } from '../../support/builtin-cases.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe('paths through a graph', () => {
  it.each(builtinCases('graph'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(graphBuiltins, builtin, args)).toBe(outcome)
  })

  it('accepts sets of vertices, and vertices of any type', () => {
    const args = '[{"a": {1, [2]}, 1.0: {"b"}, [2]: set(), "b": []}, {"a"}]'
    expect(outcomeOf(graphBuiltins, 'graph.reachable_paths', args)).toBe('{["a",1,"b"],["a",[2]]}')
  })

  it('follows a chain of many thousand vertices', () => {
    const chain = Array.from({ length: 20_000 }, (_, i) => `${i}: [${i + 1}]`)
    const paths = outcomeOf(graphBuiltins, 'graph.reachable_paths', `[{${chain.join(', ')}}, [0]]`)
    expect(paths.endsWith(',19998,19999]}')).toBe(true)
  })

  it('ends the evaluation over an answer with millions of vertices', () => {
    const leaves = Array.from({ length: 20_000 }, (_, i) => `"leaf ${i}"`)
    const chain = Array.from({ length: 1000 }, (_, i) => `${i}: [${i + 1}]`)
    const graph = `{${chain.join(', ')}, 1000: [${leaves.join(', ')}]}`
    expect(outcomeOf(graphBuiltins, 'graph.reachable_paths', `[${graph}, [0]]`)).toMatch(/^over budget: /)
  })
})
