import { describe, expect, it } from 'vitest'

import { findMisnamedTests } from '../../../src/rego/lint/misnamed-tests.js'
import { outlineModule } from '../../../src/rego/modules/outline-module.js'

function told(rules: string, file = 'a_test.rego'): string[] {
  const module = outlineModule({ file, text: `package a_test\n\nimport rego.v1\n\n${rules}\n` })
  return findMisnamedTests(module === undefined ? [] : [module]).map(
    ({ code, message, location }) => `${location?.row}:${location?.col} ${code} ${message}`,
  )
}

describe('a rule of a test file', () => {
  it.each([
    ['tets_a', 'test_a'],
    ['Test_a', 'test_a'],
    ['testA', 'test_A'],
    ['tests_of_b', 'test_of_b'],
    ['tst_b', 'test_b'],
  ])('called %s is told, since it is never run', (name, meant) => {
    const message = `${name} is never run: the names of tests begin with test_; did you mean ${meant}?`
    expect(told(`${name} if data.a.deny`)).toEqual([`5:1 misnamed_test ${message}`])
  })

  it.each([
    'test_a if true',
    'todo_test_a if true',
    'rest_of_it := 1',
    'text_a := "a"',
    'deny_a if true',
    'testing_data := 1',
    'tets_a(x) := x + 1',
    'tets_a := 1\n\ntest_b if tets_a == 1',
  ])('is not told in %s', (rules) => {
    expect(told(rules)).toEqual([])
  })

  it('is not told where the file serves', () => {
    expect(told('tets_a if true', 'a.rego')).toEqual([])
  })
})
