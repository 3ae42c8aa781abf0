import { expect, onTestFinished, test } from 'vitest'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const waits = (limit: number): string => `package static.waits
import rego.v1
deny contains sprintf("waits %d", [input["new"].wait]) if input["new"].wait > ${limit}
`

async function start(shadow: string) {
  const workspace = makeWorkspace()
  workspace.write({ 'policies/static/waits.rego': waits(10), 'next/static/waits.rego': shadow })
  const tidegate = await startTidegate({
    workspace,
    config: { policies: { shadow: { directories: [`${workspace.path}/next`] } } },
  })
  onTestFinished(async () => {
    await tidegate.end('SIGTERM')
    workspace.remove()
  })
  return tidegate.url
}

async function untilShadow(url: string, isWanted: (view: Readonly<Record<string, unknown>>) => boolean) {
  return await waitUntil(
    async () => {
      const view = objectOf(await ask(url, { path: '/policies/shadow' }))
      return isWanted(view) ? view : undefined
    },
    () => 'the shadow did not get there',
  )
}

test('a shadow changes no answer, and its flips are listed and counted', async () => {
  const url = await start(waits(20))
  await untilShadow(url, ({ state }) => state === 'running')
  const answer = await postJson(url, '/v1/staticPolicy/eval', { input: { new: { wait: 15 } } })
  expect(answer.status).toBe(401)
  const view = await untilShadow(url, ({ result }) => JSON.stringify(result).includes('"deny_to_allow":1'))
  expect(view).toMatchObject({ dropped: 0, result: { flips: [{ change: 'deny_to_allow' }] } })
  const { stdout } = await runTidegate(['impact', '--shadow', '--url', url])
  expect(stdout).toContain('1 of 1 answer would change: 1 deny → allow')
  const { text } = await ask(url, { path: '/metrics' })
  expect(text).toContain('tidegate_shadow_decisions_total{result="changed"} 1')
})

test('a shadow that does not compile is reported, and decisions continue', async () => {
  const url = await start('package static.waits\nimport rego.v1\ndeny contains nothing(1)\n')
  const view = await untilShadow(url, ({ state }) => state === 'failed')
  expect(view['error']).toContain('compiling')
  const answer = await postJson(url, '/v1/staticPolicy/eval', { input: { new: { wait: 5 } } })
  expect(answer.status).toBe(200)
})

test('a shadow that is slower than the decisions arrive leaves some out, and says so', async () => {
  const slow = `package static.waits
import rego.v1
deny contains "x" if { some a in numbers.range(1, 200); some b in numbers.range(1, 200); a * b == input["new"].wait + 0.5 }
`
  const url = await start(slow)
  await untilShadow(url, ({ state }) => state === 'running')
  const inputs = Object.fromEntries(Array.from({ length: 500 }, (_, id) => [id, { new: { wait: 5 } }]))
  const view = await waitUntil(
    async () => {
      await postJson(url, '/v1/batch/data/static/waits', { inputs })
      const current = objectOf(await ask(url, { path: '/policies/shadow' }))
      return Number(current['dropped']) > 0 ? current : undefined
    },
    () => 'the shadow was never busy',
  )
  expect(view).toMatchObject({ state: 'running', result: { isPartial: true } })
  expect(JSON.stringify(view)).toContain('The shadow is slower than the decisions arrive')
  const answer = await postJson(url, '/v1/staticPolicy/eval', { input: { new: { wait: 5 } } })
  expect(answer.status).toBe(200)
})

test('without a shadow the route says how to set one', async () => {
  const workspace = makeWorkspace()
  workspace.write({ 'policies/static/waits.rego': waits(10) })
  const tidegate = await startTidegate({ workspace })
  onTestFinished(async () => {
    await tidegate.end('SIGTERM')
    workspace.remove()
  })
  const answer = await ask(tidegate.url, { path: '/policies/shadow' })
  expect(answer.status).toBe(404)
  expect(answer.text).toContain('policies.shadow')
})
