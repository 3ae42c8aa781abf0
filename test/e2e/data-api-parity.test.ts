import { readFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ask } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { olderOpa } from '../support/compilers.js'
import { startOpa } from '../support/opa-server.js'
import type { OpaServer } from '../support/opa-server.js'
import { startTidegate } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { TidegateProcess } from '../support/tidegate-process.js'

const POLICIES = new URL('../cases/http/parity/policies', import.meta.url).pathname

const ParityCase = z.strictObject({
  name: z.string(),
  path: z.string(),
  method: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.string().optional(),
  encoding: z.literal('latin1').optional(),
  gzip: z.union([z.literal(true), z.literal('cut')]).optional(),
  /** Where Tidegate means to answer otherwise: the reason, its status, and its text where that is the same every time. */
  differs: z.strictObject({ why: z.string(), status: z.number(), text: z.string().optional() }).optional(),
})
type ParityCase = z.output<typeof ParityCase>

const { reasons, cases } = z
  .strictObject({ reasons: z.record(z.string(), z.string().min(1)), cases: z.array(ParityCase) })
  .parse(JSON.parse(readFileSync(new URL('../cases/http/data-api-parity.json', import.meta.url), 'utf8')))

const workspace = makeWorkspace()
let opa: OpaServer
let tidegate: TidegateProcess

beforeAll(async () => {
  const settings = {
    workspace,
    directories: [POLICIES],
    config: { decisions: { enabled: false }, policies: { opa: olderOpa() } },
  }
  ;[opa, tidegate] = await Promise.all([startOpa(POLICIES), startTidegate(settings)])
})

afterAll(async () => {
  await Promise.all([opa.stop(), tidegate.end('SIGTERM')])
  workspace.remove()
})

describe('over the same policies, the Data API answers as opa run --server does', () => {
  test.each(cases.filter(({ differs }) => differs === undefined))('$name', async (parityCase) => {
    const [ours, theirs] = await askBoth(parityCase)
    expect(ours).toEqual(theirs)
  })
})

describe('where the Data API means to answer otherwise than opa run --server, it does', () => {
  test.each(cases.filter(({ differs }) => differs !== undefined))('$name', async (parityCase) => {
    const [ours, theirs] = await askBoth(parityCase)
    expect(ours).not.toEqual(theirs)
    const { why = '', status, text = ours.text } = parityCase.differs ?? {}
    expect(Object.keys(reasons)).toContain(why)
    expect({ status: ours.status, text: ours.text }).toEqual({ status, text })
  })
})

interface Comparable {
  readonly status: number
  readonly type: string
  readonly encoding: string
  readonly vary: string
  readonly text: string
}

async function askBoth(parityCase: ParityCase): Promise<[ours: Comparable, theirs: Comparable]> {
  const { method, path, headers = {} } = parityCase
  const request = { method, path, headers, body: bodyOf(parityCase) }
  const [ours, theirs] = await Promise.all([ask(tidegate.url, request), ask(opa.url, request)])
  return [comparable(ours), comparable(theirs)]
}

function bodyOf({ body, encoding, gzip }: ParityCase): Buffer | undefined {
  if (body === undefined) return undefined
  const plain = Buffer.from(body, encoding ?? 'utf8')
  if (gzip === undefined) return plain
  const packed = gzipSync(plain)
  return gzip === 'cut' ? packed.subarray(0, packed.length - 12) : packed
}

/** Tidegate names the charset too, no two measurements of time are the same, and the folder depends on the machine. */
function comparable({ status, headers, body }: Answered): Comparable {
  const encoding = headers['content-encoding'] ?? ''
  const text = (encoding === 'gzip' ? gunzipSync(body) : body).toString()
  return {
    status,
    type: (headers['content-type'] ?? '').replace('; charset=utf-8', ''),
    encoding,
    vary: headers.vary ?? '',
    text: text.replace(/_ns":\d+/g, '_ns":0').replaceAll(`${POLICIES}/`, ''),
  }
}
