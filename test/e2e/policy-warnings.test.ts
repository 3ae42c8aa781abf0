import { afterAll, expect, test } from 'vitest'

import { ask, objectOf } from '../support/http-client.js'
import { failToServe, startTidegate } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)

const policy = (setting: string): string =>
  `package static.hours\n\nimport rego.v1\n\ndeny contains "closed" if input.hour > data.hours.${setting}\n`
const DATA = { 'policies/data.json': '{"hours": {"closes": 22}}' }
const file = `${workspace.path}/policies/hours.rego`

test('findings are in the log and in /health?bundles until they are mended', async () => {
  workspace.write({ ...DATA, 'policies/hours.rego': policy('close') })
  const tidegate = await startTidegate({ workspace, args: ['--watch'] })
  const warned = tidegate.log().filter(({ level }) => level === 'warn')
  expect(warned).toMatchObject([{ code: 'undefined_data', file, row: 5, col: 40 }])
  expect(warned[0]?.msg).toContain('did you mean data.hours.closes?')
  const health = await ask(tidegate.url, { path: '/health?bundles' })
  expect(health.status).toBe(200)
  expect(objectOf(health)['bundles']).toMatchObject({
    warnings: [{ code: 'undefined_data', location: { file: 'hours.rego', row: 5, col: 40 } }],
  })

  workspace.write({ 'policies/hours.rego': policy('closes') })
  await waitUntil(
    async () => {
      const { bundles } = objectOf(await ask(tidegate.url, { path: '/health?bundles' }))
      return 'warnings' in (bundles as object) ? undefined : true
    },
    () => `the finding stays: ${tidegate.logText()}`,
  )
  expect(await tidegate.end('SIGTERM')).toBe(0)
})

test('where they are to be refused, a start fails and a reload leaves the last good policies serving', async () => {
  const config = { policies: { undefinedData: 'refuse' } }
  workspace.write({ ...DATA, 'policies/hours.rego': policy('close') })
  const { code, output } = await failToServe({ workspace, config })
  expect(code).not.toBe(0)
  expect(output).toContain('hours.rego:5:40: undefined_data: data.hours.close')

  workspace.write({ 'policies/hours.rego': policy('closes') })
  const tidegate = await startTidegate({ workspace, config, args: ['--watch'] })
  const before = objectOf(await ask(tidegate.url, { path: '/health?bundles' }))['bundles'] as {
    revision: string
  }
  workspace.write({ 'policies/hours.rego': policy('close') })
  const after = await waitUntil(
    async () => {
      const { bundles } = objectOf(await ask(tidegate.url, { path: '/health?bundles' }))
      return 'failure' in (bundles as object) ? (bundles as { revision: string; failure: object }) : undefined
    },
    () => `the reload did not fail: ${tidegate.logText()}`,
  )
  expect(after.revision).toBe(before.revision)
  expect(after.failure).toMatchObject({ errors: [{ code: 'undefined_data', location: { row: 5 } }] })
  expect(await tidegate.end('SIGTERM')).toBe(0)
})
