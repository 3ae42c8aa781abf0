import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, objectOf, postJson } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const KIB = 1024
const workspace = makeWorkspace()
let tidegate: TidegateProcess

beforeAll(async () => {
  workspace.write({ 'policies/app.rego': 'package app\n\nimport rego.v1\n\necho := input\n' })
  tidegate = await startTidegate({ workspace })
})

afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

const sendYaml = (body: string, path = '/v1/data/app/echo'): Promise<Answered> =>
  ask(tidegate.url, { path, body, headers: { 'content-type': 'application/yaml' } })

function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join('\n')
}

describe('a body in YAML', () => {
  test('is read as OPA reads it', async () => {
    const body = 'input:\n  name: shop\n  steps: &s [1, two, 3.5]\n  again: *s\n'
    expect(objectOf(await sendYaml(body))['result']).toEqual({
      name: 'shop',
      steps: [1, 'two', 3.5],
      again: [1, 'two', 3.5],
    })
    expect(objectOf(await sendYaml('name: shop\n', '/v0/data/app/echo'))).toEqual({ name: 'shop' })
  })

  test.each([
    ['open brackets', '['.repeat(5 * KIB), 400],
    ['many open brackets', '['.repeat(100 * KIB), 400],
    ['open braces', '{a: '.repeat(5 * KIB), 400],
    ['lists within lists', '- '.repeat(20 * KIB), 400],
    ['keys that are keys', '? '.repeat(10 * KIB), 400],
    ['indentation', lines(700, (level) => `${' '.repeat(level)}a:`), 400],
    ['billions of aliases', lines(60, (n) => `- &a${n} [*a${Math.max(0, n - 1)}, 1]`), 400],
    ['a large text many times', `- &a "${'x'.repeat(100 * KIB)}"\n${'- *a\n'.repeat(10_000)}`, 413],
    ['a large body', lines(80_000, (n) => `k${n}: 1`), 413],
  ])('of %s is refused with a sentence', async (_, body, status) => {
    const answer = await sendYaml(body)
    expect([answer.status, answer.text.length > 30]).toEqual([status, true])
    expect(tidegate.isRunning()).toBe(true)
  })

  test('that takes long keeps no other decision waiting', async () => {
    const slow = sendYaml(lines(15_000, (n) => `key${n}: 1`))
    const order: string[] = []
    const settled = slow.then(({ status }) => order.push(status === 200 || status === 413 ? 'slow' : 'wrong'))
    for (let n = 0; n < 10; n += 1) {
      expect((await postJson(tidegate.url, '/v1/data/app/echo', { input: 1 })).status).toBe(200)
      order.push('cheap')
    }
    await settled
    // It takes far longer than several cheap decisions.
    expect(order).toEqual([...Array<string>(10).fill('cheap'), 'slow'])
  })

  test('waits its turn, or gets a response to retry', async () => {
    const body = lines(2000, (n) => `key${n}: 1`)
    const answers = await Promise.all(Array.from({ length: 40 }, () => sendYaml(body)))
    const statuses = new Set(answers.map(({ status }) => status))
    expect([...statuses].every((status) => [200, 503].includes(status))).toBe(true)
    expect(statuses.has(200)).toBe(true)
  })
})
