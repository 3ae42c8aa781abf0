import { describe, expect, it } from 'vitest'

import { graphqlBuiltins } from '../../../../src/rego/builtins/graphql/graphql.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'
import { readStoredOutcomes } from '../../../support/stored-outcomes.js'

const SCHEMA = 'type Query {a(x: Int): Int c: Query}'

describe('GraphQL', () => {
  it.each(readStoredOutcomes('graphql'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(graphqlBuiltins, builtin, args)).toBe(outcome)
  })
})

describe('a parsed query that is verified', () => {
  it.each([
    ['a field', '{a}', 'true'],
    ['a spread of a fragment', '{...F} fragment F on Query {a}', 'true'],
    ['an inline fragment', '{... on Query {a}}', 'true'],
    ['an inline fragment without a type', '{... @include(if: true) {a}}', 'true'],
    ['an unknown field', '{z}', 'false'],
    ['an unknown fragment', '{...F}', 'false'],
    ['a field without its subfields', '{c}', 'false'],
  ])('is validated like its text where OPA crashes: %s', (_, query, outcome) => {
    const tree = outcomeOf(graphqlBuiltins, 'graphql.parse_query', JSON.stringify([query]))
    const schema = JSON.stringify(SCHEMA)
    expect(outcomeOf(graphqlBuiltins, 'graphql.is_valid', JSON.stringify([query, SCHEMA]))).toBe(outcome)
    expect(outcomeOf(graphqlBuiltins, 'graphql.is_valid', `[${tree}, ${schema}]`)).toBe(outcome)
  })

  it('gets an error without a position', () => {
    const tree = '{"Operations": [{"Operation": "query", "SelectionSet": [{"Alias": "zzz", "Name": "zzz"}]}]}'
    expect(outcomeOf(graphqlBuiltins, 'graphql.parse', `[${tree}, ${JSON.stringify(SCHEMA)}]`)).toBe(
      'eval_builtin_error: Cannot query field "zzz" on type "Query" in GraphQL string',
    )
  })
})

describe('the cost of a GraphQL document', () => {
  const nested = (depth: number) => `${'{c'.repeat(depth)}${'}'.repeat(depth)}`
  const spreads = Array.from({ length: 60 }, (_, i) => `fragment F${i} on Query {...F${i + 1} ...F${i + 1}}`)
  const twofold = Array.from(
    { length: 40 },
    (_, i) => `fragment F${i} on Query {c{...F${i + 1}} c{...F${i + 1}}}`,
  )
  const last = (count: number) => `fragment F${count} on Query {a}`

  it.each([
    ['nesting', nested(5000), 'over budget: a GraphQL document is nested deeper than 200 levels'],
    ['tokens', `{${'a '.repeat(400_000)}}`, 'over budget: '],
    [
      'lists',
      `{a(x: ${'['.repeat(5000)}`,
      'over budget: a GraphQL document is nested deeper than 200 levels',
    ],
  ])('is bounded: %s', (_, query, problem) => {
    expect(outcomeOf(graphqlBuiltins, 'graphql.parse_query', JSON.stringify([query]))).toContain(problem)
  })

  it('is bounded by the number of compared pairs of fields', () => {
    const args = JSON.stringify([`{${'a '.repeat(4000)}}`, SCHEMA])
    expect(outcomeOf(graphqlBuiltins, 'graphql.parse', args)).toMatch(/^over budget: /)
  })

  it.each([
    ['one after another', [...spreads, last(60)]],
    ['below two fields of one name', [...twofold, last(40)]],
  ])('does not grow with the number of paths through fragments: %s', (_, fragments) => {
    const args = JSON.stringify([`{...F0} ${fragments.join(' ')}`, SCHEMA])
    expect(outcomeOf(graphqlBuiltins, 'graphql.is_valid', args)).toBe('true')
  })

  it('is bounded for a tree too', () => {
    const depth = 1100
    const tree = `{"Operations": ${'[{"SelectionSet": '.repeat(depth)}[]${'}]'.repeat(depth)}}`
    expect(outcomeOf(graphqlBuiltins, 'graphql.parse', `[${tree}, ""]`)).toBe(
      'over budget: a syntax tree is nested deeper than 1000 levels',
    )
  })
})
