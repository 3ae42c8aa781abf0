import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'

import { newerOpa } from '../support/compilers.js'
import { ask } from '../support/http-client.js'
import { startOpa } from '../support/opa-server.js'
import type { OpaServer } from '../support/opa-server.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const Options = z.strictObject({ ifNoneMatch: z.string().optional(), differs: z.string().optional() })
const Step = z.union([
  z.tuple([z.string(), z.string()]),
  z.tuple([z.string(), z.string(), z.union([z.string(), Options])]),
  z.tuple([z.string(), z.string(), z.string(), Options]),
])
const { reasons, steps } = z
  .strictObject({ reasons: z.record(z.string(), z.string()), steps: z.array(Step) })
  .parse(JSON.parse(readFileSync(new URL('../cases/http/stored-policies.json', import.meta.url), 'utf8')))

const workspace = makeWorkspace({
  'policies/app.rego':
    'package app\n\nimport rego.v1\n\ndefault allow := false\n\nallow if data.x.y == 1\n\nreasons contains "no" if not allow\n',
  'policies/data.json': '{"x":{"y":1,"l":[1,2,3],"n":1.0}}',
})
/** OPA 0.70 words some errors otherwise. */
const program = newerOpa()
let opa: OpaServer
let tidegate: TidegateProcess

/** Steps depend on those before them, so they are numbered and run in order. */
const cases = steps.map((step, index) => {
  const [method, path, ...rest] = step
  const body = typeof rest[0] === 'string' ? rest[0] : undefined
  const last = rest.at(-1)
  const options = typeof last === 'object' ? last : {}
  return { name: `${index + 1}: ${method} ${path}`, method, path, body, ...options }
})

describe.skipIf(program === undefined)('a client of OPA', () => {
  beforeAll(async () => {
    const config = {
      server: { workers: 2 },
      decisions: { enabled: false },
      policies: { writable: true, opa: program },
    }
    ;[opa, tidegate] = await Promise.all([
      startOpa(join(workspace.path, 'policies'), program),
      startTidegate({ workspace, config }),
    ])
  })

  afterAll(async () => {
    await Promise.all([opa.stop(), tidegate.end('SIGTERM')])
    workspace.remove()
  })

  test.each(cases)('gets the same response to $name', async (step) => {
    const { method, path, body, ifNoneMatch, differs } = step
    const headers = ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }
    const send = async (url: string): Promise<{ status: number; text: string }> => {
      const { status, text } = await ask(url, { method, path, body, headers })
      return { status, text }
    }
    const [ours, theirs] = [await send(tidegate.url), await send(opa.url)]
    if (differs === undefined) {
      expect(ours).toEqual(theirs)
      return
    }
    expect(Object.keys(reasons)).toContain(differs)
    expect(ours.status).toBe(theirs.status)
    expect(ours.text).not.toBe(theirs.text)
  })
})
