import { describe, expect, test } from 'vitest'

import { fillSearchQuery } from '../../../../src/analysis/sources/templates/fill-search-query.js'
import { problemsOf } from '../../../support/problems-of.js'

describe('a value of the scope in the syntax of query_string', () => {
  const cases: readonly { name: string; template: string; value: string; filled: string }[] = [
    { name: 'is a word', template: 'pod:${x} AND a:b', value: 'web', filled: 'pod:web AND a:b' },
    {
      name: 'is never an operator',
      template: 'pod:${x}',
      value: '* OR (a:b)',
      filled: String.raw`pod:\*\ OR\ \(a\:b\)`,
    },
    { name: 'is never a connective', template: 'a ${x} b', value: 'OR', filled: String.raw`a \OR b` },
    {
      name: 'is never a regular expression',
      template: 'pod:${x}',
      value: '/.*/',
      filled: String.raw`pod:\/.\*\/`,
    },
    {
      name: 'stays in its phrase',
      template: '"a ${x}" b',
      value: '" OR *',
      filled: String.raw`"a \" OR *" b`,
    },
    {
      name: 'stays in its phrase after a backslash',
      template: '"${x}" b',
      value: 'c\\',
      filled: String.raw`"c\\" b`,
    },
    {
      name: 'stands beside wildcards of the template',
      template: 'pod:${x}-*',
      value: 'a*',
      filled: String.raw`pod:a\*-*`,
    },
  ]
  test.each(cases)('$name', ({ template, value, filled }) => {
    expect(fillSearchQuery(template, { x: value })).toEqual({ query_string: { query: filled } })
  })

  const refused: readonly { name: string; template: string; value: string; problem: string }[] = [
    { name: 'with a sign that has no escape', template: 'age:${x}', value: '>1', problem: 'between quotes' },
    { name: 'in a regular expression', template: 'a:/${x}.*/', value: '.*', problem: 'letters' },
    { name: 'in a phrase that does not end', template: 'a:"${x}', value: 'b', problem: 'does not end' },
    { name: 'after a backslash', template: 'a:\\${x}', value: 'b', problem: 'cannot follow a backslash' },
  ]
  test.each(refused)('is refused $name', ({ template, value, problem }) => {
    expect(problemsOf(() => fillSearchQuery(template, { x: value }))).toEqual([
      expect.stringContaining(problem),
    ])
  })
})

describe('a query for Elasticsearch', () => {
  const fill = (query: unknown, x: string): unknown => fillSearchQuery(JSON.stringify(query), { x })

  test('is a query_string when it does not start with a brace', () => {
    expect(fillSearchQuery('pod:${x}', { x: 'a b' })).toEqual({ query_string: { query: 'pod:a\\ b' } })
  })

  const cases: readonly { name: string; template: unknown; filled: unknown }[] = [
    { name: 'a term', template: { term: { pod: '${x}' } }, filled: { term: { pod: 'a*"b.' } } },
    {
      name: 'a term with a value member',
      template: { term: { pod: { value: '${x}' } } },
      filled: { term: { pod: { value: 'a*"b.' } } },
    },
    {
      name: 'a regular expression',
      template: { regexp: { pod: { value: '${x}.*', flags: 'ALL' } } },
      filled: { regexp: { pod: { value: 'a\\*\\"b\\..*', flags: 'ALL' } } },
    },
    {
      name: 'a wildcard',
      template: { wildcard: { pod: '*${x}*' } },
      filled: { wildcard: { pod: '*a\\*"b.*' } },
    },
    {
      name: 'a query_string inside a bool',
      template: { bool: { must: [{ query_string: { query: 'pod:${x}', default_operator: 'AND' } }] } },
      filled: { bool: { must: [{ query_string: { query: 'pod:a\\*\\"b.', default_operator: 'AND' } }] } },
    },
    {
      name: 'what is no text',
      template: { exists: { boost: 2, a: null } },
      filled: { exists: { boost: 2, a: null } },
    },
  ]
  test.each(cases)('has the value escaped for $name', ({ template, filled }) => {
    expect(fill(template, 'a*"b.')).toEqual(filled)
  })

  test('cannot have a member added by a value', () => {
    expect(fill({ term: { pod: '${x}' } }, '"}},{"match_all":{')).toEqual({
      term: { pod: '"}},{"match_all":{' },
    })
  })

  test('takes a field from the scope only when it is a name', () => {
    expect(fill({ term: { '${x}': 'a' } }, 'kubernetes.pod_name')).toEqual({
      term: { 'kubernetes.pod_name': 'a' },
    })
    expect(problemsOf(() => fill({ term: { '${x}': 'a' } }, 'a b'))).toEqual([
      expect.stringContaining('the name of a field'),
    ])
  })

  test('lets no value into a script', () => {
    expect(problemsOf(() => fill({ script: { script: { source: '${x}' } } }, 'true'))).toEqual([
      expect.stringContaining('fixed text of the template'),
    ])
  })

  test('that is half JSON is refused', () => {
    expect(problemsOf(() => fillSearchQuery('{"term": ', {}))).toEqual([
      expect.stringContaining('it starts like JSON but is not'),
    ])
  })
})
