import { createHash } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { ask, postJson } from '../support/http-client.js'
import { runTidegate } from '../support/run-tidegate.js'
import type { ProgramRun } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const POLICY = `# METADATA
# custom:
#   level: warn
package static.owner
import rego.v1
deny contains "no owner" if not input.new.owner
`
const CLOSED = `package static.closed
import rego.v1
deny contains "closed" if input.new.closed
`
const REQUESTS = 32
const token = (name: string, roles: readonly string[]) => ({
  ...{ name, roles },
  sha256: createHash('sha256').update(name).digest('hex'),
})

describe('exceptions at a service with two processes', () => {
  const workspace = makeWorkspace({ 'policies/owner.rego': POLICY, 'policies/closed.rego': CLOSED })
  let service: TidegateProcess
  const run = (args: readonly string[], user = 'ana'): Promise<ProgramRun> =>
    runTidegate(['exceptions', ...args, '--url', service.url], { env: { TIDEGATE_TOKEN: user, TZ: 'UTC' } })
  /** Saves over many connections, which both processes accept. */
  const save = async (): Promise<readonly { status: number; text: string }[]> => {
    const pipeline = { application: 'shop', name: 'prod', closed: true }
    const headers = { authorization: 'Bearer orca', connection: 'close' }
    const sent = Array.from({ length: REQUESTS }, () =>
      postJson(service.url, '/v1/staticPolicy/eval', { input: { new: pipeline } }, headers),
    )
    return await Promise.all(sent)
  }
  const statuses = async (): Promise<readonly number[]> => [
    ...new Set((await save()).map(({ status }) => status)),
  ]

  beforeAll(async () => {
    service = await startTidegate({
      workspace,
      config: {
        server: { workers: 2 },
        policies: { exceptions: { approval: true } },
        auth: {
          tokens: [
            token('ana', ['author', 'auditor']),
            token('bo', ['approver', 'auditor']),
            token('orca', ['orchestrator']),
          ],
        },
      },
    })
    await waitUntil(
      () => service.log().find(({ msg }) => msg === 'worker process serves'),
      () => `no worker process serves: ${service.logText()}`,
    )
  })
  afterAll(async () => {
    await service.end('SIGKILL')
    workspace.remove()
  })

  it('take effect everywhere when they are approved, and end when they are removed', async () => {
    expect(await statuses()).toEqual([401])
    const added = await run([
      ...['add', '--package', 'static.closed', '--application', 'shop'],
      ...['--reason', 'moves to gates', '--until', '14d'],
    ])
    expect(added.stdout).toMatch(/^exception 1 for static\.closed in shop until \S+: pending\n$/)
    expect(await statuses()).toEqual([401])
    expect((await run(['approve', '1'])).exitCode).not.toBe(0)
    expect((await run(['approve', '1'], 'bo')).stdout).toContain(': active')
    const [first, ...others] = await save()
    expect(first?.status).toBe(200)
    expect(others.every(({ status }) => status === 200)).toBe(true)
    expect(JSON.parse(first?.text ?? '')).toMatchObject({
      warnings: [
        { package: 'static.closed', kind: 'exception', exception: { id: 1, owner: 'ana' } },
        { package: 'static.owner', kind: 'level', level: 'warn' },
      ],
    })
    expect((await run(['list', '--expiring', '3w'])).stdout).toMatch(
      /static\.closed +shop .*active .*ana +bo +moves to gates/,
    )
    expect((await run(['list', '--expiring', '7d'])).stdout).toBe('no exceptions\n')
    expect((await run(['remove', '1'])).stdout).toContain(': removed')
    expect(await statuses()).toEqual([401])
  })

  it('are in the decision log, the trail and the metrics', async () => {
    const listed = await runTidegate(
      ['decisions', 'list', '--outcome', 'allow', '--package', 'static.closed', '--url', service.url],
      {
        env: { TIDEGATE_TOKEN: 'bo' },
      },
    )
    expect(listed.stdout).toContain('warning: closed; warning: no owner')
    const headers = { authorization: 'Bearer bo' }
    for (const kind of ['exception.added', 'exception.approved', 'exception.removed']) {
      const trail = await ask(service.url, { path: `/audit?kind=${kind}`, headers })
      expect(trail.text).toContain('"source":"policy"')
    }
    const metrics = await ask(service.url, { path: '/metrics', headers })
    expect(metrics.text).toContain(
      'tidegate_policy_warnings_total{package="static.closed",kind="exception"} 32',
    )
  })

  it('are counted in the list of packages, with the levels, and printed without marks of direction', async () => {
    const policies = ['policies', 'packages', '--url', service.url]
    const application = 'a\u202eb'
    const added = await run([
      ...['add', '--package', 'static.closed', '--application', application],
      ...['--reason', 'x', '--until', '1d'],
    ])
    expect(added.stdout).toContain(' in a\ufffdb until ')
    const { stdout } = await runTidegate(policies, { env: { TIDEGATE_TOKEN: 'bo' } })
    expect(stdout).toMatch(/^static\.closed +enforce +1 *$/m)
    expect(stdout).toMatch(/^static\.owner +warn +warn by annotation$/m)
  })

  it('are refused with every problem', async () => {
    const { exitCode, stderr } = await run([
      ...['add', '--package', 'static.close', '--pipeline', 'prod'],
      ...['--reason', 'x', '--until', '2020-01-01'],
    ])
    expect(exitCode).not.toBe(0)
    expect(stderr).toContain('did you mean static.closed?')
    expect(stderr).toContain('needs application')
    expect(stderr).toContain('must be in the future')
  })
})
