import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, objectOf } from '../support/http-client.js'
import { mutate, seededRandom } from '../support/random-bytes.js'
import { startTidegate } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { TidegateProcess } from '../support/tidegate-process.js'

const MUTATIONS = 2000
const AT_ONCE = 20

const input = {
  new: {
    application: 'shöp',
    index: 12345678901234567890n.toString(),
    stages: [{ refId: '1', type: 'wait', waitTime: 30.5, on: true, next: null, text: 'a"b\\c\u2028😀' }],
  },
}
const targets = [
  { path: '/v1/staticPolicy/eval', body: { input }, expected: [200, 400, 401] },
  { path: '/v1/staticPolicy/eval', body: { input: JSON.stringify(input) }, expected: [200, 400, 401] },
  { path: '/v1/data/app', body: { input }, expected: [200, 400] },
  { path: '/v1/data/app/echo', body: { input }, expected: [200, 400] },
  {
    path: '/v1/data/app',
    body: {
      ...input,
      startTime: 1,
      application: 'shop',
      name: 'n',
      stage: 's',
      executionId: 'e',
      trigger: { user: 'ana' },
      payloadConstraint: [{ region: 'eu' }],
    },
    expected: [200, 400, 401],
  },
]

const workspace = makeWorkspace()
let tidegate: TidegateProcess

beforeAll(async () => {
  const rules =
    'import rego.v1\n\necho := input\n\ndeny contains stage.text if some stage in input["new"].stages\n'
  workspace.write({
    'policies/app.rego': `package app\n\n${rules}`,
    'policies/static/app.rego': `package static.app\n\n${rules}`,
  })
  tidegate = await startTidegate({ workspace })
})

afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

async function complaintAbout(seed: number): Promise<string | undefined> {
  const random = seededRandom(seed)
  const target = targets[seed % targets.length]
  if (target === undefined) return undefined
  const body = mutate(Buffer.from(JSON.stringify(target.body)), random)
  const headers = { 'content-type': 'application/json' }
  const answer = await ask(tidegate.url, { path: target.path, body, headers })
  try {
    objectOf(answer)
  } catch (error) {
    return `seed ${seed}: ${String(error)}`
  }
  if (target.expected.includes(answer.status)) return undefined
  return `seed ${seed}: ${answer.status} ${answer.text.slice(0, 200)} for ${body.toString()}`
}

describe('bodies damaged at random', () => {
  test('are answered with a JSON object and a status that is meant, and the service lives', async () => {
    const complaints: string[] = []
    for (let start = 0; start < MUTATIONS; start += AT_ONCE) {
      const seeds = Array.from({ length: AT_ONCE }, (_, n) => start + n)
      const found = await Promise.all(seeds.map(complaintAbout))
      complaints.push(...found.filter((complaint) => complaint !== undefined))
    }
    expect(complaints).toEqual([])
    expect(tidegate.isRunning()).toBe(true)
    expect((await ask(tidegate.url, { path: '/health' })).status).toBe(200)
  })
})
