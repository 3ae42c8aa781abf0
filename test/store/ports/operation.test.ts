import { describe, expect, it } from 'vitest'

import { operationRegistry } from '../../../src/store/ports/operation.js'

const operation = (name: string) => ({ name, apply: () => Promise.resolve(name) })

describe('the registry of operations', () => {
  it('finds an operation by its name', () => {
    const find = operationRegistry([operation('gates.trigger'), operation('gates.review')])
    expect(find('gates.review').name).toBe('gates.review')
  })

  it('refuses one that its feature forgot to list', () => {
    expect(() => operationRegistry([operation('gates.trigger')])('gates.review')).toThrow(
      'the store has no operation gates.review: list it in its feature',
    )
  })

  it('refuses two of one name', () => {
    expect(() => operationRegistry([operation('gates.trigger'), operation('gates.trigger')])).toThrow(
      'two operations of the store are named gates.trigger',
    )
  })
})
