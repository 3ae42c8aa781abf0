import { expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { ProblemCollector } from '../../../src/lib/validation/problem-collector.js'

const refuse =
  (message: string, ...problems: string[]) =>
  (): never => {
    throw new AppError('invalid', message, {
      details: problems.map((problem) => ({ code: 'invalid_field', message: problem })),
    })
  }

test('returns the results and throws nothing if all readings succeed', () => {
  const problems = new ProblemCollector()
  expect(problems.attempt(() => 5)).toBe(5)
  expect(() => problems.raise()).not.toThrow()
})

test('raises the problems of all readings, each once', () => {
  const problems = new ProblemCollector()
  problems.attempt(refuse('first', 'a', 'b'))
  problems.attempt(refuse('second', 'b'))
  problems.attempt(refuse('third'))
  expect(() => problems.raise()).toThrow(
    expect.objectContaining({
      kind: 'invalid',
      message: 'first; and second; and third',
      details: ['a', 'b', 'third'].map((message) => expect.objectContaining({ message }) as unknown),
    }),
  )
})

test('rethrows errors that are not problems of the document', () => {
  const fault = (): never => {
    throw new TypeError('a fault')
  }
  expect(() => new ProblemCollector().attempt(fault)).toThrow(TypeError)
})
