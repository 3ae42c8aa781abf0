import { expect, test } from 'vitest'
import { fuzzHttp } from '../support/fuzz/fuzz-http.js'
import { ask } from '../support/http-client.js'
import { useTidegate } from '../support/use-tidegate.js'

const tidegate = useTidegate()

test('malformed requests over all routes get an answer that is documented, and the service lives', async () => {
  const { sent, complaints, statuses } = await fuzzHttp(tidegate().url, {
    requests: 2000,
    seed: 1,
    atOnce: 20,
  })
  expect(complaints).toEqual([])
  expect(sent).toBe(2000)
  expect(statuses.get(400)).toBeGreaterThan(100)
  expect(tidegate().isRunning()).toBe(true)
  expect((await ask(tidegate().url, { path: '/health' })).status).toBe(200)
}, 120_000)
