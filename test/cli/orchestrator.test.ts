import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { startLoopbackServer } from '../support/loopback-server.js'
import type { LoopbackServer } from '../support/loopback-server.js'
import { runTidegate } from '../support/run-tidegate.js'
import type { ProgramRun } from '../support/run-tidegate.js'
import { springError } from '../support/storage-service.js'

let component: LoopbackServer
let status: number

beforeEach(async () => {
  component = await startLoopbackServer((_, response) => springError(response, status, 'said the component'))
})

afterEach(() => component.close())

function refresh(args: readonly string[] = [], env: Record<string, string> = {}): Promise<ProgramRun> {
  return runTidegate(['orchestrator', 'refresh', ...args], {
    env: {
      TIDEGATE_ORCHESTRATOR_REFRESH_URL: `${component.origin}/config-refresh`,
      TIDEGATE_ORCHESTRATOR_ATTEMPTS: '1',
      ...env,
    },
  })
}

describe('tidegate orchestrator refresh', () => {
  it.each([
    [200, 'refreshed'],
    [204, 'refreshed'],
    [404, 'not supported'],
    [405, 'not supported'],
  ])('that is answered %i says "%s" and is fine', async (answered, said) => {
    status = answered
    const { exitCode, stdout, stderr } = await refresh()
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^${said}: `))
    expect(component.seen).toMatchObject([{ method: 'POST', url: '/config-refresh' }])
  })

  it('gives the outcome as JSON, and calls the URL and by the method that it is told', async () => {
    status = 200
    const json = ['--format', 'json', '--url', `${component.origin}/other`]
    const { exitCode, stdout } = await refresh(json, { TIDEGATE_ORCHESTRATOR_REFRESH_METHOD: 'GET' })
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ outcome: 'refreshed' })
    expect(component.seen).toMatchObject([{ method: 'GET', url: '/other' }])
  })

  it('that is refused is an error with what the component said', async () => {
    status = 500
    const { exitCode, stdout, stderr } = await refresh()
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toBe(
      'tidegate: refresh the configuration: the orchestrator answered status 500: said the component; Bad Request\n',
    )
  })

  it('that nobody answers is an error', async () => {
    const { exitCode, stderr } = await refresh(['--url', 'http://127.0.0.1:1/config-refresh'])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/^tidegate: http:\/\/127\.0\.0\.1:1 could not be reached: .+\n$/)
  })

  it('without a URL says which key to set', async () => {
    const { exitCode, stdout, stderr } = await runTidegate(['orchestrator', 'refresh'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain('Set orchestrator.refresh.url (TIDEGATE_ORCHESTRATOR_REFRESH_URL)')
    expect(component.seen).toEqual([])
  })
})
