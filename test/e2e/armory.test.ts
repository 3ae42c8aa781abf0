import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'

import { newerOpa, olderOpa } from '../support/compilers.js'
import { ask, objectOf } from '../support/http-client.js'
import { startOpa } from '../support/opa-server.js'
import type { OpaServer } from '../support/opa-server.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const FOLDER = new URL('../cases/armory', import.meta.url).pathname
const POLICIES = `${FOLDER}/policies`
const cases = z
  .array(
    z.strictObject({
      name: z.string(),
      path: z.string(),
      input: z.unknown(),
      result: z.unknown().optional(),
    }),
  )
  .parse(JSON.parse(readFileSync(`${FOLDER}/requests.json`, 'utf8')))

const workspace = makeWorkspace()
const program = newerOpa() ?? olderOpa()
let tidegate: TidegateProcess
let opa: OpaServer

beforeAll(async () => {
  const config = { policies: { opa: program }, decisions: { enabled: false } }
  // The policies are Rego v0, as in Armory's documentation.
  const version = newerOpa() === undefined ? [] : ['--v0-compatible']
  ;[tidegate, opa] = await Promise.all([
    startTidegate({ workspace, directories: [POLICIES], config }),
    startOpa([...version, POLICIES], program),
  ])
})

afterAll(async () => {
  await Promise.all([tidegate.end('SIGTERM'), opa.stop()])
  workspace.remove()
})

describe("a request of Armory's Policy Engine", () => {
  test.each(cases)('$name', async ({ path, input, result }) => {
    const request = { method: 'POST', path: `/v1/data/${path}`, body: JSON.stringify({ input }) }
    const [ours, theirs] = [await ask(tidegate.url, request), await ask(opa.url, request)]
    expect([ours.status, objectOf(ours)]).toEqual([200, result === undefined ? {} : { result }])
    expect(ours.text).toBe(theirs.text)
  })
})

describe("checks of Armory's policies", () => {
  test('report no mistake in policies that its documentation describes', async () => {
    const { exitCode, stderr } = await runTidegate(['check', '--fail-on-warning', POLICIES])
    expect([exitCode, stderr]).toEqual([0, ''])
  })

  test('evaluate a pipeline as its save, at the line of the stage', async () => {
    const folder = makeWorkspace({
      'brew.json':
        '{\n  "name": "brew",\n  "application": "teapot",\n  "stages": [\n    {"refId": "1", "type": "wait", "name": "Steep"}\n  ]\n}\n',
    })
    const args = ['check', '--policies', POLICIES, '--as', 'armory', '--format', 'json']
    const { exitCode, stdout } = await runTidegate([...args, `${folder.path}/brew.json`])
    folder.remove()
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      files: [{ as: 'armory', denials: [{ package: 'opa.pipelines', line: 5 }] }],
    })
  })

  test('say so if no package for saves is loaded', async () => {
    const folder = makeWorkspace({
      'p/a.rego': 'package a\n\nimport rego.v1\n\nx := 1\n',
      'd.json': '{"stages":[]}',
    })
    const args = ['check', '--policies', `${folder.path}/p`, '--as', 'armory', `${folder.path}/d.json`]
    const { exitCode, stderr } = await runTidegate(args)
    folder.remove()
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('opa.pipelines')])
  })
})
