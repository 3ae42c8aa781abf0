import { describe, expect, it } from 'vitest'

import { definitionDigest } from '../../../src/events/registry/definition-digest.js'
import { mergeDefinition } from '../../../src/events/registry/registry-operations.js'
import type { DefinitionState } from '../../../src/events/registry/registry-operations.js'

function permutations<T>(values: readonly T[]): T[][] {
  if (values.length <= 1) return [[...values]]
  return values.flatMap((first, index) =>
    permutations(values.filter((_, other) => other !== index)).map((rest) => [first, ...rest]),
  )
}

const upsert = (changedAt: number, version: string): DefinitionState => ({
  changedAt,
  definition: { version },
})
const deletion = (changedAt: number): DefinitionState => ({ changedAt, definition: undefined })

describe('news of a definition', () => {
  it.each<readonly [string, readonly DefinitionState[]]>([
    ['updates', [upsert(1, 'a'), upsert(2, 'b'), upsert(3, 'c')]],
    ['a deletion at the end', [upsert(1, 'a'), upsert(2, 'b'), deletion(3)]],
    ['a deletion and a new start', [upsert(1, 'a'), deletion(2), upsert(3, 'c')]],
    ['everything at once', [upsert(1, 'a'), upsert(1, 'b'), upsert(1, 'c')]],
    ['a deletion at the same time', [upsert(1, 'a'), deletion(1), upsert(1, 'c')]],
    ['repeats', [upsert(1, 'a'), upsert(2, 'b'), upsert(1, 'a'), upsert(2, 'b')]],
  ])('comes to the same end in any order: %s', (_, news) => {
    const ends = permutations(news).map((order) =>
      order.reduce<DefinitionState | undefined>((known, next) => mergeDefinition(known, next), undefined),
    )
    expect(new Set(ends.map((end) => JSON.stringify(end))).size).toBe(1)
    expect(ends[0]?.changedAt).toBe(Math.max(...news.map(({ changedAt }) => changedAt)))
  })

  it('that is old leaves the very state that was known', () => {
    const known = deletion(5)
    expect(mergeDefinition(known, upsert(4, 'a'))).toBe(known)
    expect(mergeDefinition(known, upsert(6, 'a'))).toEqual(upsert(6, 'a'))
  })
})

describe('the digest of a definition', () => {
  const sent = { name: 'p', stages: [{ refId: '1', type: 'wait' }], lastModified: 1, description: null }

  it('is that of the same definition as it is listed', () => {
    const listed = {
      schema: '1',
      id: '7c1e',
      updateTs: '5',
      lastModified: 5,
      lastModifiedBy: 'ana',
      stages: [{ type: 'wait', refId: '1' }],
      name: 'p',
    }
    expect(definitionDigest(listed)).toBe(definitionDigest(sent))
  })

  it('is another one for any other difference', () => {
    const others = [
      { ...sent, name: 'q' },
      { ...sent, index: 0 },
      { ...sent, schema: 'v2' },
      { ...sent, stages: [{ refId: '1', type: 'wait', id: 'x' }] },
    ]
    expect(new Set([sent, ...others].map(definitionDigest)).size).toBe(5)
  })
})
