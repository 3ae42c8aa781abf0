import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'

import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { readJsonBody, readJsonBytes } from '../../../src/http/input/read-json-body.js'
import { FakeExchange } from '../../support/fake-exchange.js'

const LIMIT = 2000
const JSON_HEADERS = { 'content-type': 'application/json' }
const Body = z.object({
  name: z.string(),
  count: z.number(),
  tags: z.array(z.string()).optional(),
  owner: z.strictObject({ name: z.string() }).optional(),
})

function posted(body: string | Uint8Array, headers: Record<string, string> = JSON_HEADERS): FakeExchange {
  return new FakeExchange({ body, headers })
}

describe('reading a JSON body', () => {
  it('gives the values as the schema reads them', async () => {
    expect(await readJsonBody(posted('{"name":"a","count":1,"more":true}'), Body, LIMIT)).toEqual({
      name: 'a',
      count: 1,
    })
  })

  it('reads what is packed, and what is written in ISO-8859-1', async () => {
    const text = Buffer.from('{"name":"Jürgen","count":1}', 'latin1')
    const packed = posted(gzipSync(text), { ...JSON_HEADERS, 'content-encoding': 'gzip' })
    expect(await readJsonBody(packed, Body, LIMIT)).toMatchObject({ name: 'Jürgen' })
  })

  it('reads text whatever its encoding is called, as OPA does', async () => {
    const text = '\r\n{\t"name":"a","count":1}'
    expect(
      await readJsonBody(posted(text, { ...JSON_HEADERS, 'content-encoding': 'br' }), Body, LIMIT),
    ).toMatchObject({ name: 'a' })
  })

  it('reads escapes that stand for no character as U+FFFD: nothing behind it could write them', async () => {
    const halves = posted('{"name":"a\\ud800b \\ud83d\\ude00","count":1}')
    expect(await readJsonBody(halves, Body, LIMIT)).toMatchObject({ name: 'a\ufffdb \u{1f600}' })
  })

  it('parses no more than is soon parsed, however much may be sent', async () => {
    const long = posted(JSON.stringify({ name: 'x'.repeat(1_100_000), count: 1 }))
    await expect(readJsonBody(long, Body, 10_000_000)).rejects.toMatchObject({
      kind: 'too_large',
      message: 'the body exceeds 1048576 bytes',
    })
    const wide = posted(
      JSON.stringify({ name: 'a', count: 1, more: Array.from({ length: 20_000 }, () => 1) }),
    )
    await expect(readJsonBody(wide, Body, 10_000_000)).rejects.toMatchObject({
      kind: 'invalid',
      message: 'the body contains more than 20000 values',
    })
  })

  it.each([
    [{}, 'missing_fields', ['name is required', 'count is required']],
    [
      { name: 1, tags: ['a', 2], owner: { nam: 'b' } },
      'invalid_parameter',
      [
        'name must be a text, not 1',
        'count is required',
        'tags[1] must be a text, not 2',
        'owner.name is required',
        'owner: nam is not known, did you mean name?',
      ],
    ],
    [[], 'invalid_parameter', ['the body must be an object, not an array']],
    [null, 'invalid_parameter', ['the body must be an object, not null']],
  ])('names all that is wrong with %j', async (body, code, sentences) => {
    const error = await readJsonBody(posted(JSON.stringify(body)), Body, LIMIT).catch((raw: unknown) => raw)
    expect(error).toMatchObject({
      kind: 'invalid',
      code,
      details: sentences.map((message) => ({ message })),
      message: `the body is not valid: ${sentences.join('; ')}`,
    })
  })

  it.each([
    ['{"a":', JSON_HEADERS, 'invalid', /^the body is not valid JSON: unexpected EOF/],
    ['{"a":1} x', JSON_HEADERS, 'invalid', /invalid character 'x' after top-level value/],
    ['  ', JSON_HEADERS, 'invalid', /it is empty/],
    [`${'['.repeat(1001)}${']'.repeat(1001)}`.slice(0, 1999), JSON_HEADERS, 'invalid', /exceeded max depth/],
    [
      '{}',
      { 'content-type': 'text/plain' },
      'unsupported_media_type',
      /Content-Type must be application\/json/,
    ],
    ['{}', {}, 'unsupported_media_type', /it is missing/],
    [' '.repeat(LIMIT + 1), JSON_HEADERS, 'too_large', /exceeds 2000 bytes/],
    [
      gzipSync(' '.repeat(LIMIT + 1)),
      { ...JSON_HEADERS, 'content-encoding': 'gzip' },
      'too_large',
      /exceeds/,
    ],
    ['{}', { ...JSON_HEADERS, 'content-encoding': 'gzip' }, 'invalid', /not gzip/],
    [brotliCompressSync('{}'), { ...JSON_HEADERS, 'content-encoding': 'br' }, 'invalid', /use gzip or none/],
    [deflateSync('{}'), { ...JSON_HEADERS, 'content-encoding': 'Deflate' }, 'invalid', /use gzip or none/],
  ])('refuses %s with %j', async (body, headers, kind, message) => {
    await expect(readJsonBytes(posted(body, headers), LIMIT)).rejects.toMatchObject({
      kind,
      message: expect.stringMatching(message) as string,
    })
  })
})
