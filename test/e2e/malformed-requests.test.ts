import { afterAll, beforeAll, expect, test } from 'vitest'
import { fuzzHttp } from '../support/fuzz/fuzz-http.js'
import { ask } from '../support/http-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace()
let tidegate: TidegateProcess

beforeAll(async () => {
  workspace.write({ 'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n' })
  tidegate = await startTidegate({ workspace })
})

afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

test('malformed requests over all routes get an answer that is documented, and the service lives', async () => {
  const { sent, complaints, statuses } = await fuzzHttp(tidegate.url, { requests: 2000, seed: 1, atOnce: 20 })
  expect(complaints).toEqual([])
  expect(sent).toBe(2000)
  expect(statuses.get(400)).toBeGreaterThan(100)
  expect(tidegate.isRunning()).toBe(true)
  expect((await ask(tidegate.url, { path: '/health' })).status).toBe(200)
}, 120_000)
