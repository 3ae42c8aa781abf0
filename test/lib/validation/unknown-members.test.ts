import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { readBySchema } from '../../../src/lib/validation/read-by-schema.js'
import { unknownMembers } from '../../../src/canary/judge/unknown-keys.js'

const Schema = z.object({ critical: z.boolean().optional(), parts: z.array(z.object({ size: z.number() })) })
const Strict = z.strictObject({ critical: z.boolean().optional() })
const PLACE = { name: 'the document', code: 'invalid_field' }

function members(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`critica${index}`, 1]))
}

function messageOf(read: () => unknown): string {
  try {
    read()
    return ''
  } catch (error) {
    return String(error)
  }
}

describe('members that a schema ignores', () => {
  it('are reported with location and likely intended name', () => {
    const document = { criticl: true, parts: [{ size: 1, siz: 2 }], valueOf: 1 }
    expect(unknownMembers(Schema, document, {})).toMatchObject([
      { place: 'criticl', nearest: 'critical' },
      { place: 'parts[0].siz', nearest: undefined },
      { place: 'valueOf', nearest: undefined },
    ])
  })

  it('are compared with known names up to a number, however many there are', () => {
    const told = unknownMembers(Schema, { ...members(5000), parts: [] }, {})
    expect(told).toHaveLength(5000)
    expect(told.filter(({ nearest }) => nearest !== undefined)).toHaveLength(200)
  })
})

describe('what is refused', () => {
  it('names some of many unknown members and counts the others', () => {
    const message = messageOf(() => readBySchema(Strict, members(5000), PLACE))
    expect(message).toContain('critica0 is not known, did you mean critical?')
    expect(message).toContain('4980 more names are not known')
    expect(message.length).toBeLessThan(2000)
  })

  it('names some of many wrong values and counts the others', () => {
    const message = messageOf(() => readBySchema(z.array(z.string()), Array(3000).fill(1), PLACE))
    expect(message).toContain('[0] must be a text, not 1')
    expect(message).toContain('2950 more problems are not named')
    expect(message.length).toBeLessThan(4000)
  })

  it('shows the beginning of a long name', () => {
    const name = 'm'.repeat(500_000)
    expect(messageOf(() => readBySchema(Strict, { [name]: 1 }, PLACE)).length).toBeLessThan(400)
    const nested = z.object({ a: z.record(z.string(), z.string()) })
    expect(messageOf(() => readBySchema(nested, { a: { [name]: 1 } }, PLACE)).length).toBeLessThan(400)
  })
})
