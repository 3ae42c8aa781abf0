import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { AppError } from '../../src/errors/app-error.js'
import { readEvent } from '../../src/events/read-event.js'
import { parseDataQuery } from '../../src/http/policy/data-query.js'
import { readPathNumber } from '../../src/http/input/path-parameter.js'
import { parseRequestTarget } from '../../src/http/exchange/exchange.js'
import { canonicalJson } from '../../src/lib/json/edit/canonical.js'
import { locateValue } from '../../src/lib/json/scan/locate-value.js'
import { readMembers } from '../../src/lib/json/scan/read-members.js'
import { redactSecrets } from '../../src/lib/redaction/redact.js'
import { mutate, seededRandom } from '../support/random-bytes.js'

const RUNS = { numRuns: 500 }
const SEEDS = fc.integer({ min: 0, max: 2 ** 31 })
const NAMES = fc.oneof(
  fc.string(),
  fc.constantFrom('password', 'details', 'content', 'eventId', 'name', '__proto__'),
)
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5 },
    fc.constant(null),
    fc.double(),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('{"token":"a b"}', 'Bearer abc.def', 'password=x', '[[', '\ud800'),
    fc.array(tie('json')),
    fc.dictionary(NAMES, tie('json')),
  ),
}))
const TEXTS = json.map((value) => JSON.stringify(value))
/** JSON and damaged JSON. */
const BODIES = fc.oneof(
  TEXTS.map((text) => Buffer.from(text)),
  fc.tuple(TEXTS, SEEDS).map(([text, seed]) => mutate(Buffer.from(text), seededRandom(seed))),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
)

/** Returns the result of a reader, or the AppError that it throws; anything else is a defect. */
function outcomeOf<T>(read: () => T): T | AppError {
  try {
    return read()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

describe('JSON at the edge', () => {
  it('is taken by the scanner where the engine takes it, and only there', () => {
    fc.assert(
      fc.property(BODIES, (bytes) => {
        const isTaken = !(outcomeOf(() => locateValue(bytes)) instanceof AppError)
        expect(isTaken).toBe(parsed(bytes.toString()) !== undefined)
      }),
      RUNS,
    )
  })

  it('means the same in its canonical form, which is its own canonical form', () => {
    fc.assert(
      fc.property(TEXTS, (text) => {
        const bytes = Buffer.from(text)
        const canonical = canonicalJson(bytes, 0, bytes.length)
        // A lone surrogate cannot be written, in Go either.
        expect(parsed(canonical.toString())).toEqual(parsed(text.replaceAll('\\ud800', '\\ufffd')))
        expect(canonicalJson(canonical, 0, canonical.length).toString()).toBe(canonical.toString())
      }),
      RUNS,
    )
  })

  it('has the members that the engine finds', () => {
    fc.assert(
      fc.property(fc.dictionary(NAMES, json), (object) => {
        const text = JSON.stringify(object)
        const members = readMembers(Buffer.from(text)) ?? new Map<string, never>()
        const found = [...members].map(([name, { start, end }]) => [
          name,
          parsed(Buffer.from(text).toString('utf8', start, end))?.value,
        ])
        expect(Object.fromEntries(found)).toEqual(parsed(text)?.value)
      }),
      RUNS,
    )
  })

  it('is JSON still when its secrets are gone, or refused', () => {
    fc.assert(
      fc.property(BODIES, (bytes) => {
        const redacted = outcomeOf(() => redactSecrets(bytes).text.toString())
        if (parsed(bytes.toString()) === undefined) return
        expect(typeof redacted === 'string' && parsed(redacted) !== undefined).toBe(true)
      }),
      RUNS,
    )
  })

  it('is an event or an error of ours', () => {
    fc.assert(
      fc.property(BODIES, fc.constantFrom('echo' as const, 'audit' as const), (bytes, endpoint) => {
        const read = outcomeOf(() => readEvent(bytes, endpoint, 0))
        if (read instanceof AppError) expect(read.kind).toBe('invalid')
        else expect(Number.isSafeInteger(Math.trunc(read.occurredAt))).toBe(true)
      }),
      RUNS,
    )
  })
})

describe('the target of a request', () => {
  it('names a path without empty segments, and a query as it was sent', () => {
    const target = fc.array(fc.constantFrom('/', '//', 'a', '?', '%2F', '.', '&'), { maxLength: 20 })
    fc.assert(
      fc.property(target, (parts) => {
        const url = `/${parts.join('')}`
        const { path, query } = parseRequestTarget(url)
        expect(path).toMatch(/^(?:\/|(?:\/[^/?]+)+)$/)
        expect(query).toBe(url.includes('?') ? url.slice(url.indexOf('?') + 1) : undefined)
        expect(parseRequestTarget(path)).toEqual({ path, query: undefined })
      }),
      RUNS,
    )
  })

  it('has a query that is always read as something', () => {
    fc.assert(
      fc.property(fc.webQueryParameters(), fc.string(), (query, more) => {
        const read = parseDataQuery(new URLSearchParams(`${query}&${more}&input=7`))
        expect(read.input).toBe('7')
        expect(typeof read.pretty).toBe('boolean')
      }),
      RUNS,
    )
  })

  it('has numbers in its path that are whole, positive and the ones that were written, or none', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer().map(String), fc.double().map(String)), (text) => {
        const number = readPathNumber(text)
        if (number === undefined) return
        expect(Number.isSafeInteger(number) && number > 0).toBe(true)
        expect(text.replace(/^0+/, '')).toBe(String(number))
      }),
      RUNS,
    )
  })
})
