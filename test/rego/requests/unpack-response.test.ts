import { gzipSync } from 'node:zlib'

import { describe, expect, test } from 'vitest'

import { requestsGzip, unpackResponse } from '../../../src/rego/requests/send-request.js'

const DOCUMENT = Buffer.from('{"owner":"ana"}')
const packed = (body: Buffer, encoding = 'gzip') => ({
  status: 200,
  reason: 'OK',
  headers: { 'content-encoding': [encoding], 'content-length': ['35'], 'content-type': ['application/json'] },
  body,
})

describe('an answer that is packed', () => {
  test.each(['gzip', 'GZIP'])('is unpacked, and tells nothing of it: %s', async (encoding) => {
    expect(await unpackResponse(packed(gzipSync(DOCUMENT), encoding), 1000)).toEqual({
      ...{ status: 200, reason: 'OK', body: DOCUMENT },
      headers: { 'content-type': ['application/json'] },
    })
  })

  test('stays as it is where it has another encoding, or nothing in it', async () => {
    for (const response of [packed(DOCUMENT, 'br'), packed(Buffer.alloc(0))])
      expect(await unpackResponse(response, 1000)).toBe(response)
  })

  test('is none where it is damaged', async () => {
    expect(await unpackResponse(packed(gzipSync(DOCUMENT).subarray(0, 20)), 1000)).toBeUndefined()
    expect(await unpackResponse(packed(DOCUMENT), 1000)).toBeUndefined()
  })

  test('ends the decision where it is larger than answers may be', async () => {
    const bomb = packed(gzipSync(Buffer.alloc(1_000_000)))
    await expect(unpackResponse(bomb, 999_999)).rejects.toMatchObject({ code: 'evaluation_request_refused' })
    expect((await unpackResponse(bomb, 1_000_000))?.body.length).toBe(1_000_000)
  })
})

test.each([
  ['a plain request', 'GET', [], true],
  ['one that says what it takes', 'GET', [['Accept-Encoding', 'identity']], false],
  ['one for a part', 'GET', [['range', 'bytes=0-9']], false],
  ['one without a body in its answer', 'HEAD', [], false],
] as const)('gzip is asked for by %s or not: as Go does', (_, method, headers, asks) => {
  expect(requestsGzip({ method, headers })).toBe(asks)
})
