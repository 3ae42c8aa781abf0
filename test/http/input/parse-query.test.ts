import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { AppError } from '../../../src/errors/app-error.js'
import { parseQuery } from '../../../src/http/input/parse-query.js'

const Query = z.strictObject({
  application: z.string(),
  outcome: z.enum(['allow', 'deny']).optional(),
  limit: z.coerce.number().int().min(1).max(500).optional(),
  from: z.iso.datetime().optional(),
  name: z.string().min(2).max(4).optional(),
  to: z
    .string()
    .refine((text) => text !== 'never', 'must come some time')
    .optional(),
})

function problemsOf(raw: Record<string, string>): AppError {
  try {
    parseQuery(Query, raw)
  } catch (error) {
    return error as AppError
  }
  throw new Error('the query was taken')
}

describe('reading a query', () => {
  it('gives the values as the schema reads them', () => {
    expect(parseQuery(Query, { application: 'shop', limit: '20' })).toEqual({
      application: 'shop',
      limit: 20,
    })
  })

  it.each([
    [{}, 'application is required'],
    [{ outcome: 'maybe' }, 'outcome must be allow or deny, not "maybe"'],
    [{ limit: 'many' }, 'limit must be a number'],
    [{ limit: '0' }, 'limit must be at least 1'],
    [{ limit: '501' }, 'limit must be at most 500'],
    [{ limit: '1.5' }, 'limit must be a whole number, not 1.5'],
    [{ from: 'noon' }, 'from must be an ISO 8601 time such as 2026-01-31T12:00:00Z'],
    [{ name: 'a' }, 'name must have at least 2 characters'],
    [{ to: 'never' }, 'to must come some time'],
    [{ outcom: 'allow' }, 'outcom is not known, did you mean outcome?'],
    [{ zzzzzzzz: '1' }, 'zzzzzzzz is not known: known are application, outcome, limit, from, name, to'],
  ])('says of %j that %s', (raw, sentence) => {
    expect(problemsOf(raw).details.map(({ message }) => message)).toContain(sentence)
  })

  it('names all problems at once, in the message too', () => {
    const { kind, code, message, details } = problemsOf({ outcome: 'maybe', limit: '0' })
    expect({ kind, code }).toEqual({ kind: 'invalid', code: 'invalid_parameter' })
    expect(details.map((detail) => detail.code)).toEqual([
      'missing_field',
      'invalid_parameter',
      'invalid_parameter',
    ])
    expect(message).toBe(
      'the query is not valid: application is required; outcome must be allow or deny, not "maybe"; limit must be at least 1',
    )
  })

  it('has a code of its own where things are only missing', () => {
    expect(problemsOf({}).code).toBe('missing_fields')
  })
})
