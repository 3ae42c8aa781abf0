import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { objectOf, postJson } from '../support/http-client.js'
import { strictWalk, tolerantWalk } from '../support/orchestrator-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { TidegateProcess } from '../support/tidegate-process.js'

const DenialCase = z.strictObject({
  name: z.string(),
  /** The rules of the package, and of one below it. */
  rego: z.string(),
  below: z.string().optional(),
  /** The path below the package. */
  path: z.string().default(''),
  /** None of these may allow. `{case}` is replaced by the name of the package. */
  reasons: z.array(z.string()).optional(),
  status: z.number().optional(),
  code: z.string().optional(),
})

const cases = z
  .array(DenialCase)
  .parse(JSON.parse(readFileSync(new URL('../cases/http/denial-rules.json', import.meta.url), 'utf8')))
  .map((denialCase, index) => ({ ...denialCase, packageName: `case_${index}` }))

const flatBody = {
  startTime: 1_718_000_000_123,
  application: 'shop',
  name: 'prod-rollout',
  stage: 'Policy',
  executionId: '01J0ABCDEF',
  gateId: null,
  trigger: { user: 'ana' },
  payloadConstraint: [{ region: 'eu' }],
}

const workspace = makeWorkspace()
let tidegate: TidegateProcess

beforeAll(async () => {
  for (const { packageName, rego, below } of cases) {
    workspace.write({ [`policies/${packageName}.rego`]: source(packageName, rego) })
    if (below !== undefined)
      workspace.write({ [`policies/${packageName}_below.rego`]: source(`${packageName}.below`, below) })
  }
  tidegate = await startTidegate({ workspace })
})

afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

describe('denials of a flat body', () => {
  test.each(cases)('$name', async ({ packageName, path, reasons, status, code }) => {
    const answer = await postJson(tidegate.url, `/v1/data/rules/${packageName}${path}`, flatBody)
    if (reasons === undefined) {
      expect(answer.status).toBe(status)
      expect(objectOf(answer)['code']).toBe(code)
      return
    }
    const expected = reasons.map((reason) => reason.replace('{case}', packageName))
    expect(answer.status).toBe(expected.length > 0 ? 401 : 200)
    expect(strictWalk(answer.text, 'deny')).toEqual(expected)
    expect(tolerantWalk(answer.text, 'deny')).toEqual(expected)
    expect(tolerantWalk(answer.text, 'allow')).toEqual([])
  })
})

describe('the same rules as static policies', () => {
  test('all of them are evaluated, reasons are joined without repetitions, and one failure fails all', async () => {
    const failing = cases.filter(({ code }) => code === 'internal_error')
    const sound = cases.filter((denialCase) => !failing.includes(denialCase))
    const files = (some: typeof cases): string[] =>
      some.map(({ packageName }) => `${workspace.path}/policies/${packageName}.rego`)
    const staticPolicies = { policies: { staticPackages: ['rules.**'] } }
    const whole = await startTidegate({
      workspace,
      directories: files(sound),
      config: staticPolicies,
      dataDir: 'static',
    })
    const answer = await postJson(whole.url, '/v1/staticPolicy/eval/', { input: { name: 'x', stage: 'y' } })
    await whole.end('SIGTERM')
    expect(answer.status).toBe(401)
    const reasons = strictWalk(answer.text, 'deny')
    expect(reasons).toEqual(expect.arrayContaining(['a', 'bad', 'first', 'from msg', 'just a text', 'named']))
    expect(new Set(reasons).size).toBe(reasons.length)

    const broken = await startTidegate({ workspace, config: staticPolicies, dataDir: 'static' })
    const failure = await postJson(broken.url, '/v1/staticPolicy/eval', { input: { name: 'x', stage: 'y' } })
    await broken.end('SIGTERM')
    expect(failure.status).toBe(500)
    expect(strictWalk(failure.text, 'deny')).toEqual([])
  })
})

function source(packageName: string, rules: string): string {
  return `package rules.${packageName}\n\nimport rego.v1\n\n${rules}\n`
}
