import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { respondJson, startLoopbackServer } from '../support/loopback-server.js'
import { runTidegate } from '../support/run-tidegate.js'
import type { ProgramRun } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

describe('tidegate doctor', () => {
  const workspace = makeWorkspace({
    'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := input.x / input.y == 1\n',
  })
  const at = (name: string): string => join(workspace.path, name)
  const doctor = (...args: readonly string[]): Promise<ProgramRun> =>
    runTidegate(['doctor', '--url', service.url, ...args], { cwd: workspace.path })
  let service: TidegateProcess
  beforeAll(async () => {
    service = await startTidegate({ workspace, args: ['--watch'] })
  })
  afterAll(workspace.remove)

  it('finds a service and its directory right, and says that both belong together', async () => {
    const { exitCode, stdout } = await doctor('--data-dir', 'data')
    expect(stdout).not.toMatch(/WRONG|warning/)
    expect(stdout).toContain('lock: a service runs on this directory')
    expect(stdout).toMatch(/trail: intact to its end \d+:[0-9a-f]{64}/)
    expect(stdout).toMatch(/policies: revision \S+ serves/)
    expect(exitCode).toBe(0)
  })

  it('says that policies were not loaded, and what to do', async () => {
    writeFileSync(at('policies/app.rego'), 'package app\n\nallow if {\n')
    const tells = async (): Promise<boolean> => {
      const health = await (await fetch(`${service.url}/health?bundles`)).text()
      return health.includes('failure')
    }
    await expect.poll(tells).toBe(true)
    const { exitCode, stdout } = await doctor('--data-dir', 'data', '--format', 'json')
    expect(exitCode).toBe(1)
    const { findings } = JSON.parse(stdout) as {
      findings: { subject: string; state: string; advice?: string }[]
    }
    expect(findings.find(({ subject }) => subject === 'policies')).toMatchObject({ state: 'bad' })
    expect(findings.find(({ subject }) => subject === 'tidegate_policy_loads_total')).toMatchObject({
      state: 'warning',
    })
  })

  it('says which parts of a service are down, though its answer is an error then', async () => {
    const down = await startLoopbackServer(({ url }, response) => {
      const plugins = {
        store: { state: 'NOT_READY', message: 'the disk is full' },
        decision_logs: { state: 'WARN', message: 'begun again' },
        registry: { state: 'OK' },
      }
      if (url === '/health?plugins=true') respondJson(response, 500, { error: 'not up', plugins })
      else respondJson(response, 200, {})
    })
    const { exitCode, stdout } = await runTidegate(['doctor', '--url', down.origin, '--data-dir', 'data'], {
      cwd: workspace.path,
    })
    await down.close()
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/ok\s+parts: 2 up/)
    expect(stdout).toMatch(/WRONG\s+part store: NOT_READY the disk is full/)
    expect(stdout).toMatch(/warning\s+part decision_logs: WARN begun again/)
  })

  it('says that a newer release wrote a file, which the service would refuse', async () => {
    await service.end('SIGTERM')
    const database = new Database(at('data/decisions.db'))
    database.exec("insert into kysely_migration values ('9999-to-come', '2030-01-01')")
    database.close()
    const { exitCode, stdout } = await runTidegate(['doctor', '--data-dir', 'data'], { cwd: workspace.path })
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/WRONG\s+decisions\.db: .*newer release \(it has "9999-to-come"\)/)
    expect(stdout).toMatch(/ok\s+tidegate\.db: intact/)
  })

  it('says that nobody answers, that a file is damaged, and that the configuration is wrong, all at once', async () => {
    const pages = readFileSync(at('data/tidegate.db'))
    pages.fill(0xff, 4096 * 3, 4096 * 6)
    writeFileSync(at('data/tidegate.db'), pages)
    const { exitCode, stdout } = await runTidegate(['doctor', '--url', service.url, '--data-dir', 'data'], {
      cwd: workspace.path,
      env: { TIDEGATE_LOG_LEVEL: 'loud' },
    })
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/WRONG\s+configuration: /)
    expect(stdout).toMatch(/WRONG\s+tidegate\.db: .*damaged/)
    expect(stdout).toMatch(/WRONG\s+service: No service responds/)
    expect(stdout).toContain('no service runs on this directory')
  })
})
