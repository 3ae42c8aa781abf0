import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { findDecision } from '../../src/decisions/query-decisions.js'
import { closeJson } from '../../src/lib/redaction/close-json.js'
import { aBatch, anEntry, openStore } from '../support/decisions.js'
import { PLANTED, SECRET } from '../support/planted-secrets.js'

const LOG = { flush: () => Promise.resolve() }

/** The logged form of a decision. */
async function kept(
  entry: Parameters<typeof anEntry>[0],
  settings: Parameters<typeof openStore>[0] = {},
): Promise<Record<string, unknown>> {
  const { writer, reader } = await openStore(settings)
  writer.insert(aBatch([anEntry({ decisionId: 'd1', ...entry })]))
  return JSON.parse(JSON.stringify(await findDecision({ store: reader, log: LOG }, 'd1'))) as Record<
    string,
    unknown
  >
}

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

describe('a decision that is kept', () => {
  it.each(PLANTED)('has no secret: %s', async (_, value) => {
    const executionId = 'execution-1'
    const shown = await kept({ input: bytes({ executionId, value }), result: bytes([value]) })
    expect(JSON.stringify(shown)).not.toContain(SECRET)
    expect(shown).toMatchObject({ executionId, inputTruncated: false, input: { executionId } })
  })

  it('has none in its result and error where these quote the input', async () => {
    const shown = await kept({
      input: bytes({ password: SECRET, stages: [{ name: 'token', value: `v-${SECRET}` }] }),
      result: bytes({ deny: [`${SECRET} is too short`], allow: false }),
      error: `cannot log in with v-${SECRET} at https://a:b@host`,
    })
    expect(shown).toMatchObject({
      result: { deny: ['[redacted] is too short'], allow: false },
      error: 'cannot log in with [redacted] at https://[redacted]@host',
    })
  })

  it('has none of its input in the calls of its built-ins, masked or redacted, and no calls where that leaves no JSON', async () => {
    const input = bytes({ password: SECRET, pin: 98765, plain: 'p' })
    const calls = (value: unknown) => ({
      input,
      ndBuiltinCache: bytes({ 'http.send': { [`["${SECRET}"]`]: value } }),
    })
    expect(await kept(calls(`with ${SECRET}`))).toMatchObject({
      ndBuiltinCache: { 'http.send': { '["[redacted]"]': 'with [redacted]' } },
    })
    const masks = { masks: ['/password', '/pin'] }
    expect(await kept(calls(1), masks)).toMatchObject({
      ndBuiltinCache: { 'http.send': { '["[masked]"]': 1 } },
    })
    expect(await kept(calls(98765), masks)).not.toHaveProperty('ndBuiltinCache')
  })

  it('has none in its path', async () => {
    const shown = await kept({ path: `runtime/r/p%61ssword=${SECRET}` })
    expect(shown).toMatchObject({ path: 'runtime/r/p%61ssword=[redacted]' })
    expect(await kept({ path: 'runtime/secrets' })).toMatchObject({ path: 'runtime/secrets' })
  })

  it('has none whichever byte it is cut at', async () => {
    for (const [, value] of PLANTED) {
      const input = bytes({ a: 1, value, z: 'x'.repeat(20) })
      for (let length = 1; length < input.length; length += 1) {
        const shown = await kept1(input, length)
        expect(shown).not.toContain(SECRET.slice(0, 8))
      }
    }
  })

  it('is what it was where nothing is secret or redaction is off', async () => {
    const input = Buffer.from('{ "a":1.50, "b" : [ "x" ]}')
    expect(await kept({ input })).toMatchObject({ input: { a: 1.5, b: ['x'] } })
    const off = await kept({ input: bytes({ password: SECRET }) }, { redact: false })
    expect(off).toMatchObject({ input: { password: SECRET } })
  })

  it('has no input that cannot be looked through', async () => {
    const deep = `${'['.repeat(600)}{"password":"${SECRET}"}${']'.repeat(600)}`
    const shown = await kept({ input: Buffer.from(deep) })
    expect(JSON.stringify(shown)).not.toContain(SECRET)
    expect(shown).toMatchObject({ inputTruncated: true })
  })
})

/** The beginning of an input as the log keeps it, without a store. */
async function kept1(input: Buffer, length: number): Promise<string> {
  const { makeRedactDecision } = await import('../../src/decisions/keep-decisions.js')
  const row = {
    path: 'deploy/allow',
    result: null,
    error: null,
    ndBuiltinCache: null,
    packages: null,
  } as unknown as Parameters<ReturnType<typeof makeRedactDecision>>[0]['row']
  const start = { bytes: input.subarray(0, length), truncated: true, maskFailed: false, hide: undefined }
  const { input: left } = makeRedactDecision(8192)({ row, input: start, isResultCut: false })
  return Buffer.from(left.bytes ?? []).toString()
}

describe('the beginning of a JSON text', () => {
  it('is made JSON again, whichever byte it ends at', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), fc.boolean(), (value, at, isIndented) => {
        const json = Buffer.from(JSON.stringify(value, null, isIndented ? 2 : 0))
        const { json: closed, cutAt } = closeJson(json.subarray(0, at % (json.length + 1)))
        expect(() => JSON.parse(closed.toString()) as unknown).not.toThrow()
        expect(closed.subarray(0, cutAt).equals(json.subarray(0, cutAt))).toBe(true)
      }),
    )
  })

  it.each(['"a\\', '"a\\u00', '"a\\\\', '{"k', '{"k"', '{"k":', '{"k":1,', '[1.', '[-', '[1e', '[tr', '"é'])(
    '%s',
    (text) => {
      expect(() => JSON.parse(closeJson(Buffer.from(text)).json.toString()) as unknown).not.toThrow()
    },
  )
})
