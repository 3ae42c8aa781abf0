import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { runTidegate } from '../support/run-tidegate.js'
import type { ProgramRun } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const REASON = 'wait until Monday'

describe('tidegate decisions', () => {
  const workspace = makeWorkspace({
    'policies/runtime/freeze.rego': `package runtime.freeze\n\nimport rego.v1\n\ndeny contains "${REASON}" if input.application == "shop"\n`,
    'policies/static/closed.rego':
      'package static.closed\n\nimport rego.v1\n\ndeny contains "closed" if input.closed\n',
  })
  let service: TidegateProcess
  const run = (args: readonly string[], zone = 'UTC'): Promise<ProgramRun> =>
    runTidegate(['decisions', ...args, '--url', service.url], { env: { TZ: zone } })
  const ask = async (application: string): Promise<number> => {
    const stage = { name: 'Deploy', type: 'deploy' }
    const body = {
      ...{ application, name: 'prod', user: 'ann', stage, executionId: '01J0', startTime: 1, imageIds: [] },
      payloadConstraint: [],
      note: 'a-long-input-'.repeat(50),
    }
    const options = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }
    return (await fetch(`${service.url}/v1/data/runtime/freeze`, options)).status
  }
  const denials = async (): Promise<{ decisionId: string; time: string }[]> => {
    const { stdout } = await run(['list', '--outcome', 'deny', '--format', 'json'])
    expect(stdout).not.toContain('a-long-input')
    return (JSON.parse(stdout) as { decisions: { decisionId: string; time: string }[] }).decisions
  }

  beforeAll(async () => {
    service = await startTidegate({ workspace })
    expect(await ask('shop')).toBe(401)
    expect(await ask('cart')).toBe(200)
    await waitUntil(
      async () => ((await denials()).length === 1 ? true : undefined),
      () => 'the denial is not in the decision log',
    )
  })
  afterAll(async () => {
    await service.end('SIGTERM')
    workspace.remove()
  })

  it('list says who was refused and why, without the inputs', async () => {
    const { exitCode, stdout } = await run(['list', '--outcome', 'deny'])
    expect(exitCode).toBe(0)
    const [heads, ...rows] = stdout.trimEnd().split('\n')
    expect(heads).toMatch(/^decision +time +outcome +path +application +why$/)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatch(new RegExp(`deny +runtime/freeze +shop +${REASON}$`))
  })

  it('list tells times in the zone of whoever reads, in a form that it takes itself', async () => {
    const { stdout } = await run(['list', '--outcome', 'deny'], 'Asia/Kolkata')
    const time = /\d{4}-\S+\+05:30/.exec(stdout)?.[0] ?? ''
    const [denial] = await denials()
    expect(Math.abs(Date.parse(time) - Date.parse(denial?.time ?? ''))).toBeLessThan(1000)
    const since = await run(['list', '--outcome', 'deny', '--since', time])
    expect(since.stdout).toContain(REASON)
  })

  it('show gives the whole decision, and says so of an id that there is not', async () => {
    const [denial] = await denials()
    const { stdout } = await run(['show', denial?.decisionId ?? ''])
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'deny', input: { application: 'shop' } })
    expect(await run(['show', '01a1fc8e-f0c0-751d-96e3-cdae4828646a'])).toMatchObject({ exitCode: 2 })
  })

  it('list names the flag for a package whose denial was requested at another path', async () => {
    const options = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const body = JSON.stringify({ input: { closed: true } })
    const answer = await fetch(`${service.url}/v1/staticPolicy/eval`, { ...options, body })
    expect(answer.status).toBe(401)
    const byPath = await run(['list', '--path', 'static/closed'])
    expect([byPath.stdout, byPath.stderr]).toEqual([
      'no decisions\n',
      "No decision was requested at this path, but package static.closed has denied. List these decisions with --package 'static.closed'.\n",
    ])
    const byPackage = await run(['list', '--package', 'static.closed'])
    expect(byPackage.stdout).toMatch(/deny +staticPolicy\/eval .*closed\n$/)
    const misspelled = await run(['list', '--package', 'static.closd'])
    expect(misspelled.stderr).toContain('did you mean static.closed?')
  })
})
